"""Several results beside each other: every number is one of the results', largest differences first."""

import copy
import unittest

from report_case import Page, WithFolder, fmreport  # first: it finds the report's modules
from sample_result import sample_result

import comparison
from result_file import MEMORY_CLASSES


def other_result():
    """The sample with a larger L2: some launches faster, one renamed, counters moved, another version."""
    other = copy.deepcopy(sample_result())
    other["tool"] = "fmsim 0.2.0"
    other["config"]["l2"]["size"]["value"] = "4 MiB"
    other["latency"]["integrated_ns"] -= 1_000_000
    other["energy"]["total_nj"] *= 2
    for launch in other["launches"][::3]:
        launch["end_ns"] -= 40_000
    other["launches"][4]["end_ns"] += 100_000
    other["launches"][7]["id"] = "L7b"
    other["counters"]["l2.read_hits"]["value"] = 2_000_000.0
    other["counters"]["dram.read_bytes"]["value"] = 0.0
    del other["counters"]["mmu.hits"]
    return other


class Comparison(WithFolder):
    def setUp(self):
        super().setUp()
        self.first, self.other = sample_result(), other_result()
        self.shown = self.compared(self.first, self.other)

    def compared(self, *results):
        paths = [self.write(result, f"run{index}.json") for index, result in enumerate(results)]
        done = fmreport(*paths, "-o", self.folder / "r.html")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return Page((self.folder / "r.html").read_text())

    def exact(self, table):
        return {row[0][0]: [cell[1] for cell in row[1:]] for row in self.shown.rows(table)}

    def test_cards_hold_both_values_and_the_change(self):
        first, other = (run["latency"]["integrated_ns"] for run in (self.first, self.other))
        self.assertEqual(self.exact("runs-integrated"),
                         {"run0": [first, None], "run1": [other, (other - first) / first]})
        self.assertEqual(self.exact("runs-energy"), {"run0": [95_400_000, None], "run1": [190_800_000, 1]})
        self.assertEqual(self.shown.cards["card-memory"],
                         [run["memory"]["peak_bytes"] for run in (self.first, self.other)])

    def test_runs_say_what_bounded_them(self):
        spent = sum(launch["end_ns"] - launch["start_ns"] for launch in self.first["launches"])
        local = sum(launch["end_ns"] - launch["start_ns"] for launch in self.first["launches"]
                    if launch["bound"] == "local")
        self.assertEqual(self.shown.rows("runs")[0][4][0], f"local, {100 * local / spent:.1f} %")

    def test_counters_that_differ_largest_first(self):
        self.assertEqual([(row[0][0], row[1][1], row[2][1]) for row in self.shown.rows("counters")], [
            ("mmu.hits (requests)", 3, None), ("dram.read_bytes (bytes)", 59_096_192, 0),
            ("l2.read_hits (lines)", 1_400_077, 2_000_000)])

    def test_only_config_that_differs(self):
        self.assertEqual([[cell[0] for cell in row] for row in self.shown.rows("config")],
                         [["l2.size", "2 MiB", "4 MiB"]])

    def test_launches_are_matched_by_id(self):
        drawn = next(trace for trace in self.shown.figures["launches"]["data"] if trace["name"] == "run1")
        times = {}
        for result, axis in ((self.first, "x"), (self.other, "y")):
            took = {launch["id"]: launch["end_ns"] - launch["start_ns"] for launch in result["launches"]}
            for launch, value in zip(drawn["customdata"], drawn[axis], strict=True):
                self.assertEqual(round(value * 1000), took[launch], launch)
            times[axis] = took
        self.assertNotIn("L7", drawn["customdata"])
        self.assertEqual(len(drawn["customdata"]), len(self.first["launches"]) - 1)
        rows = self.shown.rows("all-launch-table")
        self.assertEqual(rows[0][0][0].split()[0], "L4")
        self.assertEqual(rows[0][3][1], 100_000 / times["x"]["L4"])
        spreads = [abs(row[1][1] - row[2][1]) for row in rows]
        self.assertEqual(spreads, sorted(spreads, reverse=True))
        self.assertIn("2 of 37 launches are not in every run", self.shown.words)

    def test_memory_of_both_over_time(self):
        for trace, result in zip(self.shown.figures["memory"]["data"], (self.first, self.other), strict=True):
            wanted = [sum(sample[name] for name in MEMORY_CLASSES) for sample in result["memory"]["over_time"]]
            self.assertEqual([round(value * 2**20) for value in trace["y"]][:len(wanted)], wanted)

    def test_time_by_bound_sums_to_the_launches(self):
        columns = list(zip(*self.exact("time-by-bound").values()))
        for column, result in zip(columns, (self.first, self.other)):
            self.assertEqual(sum(filter(None, column)),
                             sum(launch["end_ns"] - launch["start_ns"] for launch in result["launches"]))

    def test_runs_are_told_apart_without_colour(self):
        shown = self.compared(self.first, self.other, self.first)
        self.assertEqual(len({trace["line"]["dash"] for trace in shown.figures["memory"]["data"]}), 3)
        marks = [trace["marker"]["symbol"] for trace in shown.figures["launches"]["data"] if "marker" in trace]
        self.assertEqual(len(set(marks)), 2)

    def test_equal_runs_differ_in_nothing(self):
        self.shown = self.compared(self.first, self.first)
        self.assertIn("The configurations are equal.", self.shown.words)
        self.assertNotIn("counters", self.shown.tables)
        self.assertEqual(self.exact("runs-integrated")["run1"][1], 0)

    def test_a_measured_run_with_little_in_it(self):
        measured = sample_result(3)
        measured.update(tool="fmexec 0.1.0", counters={}, peaks={}, timeline=[], checks=[],
                        config={"device": {"name": "pthread"}},
                        energy={"total_nj": 0, "by_component": {}})
        for launch in measured["launches"]:
            for key in ("energy", "peaks", "roofline", "clock_mhz"):
                launch.pop(key, None)
            launch["bound"] = ""
        shown = self.compared(self.first, measured)
        self.assertIn("Measured and simulated runs are compared", shown.words)
        self.assertEqual(shown.cards["card-energy"], [95_400_000, None])


