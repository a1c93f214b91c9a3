"""The page of the paper's evaluation, of points small enough to work out by hand."""

import math
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis/paper"))

from likeness import geometric_mean, likeness, likeness_text  # noqa: E402
from paper_html import html  # noqa: E402
from paper_page import page  # noqa: E402
from points import load_yaml  # noqa: E402
from section import Gathered  # noqa: E402
from sections import figure9, figure10, table4, table7, table8, table9  # noqa: E402
from sections.phone_points import papers_phone  # noqa: E402
from sections.table7 import latency_series  # noqa: E402
from sections.table8 import memory_series  # noqa: E402

STUDY = load_yaml(ROOT / "analysis/paper/paper.yaml")
PUBLISHED = load_yaml(ROOT / "analysis/paper/published.yaml")


def point(integrated, execution, average, energy=1000.0, solver=None):
    return {"integrated_ms": integrated, "exec_ms": execution, "average_bytes": average * 1e6, "peak_bytes": 2e6 * average,
            "energy_mj": energy, "solver": solver}


SOLVED = {"solver_seconds": 0.25, "gap": 0.125}
POINTS = {
    "resnet50": {("adreno-750", "preload"): point(400, 30, 100), ("adreno-750", "lc-opg"): point(200, 40, 50, 500.0, SOLVED),
                 ("adreno-750", "optimal-0.15"): point(100, 50, 25, 400.0, SOLVED),
                 ("adreno-750", "always-next"): point(300, 50, 25), ("adreno-750", "same-op-type"): point(250, 50, 25),
                 ("mali-g715", "preload"): point(900, 30, 90), ("mali-g715", "lc-opg"): point(300, 30, 30),
                 ("mali-g715", "optimal-0.15"): point(100, 30, 10)},
    "deepvit": {("adreno-750", "preload"): point(1600, 100, 400), ("adreno-750", "lc-opg"): point(200, 100, 50, 500.0),
                ("adreno-750", "optimal-0.15"): point(100, 100, 25)},
    "gpt-neo-2.7b": {("adreno-750", "lc-opg"): point(2700, 1200, 900)},
}


def made(points, missing=None):
    gathered = Gathered(points, missing)
    return [(module.SECTION, gathered) for module in (table4, table7, table8, table9, figure9, figure10)]


def rows_of(text, title):
    """Cells of the table under the heading that begins like this."""
    section = text[text.index("## " + title):].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


class PaperPageTest(unittest.TestCase):
    def setUp(self):
        self.page = page(STUDY, made(POINTS, {("vit-1024", "adreno-750", "lc-opg"): "not measured yet"}), PUBLISHED)

    def test_latency_stands_beside_the_papers(self):
        resnet, deepvit = rows_of(self.page, "Table 7")
        self.assertEqual(resnet, ["ResNet50", "1470 + 33", "370 + 30", "473", "200", "100", "3.18", "2.00", "4.00"])
        self.assertEqual(deepvit[-2:], ["8.00", "16.00"])
        self.assertIn("paper 8.6, here 4.00 and 8.00", self.page)

    def test_a_network_that_smartmem_lacks_still_counts_for_flashmem(self):
        line = next(line for line in self.page.splitlines() if line.startswith("- Integrated latency of `lc-opg`"))
        self.assertIn("3 networks", line)

    def test_memory_energy_and_solver(self):
        self.assertEqual(rows_of(self.page, "Table 8")[0],
                         ["ResNet50", "140", "100", "83", "50", "25", "1.69", "2.00", "4.00", "200 / 100 / 50"])
        deepvit = rows_of(self.page, "Table 9")[1]
        self.assertEqual(deepvit, ["DeepViT", "5.2", "5.7", "0.6 / 2.5 / 10.0", "41.0", "4.5", "1.00 / 0.50 / 1.00"])
        self.assertIn("- Energy of `lc-opg` beside FlashMem's: 1 network: MAPE 89%, 0.11 of the paper's", self.page)  # 0.5 J for 4.5 J
        self.assertEqual(rows_of(self.page, "Table 4")[0], ["ResNet50", "", "", "0.250", "12.5%", "0.250", "12.5%"])

    def test_naive_overlaps_and_phones(self):
        self.assertEqual(rows_of(self.page, "Figure 9"), [["ResNet50", "1.50", "1.25"]])
        self.assertIn("At most here: 1.50 and 1.25, of the paper's 0.35 and 0.52.", self.page)
        pixel = [row for row in rows_of(self.page, "Figure 10") if row[0].strip("*") == "Pixel 8"]
        self.assertEqual(pixel[0][1:4], ["ResNet50", "900 / 300 / 100", "90 / 30 / 10"])
        self.assertEqual(pixel[1][-2:], ["3.00 / 9.00", "3.00 / 9.00"])

    def test_what_is_missing_is_said(self):
        self.assertEqual(self.page.count("vit-1024, adreno-750: lc-opg: not measured yet"), 1, "by the first section that misses it")
        self.assertIn("- table4, vit-1024", self.page)

    def test_a_study_without_points_is_still_a_page(self):
        text = page(STUDY, made({}), PUBLISHED)
        self.assertIn("nothing to hold against the paper", text)
        self.assertNotIn("nan", text)


class PaperHtmlTest(unittest.TestCase):
    def test_pictures_hold_the_points_of_the_tables(self):
        phone = papers_phone(STUDY, POINTS)
        series = latency_series(phone, PUBLISHED)
        self.assertEqual(series["execution, weights preloaded"], [("ResNet50", 30, 33), ("DeepViT", 100, 190)])
        self.assertEqual(series["integrated, streamed"][-1], ("GPTN-2.7B", 2700, 7567))
        self.assertEqual(memory_series(phone, PUBLISHED)["streamed"][0], ("ResNet50", 50, 83))

    def test_the_page_asks_for_nothing_and_has_the_tables(self):
        text = html(STUDY, made(POINTS), PUBLISHED)
        self.assertIn("default-src 'none'", text)
        self.assertNotIn("http://", text.split("<script")[0])
        self.assertGreaterEqual(text.count("<table>"), 6)
        self.assertIn("<td>370 + 30</td>", text)
        self.assertNotIn("evidence.md\"", text)

    def test_without_points_there_are_no_pictures(self):
        text = html(STUDY, made({}), PUBLISHED)
        self.assertNotIn("data-for=", text.split("<script>")[0])


class LikenessTest(unittest.TestCase):
    def test_twice_as_slow_in_the_same_order(self):
        found = likeness([(2, 1), (20, 10), (200, 100)])
        self.assertEqual((found.pairs, found.mean_error), (3, 1.0))
        self.assertAlmostEqual(found.rank_correlation, 1)
        self.assertAlmostEqual(found.ratio, 2)

    def test_the_other_order(self):
        self.assertAlmostEqual(likeness([(1, 9), (2, 5), (3, 1)]).rank_correlation, -1)

    def test_one_pair_has_no_order(self):
        self.assertEqual(likeness_text([(3, 2)]), "1 network: MAPE 50%, 1.50 of the paper's (geometric mean)")

    def test_where_one_side_is_all_the_same_there_is_no_order(self):
        self.assertNotIn("rank", likeness_text([(3, 2), (4, 2)]))

    def test_geometric_mean(self):
        self.assertAlmostEqual(geometric_mean([2, 8]), 4)
        self.assertTrue(math.isnan(geometric_mean([])))


if __name__ == "__main__":
    unittest.main()
