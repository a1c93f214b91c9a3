"""Switching between plans, worked out by hand."""

import unittest

from paper_case import PHONE, rows_of, text_of
from sections import pareto


class ParetoTest(unittest.TestCase):
    small = pareto.FrontPlan(10, 100, 90, frozenset("a"))
    large = pareto.FrontPlan(30, 80, 20, frozenset("ab"))
    costs = {"context_ms": 1000, "program_ms": 1}

    def test_the_largest_plan_that_fits_runs(self):
        front = [self.small, self.large]
        self.assertIs(pareto.largest_fitting(front, 29), self.small)
        self.assertIsNone(pareto.largest_fitting(front, 9))
        phases = [pareto.Phase(5, 30), pareto.Phase(3, 10), pareto.Phase(2, 40)]
        self.assertEqual(pareto.switched(front, phases), [(self.large, 5), (self.small, 3), (self.large, 2)])
        self.assertEqual(pareto.stayed(front, phases), [(self.small, 10)])
        self.assertEqual(pareto.switched(front, [pareto.Phase(5, 30), pareto.Phase(2, 31)]), [(self.large, 7)], "no cold run between")

    def test_a_switch_costs_a_cold_run(self):
        runs = [(self.large, 5), (self.small, 3), (self.large, 2)]
        self.assertEqual(pareto.total_ms(runs, self.costs), 1002 + (80 + 4 * 20) + (100 + 2 * 90) + (80 + 20))
        self.assertEqual(pareto.total_ms([(self.small, 10)], self.costs), 1001 + 100 + 9 * 90)

    def test_rows(self):
        def facts(plan):
            return {"peak": plan.peak << 20, "cold_ms": plan.cold, "warm_ms": plan.warm, "programs": sorted(plan.programs), "gap": 0.1,
                    "cold_mj": 5, "warm_mj": 4, "integrated_ms": plan.cold + 200}

        found = {("ViT", PHONE, "start-up"): self.costs, ("ViT", PHONE, "pareto 1"): facts(self.small),
                 ("ViT", PHONE, "pareto 2"): facts(self.large)}
        rows = rows_of(pareto.SECTION, found)
        self.assertEqual(rows[0], ["pareto 1", "10", "300", "100.0", "90.0", "5", "4", "10.0%", "yes"])
        self.assertEqual(rows[2], ["switching", "5 x pareto 2, 3 x pareto 1, 2 x pareto 2", "1002", "1542"])
        self.assertEqual(rows[3], ["staying", "10 x pareto 1", "1001", "1911"])
        self.assertIn("Switching is 1.24 times as fast", text_of(pareto.SECTION, found))


if __name__ == "__main__":
    unittest.main()