class DoubtfulComparisons(WithFolder):
    def test_other_versions_traces_and_sampling_are_said(self):
        other = other_result()
        other["trace"] = {"file": "other.trace", "digest": "xxh3:fedcba9876543210"}
        other["sampling"] = {"mode": "full", "error_bound": 0}
        notes = "\n".join(comparison.notes_of(["a", "b"], [sample_result(), other]))
        for words in ("different versions", "a: fmsim 0.1.0, b: fmsim 0.2.0", "different traces", "b: other.trace",
                      "a: auto, b: full"):
            self.assertIn(words, notes)
        self.assertEqual(comparison.notes_of(["a", "b"], [sample_result(), sample_result()]), [])

    def test_another_schema_version_is_refused_by_name(self):
        first = self.write(sample_result(1), "first.json")
        other = self.write({**sample_result(1), "schema_version": 2}, "other.json")
        done = fmreport(first, other, "-o", self.folder / "r.html")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{other}: schema_version 2", done.stderr)
        self.assertIn("make the result anew", done.stderr)
        self.assertFalse((self.folder / "r.html").exists())

    def test_names_from_files_are_text_not_markup(self):
        paths = [self.write(sample_result(1), f"{name}<b>.json") for name in "ab"]
        fmreport(*paths, "-o", self.folder / "r.html")
        page = (self.folder / "r.html").read_text()
        self.assertNotIn("a<b>", page)
        self.assertIn("a<b>", Page(page).words)


class Parts(unittest.TestCase):
    def test_labels_are_the_shortest_endings_that_differ(self):
        for paths, wanted in (
                (["out/a.json", "out/b.json"], ["a", "b"]),
                (["x/vit.json", "y/vit.json", "r.json"], ["x/vit", "y/vit", "r"]),
                (["a.json", "a.json"], ["a (1)", "a (2)"]),
                (["/o/a/r.json", "a/r.json"], ["o/a/r", "a/r"])):
            self.assertEqual(comparison.labels_of(paths), wanted)

    def test_change(self):
        self.assertEqual(comparison.change(4, 5), 0.25)
        self.assertEqual(comparison.change(0, 0), 0)
        for first, other in ((0, 1), (None, 1), (1, None)):
            self.assertIsNone(comparison.change(first, other))

    def test_repeated_launches_are_matched_in_order(self):
        launch = sample_result(1)["launches"][0]
        twice = {"launches": [{**launch, "end_ns": 1}, {**launch, "end_ns": 2}]}
        once = {"launches": [{**launch, "end_ns": 3}]}
        matched = comparison.matched_launches([twice, once])
        self.assertEqual([[found and found["end_ns"] for found in row] for row in matched], [[1, 3], [2, None]])


if __name__ == "__main__":
    unittest.main()
