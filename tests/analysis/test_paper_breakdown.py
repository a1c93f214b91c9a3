"""Figures 7 and 8, of points small enough to work out by hand."""

import unittest

from paper_case import PHONE, PUBLISHED, STUDY, rows_of, text_of
from sections import breakdown


def point(ready, average, weights_peak):
    return {"integrated_ms": ready + 100, "startup_ms": 100, "exec_ms": ready, "average_bytes": average << 20, "weights_bytes": 100 << 20,
            "weights_peak_bytes": weights_peak << 20, "launches": {"kernels": 9, "copies": 2}, "solver": None}


STEPS = ("preload", "opg", "opg-fusion", "opg-fusion-kernels")
TRADE_OFF = ("optimal-0.10", "optimal-0.15", "optimal-0.30", "optimal-0.60", "optimal")


class BreakdownTest(unittest.TestCase):
    def setUp(self):
        steps = {(PHONE, policy): point(80 >> place, 64 >> place, 100) for place, policy in enumerate(STEPS)}
        trade_off = {(PHONE, policy): point(100 - 10 * place, 50, 10 + 10 * place) for place, policy in enumerate(TRADE_OFF)}
        self.found = {"ViT": {**steps, **trade_off}}

    def test_each_part_beside_the_step_before(self):
        rows = rows_of(breakdown.SECTION, self.found)
        self.assertEqual(rows[1][1:5], ["140", "2.00", "32", "2.00"])
        self.assertIn("5.3–8.1", text_of(breakdown.SECTION, self.found))

    def test_memory_against_latency_from_the_least(self):
        rows = rows_of(breakdown.SECTION, self.found)
        self.assertEqual(rows[4], ["optimal-0.10", "10", "0.10", "50", "200", "1.25"])
        self.assertEqual(rows[-1][0], "preload")

    def test_without_all_steps_there_is_no_breakdown(self):
        del self.found["ViT"][PHONE, "opg"]
        self.assertNotIn("What each part adds", text_of(breakdown.SECTION, self.found))

    def test_the_picture_is_of_the_trade_off(self):
        (_, figure, _), = breakdown.SECTION.pictures(self.found, STUDY, PUBLISHED)
        self.assertEqual(list(figure.data[0].x), [10, 20, 30, 40, 50, 100])
        self.assertEqual(list(figure.data[0].y), [100, 90, 80, 70, 60, 80])


if __name__ == "__main__":
    unittest.main()
