"""Queues of networks, put together by hand."""

import unittest

from paper_case import PHONE, STUDY, rows_of, text_of
from sections import queues
from sections.programs import programs_of, startup_ms


class QueuesTest(unittest.TestCase):
    def test_runs_joined_with_one_start_up(self):
        first = queues.Run(100, (("a", 150),), ((0, 0), (50, 8), (100, 8), (120, 20)))
        second = queues.Run(110, (("b", 140),), ((0, 1), (120, 30)))
        both = queues.joined([first, second], startup=130)
        self.assertEqual(both.completions, (("a", 180), ("b", 210)))
        self.assertEqual(both.over_time, ((0, 0), (130, 8), (150, 20), (180, 1), (190, 30)))
        self.assertEqual((both.peak(), both.end, both.mean_completion()), (30, 210, 195))
        self.assertAlmostEqual(both.average(), (8 * 20 + 20 * 30 + 1 * 10 + 30 * 20) / 210)

    def test_start_up_counts_programs_once(self):
        def plan(*kernels):
            return {"launches": [{"kind": "kernel", "kernel": name, "parameters": {"ROWS": rows}} for name, rows in kernels]
                    + [{"kind": "copy"}]}

        one, other = programs_of(plan(("matmul", 4), ("matmul", 4), ("conv", 4))), programs_of(plan(("matmul", 8), ("conv", 4)))
        self.assertEqual(len(one), 2)
        self.assertEqual(startup_ms({"context_ms": 100, "program_ms": 5}, [one, other]), 115)

    def test_rows(self):
        names = STUDY["queues"]["networks"]

        def alone(name, end):
            return {"startup": 110, "completions": [(name, end)], "over_time": [(0, 1e6), (110, 2e6)], "programs": [name, "shared"]}

        def queue(order):
            completions = [(name, 200 + 10 * place) for place, name in enumerate(order)]
            return {"startup": 120, "completions": completions, "over_time": [(0, 3e6)]}

        found = {("queue", PHONE, "start-up"): {"context_ms": 100, "program_ms": 5}, ("queue", PHONE, "fifo"): queue(names),
                 ("queue", PHONE, "srpt"): queue(names[::-1]),
                 **{("queue", PHONE, name): alone(name, 150 + 10 * place) for place, name in enumerate(names)}}
        rows = rows_of(queues.SECTION, found)
        self.assertEqual(rows[0][3:], ["120", "220", "210", "3", "3"])
        # 100 + 4 programs x 5, then 40 + 50 + 60 ms
        self.assertEqual(rows[1][:2] + rows[1][3:6], ["FIFO", "off", "120", "270", "213"])
        self.assertEqual(rows[3][5], "227", "the longest first")
        self.assertIn("The hint saves 50 ms of the FIFO queue, saves 50 ms", text_of(queues.SECTION, found))


if __name__ == "__main__":
    unittest.main()
