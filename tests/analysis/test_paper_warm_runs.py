"""From which run on preloading wins, worked out by hand."""

import math
import unittest

from paper_case import PHONE, PUBLISHED, rows_of, text_of
from sections import warm_runs


class WarmRunsTest(unittest.TestCase):
    def test_the_first_run_that_wins(self):
        self.assertEqual(warm_runs.first_winning_run((100, 10), (60, 20)), 5)  # 100 + 4 x 10 = 60 + 4 x 20
        self.assertEqual(warm_runs.first_winning_run((101, 10), (60, 20)), 6)
        self.assertEqual(warm_runs.first_winning_run((50, 10), (60, 20)), 1)
        self.assertTrue(math.isinf(warm_runs.first_winning_run((100, 20), (60, 20))))

    def test_by_the_papers_table(self):
        self.assertEqual(warm_runs.published_winning_run(PUBLISHED["latency_ms"]["ResNet50"]), 4)  # 1503 + 3 x 33 <= 4 x 473
        self.assertEqual(warm_runs.published_winning_run(PUBLISHED["latency_ms"]["ViT"]), 14)

    def test_rows(self):
        found = {("ResNet50", PHONE, f"{policy} warm"): times
                 for policy, times in (("preload", (100, 10)), ("lc-opg", (60, 20)), ("optimal-0.15", (120, 5)))}
        self.assertEqual(rows_of(warm_runs.SECTION, found), [["ResNet50", "100 + 10", "60 + 20", "120 + 5", "5", "1", "4"]])
        self.assertIn("in the last column", text_of(warm_runs.SECTION, found))
        del found["ResNet50", PHONE, "lc-opg warm"]
        self.assertEqual(rows_of(warm_runs.SECTION, found), [])


if __name__ == "__main__":
    unittest.main()
