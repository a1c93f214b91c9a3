"""What fmsweep makes of a table: undominated rows, and parameters ranked by what they do."""

import csv
import pathlib
import random
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis/sweep"))

from effective_config import EffectiveConfig  # noqa: E402
from pareto import pareto, undominated  # noqa: E402
from problems import StudyError  # noqa: E402
from sensitivity_study import Variation, chosen_paths, combinations_of, rank  # noqa: E402
from tornado import tornado  # noqa: E402
from variations import scaled, short, size_of, steps  # noqa: E402


class ParetoTest(unittest.TestCase):
    def test_marks_are_those_of_every_pair_compared(self):
        draw = random.Random(1)
        rows = [{"workload": draw.choice("ab"), "x": str(draw.randrange(5)), "y": str(draw.randrange(5)),
                 "z": draw.choice(["1", "2", ""])} for _ in range(80)]
        marks = undominated(rows, ["x", "y", "z"])
        for row, mark in zip(rows, marks):
            if row["z"] == "":
                self.assertIsNone(mark)
                continue
            better = [other for other in rows if other["z"] and other["workload"] == row["workload"]
                      and all(int(other[name]) <= int(row[name]) for name in "xyz")
                      and any(int(other[name]) < int(row[name]) for name in "xyz")]
            self.assertEqual(mark, not better, row)

    def write(self, folder, text):
        path = pathlib.Path(folder, "table.csv")
        path.write_text(text)
        return path

    def test_the_table_gets_a_mark_and_the_rest_stays(self):
        table = ("point,config,workload,l2.size_bytes,latency_ns,energy_nj,status\n"
                 "a,phone,net,1048576,2500000,9000000,ok\nb,phone,net,2097152,2000000,9500000,ok\n"
                 "c,phone,net,4194304,2600000,9600000,ok\nd,phone,net,8388608,,,refused\n")
        with tempfile.TemporaryDirectory() as folder:
            path = self.write(folder, table)
            lines = list(pareto(pathlib.Path(folder), ["latency_ns", "energy_nj"], None))
            self.assertIn("phone   net       2.00 MiB       2.00 ms     9.50 mJ", lines[1])
            self.assertIn("2 of 3 rows are undominated in latency_ns, energy_nj", lines)
            with open(path.with_name("pareto.csv"), newline="") as file:
                marked = list(csv.DictReader(file))
            self.assertEqual([row.pop("undominated") for row in marked], ["yes", "yes", "no", ""])
            with open(path, newline="") as file:
                self.assertEqual(marked, list(csv.DictReader(file)))
            again = list(pareto(path.with_name("pareto.csv"), ["latency_ns", "energy_nj"], None))
            self.assertEqual(again, lines, "a marked table can be marked again")

    def test_what_is_no_table_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            with self.assertRaisesRegex(StudyError, "table.csv: No such file or directory; give the -o FOLDER"):
                list(pareto(folder, ["latency_ns"], None))
            path = self.write(folder, "workload,latency_ns\nnet,\n")
            with self.assertRaisesRegex(StudyError, "table.csv: no row has latency_ns; run the sweep first"):
                list(pareto(path, ["latency_ns"], None))
            with self.assertRaisesRegex(StudyError, "table.csv:1: no column area; columns to compare are latency_ns"):
                list(pareto(path, ["area"], None))


class VariationTest(unittest.TestCase):
    def test_values_move_in_their_own_unit(self):
        self.assertEqual(scaled("890 MHz", 1.1), "979 MHz")
        self.assertEqual(scaled("6.25 ns", 0.9), "5.625 ns")
        self.assertEqual(scaled("1 MiB", 0.5), "524288 B")
        self.assertEqual(scaled("0.8", 1.1), "0.88")
        self.assertIsNone(scaled("oldest_first", 2))
        self.assertIsNone(scaled("0 B", 2))

    def test_counts_move_by_one_at_least(self):
        self.assertEqual((scaled("7", 0.9), scaled("7", 1.1), scaled("1", 1.1)), ("6", "8", "2"))
        self.assertEqual((scaled("4 cycles", 0.9), scaled("4 cycles", 1.1)), ("3 cycles", "5 cycles"))

    def test_curves_move_as_a_whole(self):
        curve = "[[4 KiB, 225 MB/s], [1 MiB, 2100 MB/s]]"
        self.assertEqual(scaled(curve, 2), "[[4 KiB, 450 MB/s], [1 MiB, 4200 MB/s]]")
        self.assertEqual(size_of(curve), 2.1e9)
        self.assertEqual(short(curve), ".. 2100 MB/s")

    def test_sections_and_paths_are_chosen(self):
        config = EffectiveConfig("l2.size = 1 MiB\nl2.kind = word\nl2.line = 64 B\ngpu.cores = 7\n")
        self.assertEqual(chosen_paths(config, None, "s"), ["l2.size", "l2.line", "gpu.cores"])
        self.assertEqual(chosen_paths(config, ["gpu.cores", "l2"], "s"), ["gpu.cores", "l2.size", "l2.line"])
        with self.assertRaisesRegex(StudyError, "study.yaml: parameter l2.siz does not exist.*nearest: l2.size"):
            chosen_paths(config, ["l2.siz"], "study.yaml")
        with self.assertRaisesRegex(StudyError, "parameter l2.kind is a word"):
            chosen_paths(config, ["l2.kind"], "study.yaml")


class RankingTest(unittest.TestCase):
    def test_a_power_law_has_its_exponent(self):
        """latency = clock^-1 x size^-0.25, whatever the steps: the size moves by halves, the clock by tenths."""
        low, high = (factors[0] for factors in steps(10))
        clock = Variation("gpu.clock", "100 MHz", scaled("100 MHz", low), scaled("100 MHz", high))
        size = Variation("l2.size", "1 MiB", "524288 B", None)
        idle = Variation("gpu.cores", "7", "6", "8")
        stuck = Variation("l2.line", "64 B", None, None)
        measured = {("gpu.clock", "90 MHz"): 1000 / 0.9, ("gpu.clock", "110 MHz"): 1000 / 1.1,
                    ("l2.size", "524288 B"): 1000 * 2 ** 0.25, ("gpu.cores", "6"): 1000, ("gpu.cores", "8"): 1000}
        ranked = rank([idle, size, stuck, clock], 1000, measured)
        self.assertEqual([one.variation.path for one in ranked], ["gpu.clock", "l2.size", "gpu.cores"])
        for one, exponent in zip(ranked, (-1, -0.25, 0)):
            self.assertAlmostEqual(one.elasticity, exponent)
        self.assertAlmostEqual(ranked[0].high_change, 1 / 1.1 - 1)
        self.assertIsNone(ranked[1].high_change)
        self.assertEqual([[(one.path, one.value) for one in chosen] for chosen in combinations_of([size, stuck], "s")],
                         [[], [("l2.size", "524288 B")]])

        picture = tornado(ranked, "latency_ns", "net on phone")
        self.assertIn(b"<svg", picture)
        self.assertEqual(picture, tornado(ranked, "latency_ns", "net on phone"))


if __name__ == "__main__":
    unittest.main()
