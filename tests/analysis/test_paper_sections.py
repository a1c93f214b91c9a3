"""What all sections of the paper page have in common."""

import argparse
import unittest

from paper_case import PHONE, PUBLISHED, STUDY
from command_line import NotKept, Refused
from paper import SECTIONS, parts, wanted
from paper_page import page
from section import Gathered
from sections import phone_points


class GatheredTest(unittest.TestCase):
    def test_what_is_absent_keeps_its_reason(self):
        def refuse(_):
            raise Refused("fmplan: error: no such budget")

        def absent():
            raise NotKept("not measured yet")

        gathered = Gathered()
        gathered.add(("ViT", PHONE, "a"), lambda number: number + 1, 1)
        gathered.add(("ViT", PHONE, "b"), refuse, 1)
        gathered.add(("ViT", PHONE, "c"), absent)
        self.assertEqual(gathered.found, {("ViT", PHONE, "a"): 2})
        self.assertEqual(list(gathered.missing.values()), ["no such budget", "not measured yet"])

    def test_every_section_is_a_page_without_facts(self):
        for section in SECTIONS:
            with self.subTest(section.name):
                missing = {("ViT", PHONE, "all"): "not measured yet"}
                text = page(STUDY, [(section, Gathered({}, missing))], PUBLISHED)
                self.assertIn(f"- {section.name}, ViT, adreno-750: all: not measured yet", text)
                self.assertNotIn("nan", text)
                self.assertFalse(any(figure for _, figure, _ in section.pictures({}, STUDY, PUBLISHED)))

    def test_side_by_side_the_tables_are_made_network_by_network(self):
        options = argparse.Namespace(networks="resnet50,deepvit", sections=None)
        made = [(make, own.networks) for make, own in parts(STUDY, options)]
        self.assertEqual([networks for make, networks in made if make is phone_points.make], ["resnet50", "deepvit"])
        others = [make for make, networks in made if networks == "resnet50,deepvit"]
        self.assertEqual({*others, phone_points.make}, {section.make for section in SECTIONS})
        self.assertEqual(len(others), len(set(others)))

    def test_points_of_several_sections_are_made_when_one_is_asked_for(self):
        self.assertTrue(wanted(phone_points.make, argparse.Namespace(sections="queues,table8")))
        self.assertFalse(wanted(phone_points.make, argparse.Namespace(sections="queues")))
        self.assertTrue(wanted(phone_points.make, argparse.Namespace(sections=None)))


if __name__ == "__main__":
    unittest.main()
