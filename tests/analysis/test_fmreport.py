"""The report shows the result's numbers, asks no network for anything, and refuses what is no result."""

import base64
import copy
import gzip
import json
import os
import re
import unittest

from report_case import ROOT, Page, WithFolder, fmreport, read_pipe  # first: it finds the report's modules
from sample_result import sample_result

import quantities
from pictures import MEMORY_CLASSES
from result_file import SCHEMA, ResultError, check_result
from thinning import join_events, thin_samples


class Destinations(WithFolder):
    def test_a_pipe_gets_the_page_and_stays_a_pipe(self):
        result = self.write(sample_result())
        piped = read_pipe(self.folder / "pipe", lambda: fmreport(result, "-o", self.folder / "pipe"))
        fmreport(result, "-o", self.folder / "r.html")
        self.assertEqual(piped, (self.folder / "r.html").read_bytes())


class Numbers(WithFolder):
    """Everything drawn or tabled equals the JSON."""

    def setUp(self):
        super().setUp()
        self.result = sample_result()
        self.shown = Page(self.page(self.result))

    def test_cards(self):
        latency, memory = self.result["latency"], self.result["memory"]
        self.assertEqual(self.shown.cards, {
            "card-integrated": latency["integrated_ns"], "card-exec": latency["exec_ns"],
            "card-floor": latency["integrated_ns"] / self.result["floor"]["disk_ns"],
            "card-memory": memory["peak_bytes"], "card-energy": self.result["energy"]["total_nj"],
            "card-bound": "local", "card-sampling": 0.013})
        for words in ("Google Pixel 8, Mali-G715 MP7", "vit.trace", "xxh3:0123456789abcdef",
                      "95.4 mJ", "84.0 MiB", "error at most 1.30 %", "disk alone needs 8.10 ms"):
            self.assertIn(words, self.shown.words)

    def test_memory_by_class(self):
        traces = {trace["meta"]: trace for trace in self.shown.figures["memory"]["data"]}
        samples = self.result["memory"]["over_time"]
        self.assertEqual(set(traces), set(MEMORY_CLASSES))
        for name, trace in traces.items():
            drawn = [value * 2**20 for value in trace["y"]]
            self.assertEqual(drawn[:len(samples)], [sample[name] for sample in samples], name)
            self.assertEqual(drawn[len(samples):], drawn[len(samples) - 1:len(samples)], name)

    def test_launch_bars_are_coloured_by_bound(self):
        bars, colours = {}, {}
        for trace in self.shown.figures["launches"]["data"]:
            colours[trace["meta"]] = trace["marker"]["color"]
            for x, y, launch in zip(trace["x"], trace["y"], trace["customdata"]):
                bars[x] = (launch, trace["meta"], round(y * 1000))
        self.assertEqual([bars[index] for index in range(len(bars))], [
            (launch["id"], launch["bound"], launch["end_ns"] - launch["start_ns"])
            for launch in self.result["launches"]])
        self.assertEqual(len(set(colours.values())), 8)

    def test_timeline_lanes(self):
        drawn = {trace["name"]: sorted(zip(trace["base"], trace["x"]))
                 for trace in self.shown.figures["timeline"]["data"]}
        for lane in ("disk", "copy", "gpu", "host"):
            wanted = sorted((e["start_ns"], e["end_ns"] - e["start_ns"])
                            for e in self.result["timeline"] if e["lane"] == lane)
            self.assertEqual([(round(a * 1e6), round(b * 1e6)) for a, b in drawn[lane]], wanted)

    def test_overlap_is_the_time_that_both_lanes_are_busy(self):
        rows = {row[0][0]: row for row in self.shown.rows("overlap")}
        busy = {lane: set() for lane in rows}
        for event in self.result["timeline"]:  # microsecond by microsecond
            busy[event["lane"]] |= set(range(event["start_ns"] // 1000, event["end_ns"] // 1000))
        for lane, row in rows.items():
            self.assertAlmostEqual(row[1][1] / 1000, len(busy[lane]), delta=40)
            if lane != "gpu":
                self.assertAlmostEqual(row[3][1] / 1000, len(busy[lane] & busy["gpu"]), delta=40)
        self.assertGreater(rows["disk"][3][1], 0)

    def test_tables(self):
        for row, (name, counter) in zip(self.shown.rows("counters"), self.result["counters"].items(),
                                        strict=True):
            self.assertEqual([row[0][0], row[1][1], row[2][0], row[3][0]],
                             [name, counter["value"], counter["unit"], counter["description"]])
        rates = {row[0][0]: row[3][1] for row in self.shown.rows("hit-rates")}
        self.assertEqual(rates, {
            "l1.read": 7_700_001 / 9_123_456, "texture_l1.read": 0.95,
            "l2.read": 1_400_077 / 2_323_455, "mmu": 0.75, "dram.row": 5 / 8})
        self.assertEqual({row[0][0]: row[1][1] for row in self.shown.rows("peaks")},
                         self.result["peaks"])
        self.assertEqual({row[0][0]: row[1][1] for row in self.shown.rows("energy")},
                         self.result["energy"]["by_component"])
        for row, launch in zip(self.shown.rows("launch-table"), self.result["launches"], strict=True):
            self.assertEqual([row[0][0], row[4][1], row[6][1], row[8][1]],
                             [launch["id"], launch["end_ns"] - launch["start_ns"], launch["macs"],
                              launch["weight_bytes"]])
            self.assertEqual(row[9][1], launch["energy"]["total_nj"])
            self.assertEqual([row[11][1], row[12][0]] if "roofline" in launch else [0.25, "dram"],
                             [0.25, "dram"])
        for table in ("time-by-bound", "time-by-operation"):
            self.assertEqual(sum(row[1][1] for row in self.shown.rows(table)), 36)
            self.assertAlmostEqual(sum(row[3][1] for row in self.shown.rows(table)), 1)

    def test_config_with_sources(self):
        rows = [[cell[0] for cell in row] for row in self.shown.rows("config")]
        self.assertIn(["l2.size", "2 MiB", "assumed", "Arm <guide> & others"], rows)
        self.assertIn(["gpu.cores", "7", "spec", "Google Tensor G3: MP7"], rows)


class OtherResults(WithFolder):
    def test_a_broken_law_is_shown_first_and_open(self):
        result = sample_result()
        result["checks"].append({"law": "l1: fills = fetches", "left": 7.0, "right": 8.0,
                                 "holds": False})
        text = self.page(result)
        shown = Page(text)
        first = shown.rows("checks")[0]
        self.assertEqual([cell[0] for cell in first], ["l1: fills = fetches", "7", "8", "BROKEN"])
        self.assertIn("1 of 3 conservation laws are broken", shown.words)
        self.assertNotRegex(text, r'<details><summary>[^<]*</summary>\s*<div class="scroll">'
                                  r'<table id="checks">')

    def test_a_measured_result_with_little_in_it(self):
        result = sample_result(1)
        result.update(timeline=[], counters={}, checks=[], peaks={}, trace={"file": "", "digest": ""},
                      energy={"total_nj": 0, "by_component": {}}, config={"device": {"name": "pthread"}},
                      floor={"disk_ns": 0, "compute_ns": 0, "dram_ns": 0}, launches=[])
        result["memory"]["over_time"] = []
        shown = Page(self.page(result))
        self.assertEqual(shown.figures, {})
        self.assertNotIn("card-bound", shown.cards)
        self.assertEqual(shown.tables.keys(), {"config"})
        self.assertIn("pthread", shown.words)

    def test_unmeasured_bounds_and_other_lanes_are_shown(self):
        result = sample_result(2)
        for launch in result["launches"]:
            launch["bound"] = ""
        result["timeline"][0]["lane"] = "npu"
        shown = Page(self.page(result))
        self.assertEqual([trace["name"] for trace in shown.figures["launches"]["data"]],
                         ["not known"])
        self.assertIn("npu", [trace["name"] for trace in shown.figures["timeline"]["data"]])

    def test_names_from_a_model_are_text_not_markup(self):
        result = sample_result(1)
        evil = "</script><script>alert(1)</script>"
        result["launches"][0]["id"] = result["timeline"][0]["name"] = evil
        text = self.page(result)
        self.assertNotIn("<script>alert", text)
        shown = Page(text)
        self.assertEqual(shown.rows("launch-table")[0][0][0], evil)
        self.assertNotIn("<script>", json.dumps([trace["hovertext"] for name in ("launches", "timeline")
                                                 for trace in shown.figures[name]["data"]]))

    def test_same_result_same_page(self):
        self.assertEqual(self.page(sample_result()), self.page(sample_result()))


class Budget(WithFolder):
    def test_a_line_where_the_user_says(self):
        path, page = self.write(sample_result()), self.folder / "r.html"
        for paths in ([path], [path, path]):
            self.assertEqual(fmreport(*paths, "--budget", "96MiB", "-o", page).returncode, 0)
            traces = Page(page.read_text()).figures["memory"]["data"]
            line = next(trace for trace in traces if trace.get("meta") == "budget")
            self.assertEqual((line["y"], line["name"]), ([96, 96], "budget 96.0 MiB"))
        self.assertIn("87.5 % of the budget of 96.0 MiB", self.budget_page(path))

    def budget_page(self, path):
        return fmreport(path, "--budget", "96MiB", "-o", "-").stdout

    def test_no_size(self):
        for wrong in ("much", "-1MiB", "0B", "64", "3GHz"):
            done = fmreport(self.write(sample_result(1)), f"--budget={wrong}", "-o", self.folder / "r.html")
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("is not a size such as 64MiB", done.stderr)


class SelfContained(WithFolder):
    def test_nothing_is_asked_of_the_network(self):
        shown = Page(self.page(sample_result()))
        self.assertTrue(all(link.startswith("#section-") for _, _, link in shown.links), shown.links)
        self.assertNotRegex(shown.styles, r"url\(|@import")
        self.assertTrue(shown.policy.startswith("default-src 'none'"))
        self.assertNotIn("http", shown.policy)

    def test_plotly_is_inside(self):
        packed = re.search(r'id="plotly">([^<]+)<', self.page(sample_result(1))).group(1)
        self.assertRegex(gzip.decompress(base64.b64decode(packed)), rb"^/\*\*\s*\* plotly\.js v")


class BadInput(WithFolder):
    def refused(self, path, *words):
        before = sorted(self.folder.iterdir())
        done = fmreport(path, "-o", self.folder / "r.html")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for word in (str(path), *words):
            self.assertIn(word, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_missing_file_and_folder(self):
        self.refused(self.folder / "none.json", "No such file")
        self.refused(self.folder, "Is a directory")

    def test_not_json_names_line_and_column(self):
        text = json.dumps(sample_result(1), indent=1)
        self.refused(self.write(text[:200]), "r.json:")
        self.refused(self.write('{\n "a": 1,\n "b" 2}'), "r.json:3:6:", "':'")
        (self.folder / "bytes.json").write_bytes(b"\x28\xb5\x2f\xfd")
        self.refused(self.folder / "bytes.json", "not UTF-8")
        self.refused(self.write("[" * 100_000), "nested")

    def test_another_version(self):
        for version in (0, 2, "1"):
            self.refused(self.write({**sample_result(1), "schema_version": version}),
                         f"schema_version {version}", "reads 1")
        self.refused(self.write([1]), "not a result")

    def test_every_missing_or_mistyped_key_is_named(self):
        def places(schema, value, path):
            """Paths of all required keys of objects that the sample has."""
            for key in schema.get("required", []):
                yield [*path, key]
            for key, inner in schema.get("properties", {}).items():
                if key in value:
                    yield from places(inner, value[key], [*path, key])
            if "items" in schema:
                yield from places(schema["items"], value[0], [*path, 0])
            if isinstance(schema.get("additionalProperties"), dict):
                key = next(iter(value))
                yield from places(schema["additionalProperties"], value[key], [*path, key])

        sample = sample_result(1)
        paths = [path for path in places(json.loads(SCHEMA.read_text()), sample, [])
                 if path != ["schema_version"]]
        self.assertGreater(len(paths), 60)
        for path in paths:
            for missing in (True, False):
                result = copy.deepcopy(sample)
                place = result
                for key in path[:-1]:
                    place = place[key]
                if missing:
                    del place[path[-1]]
                else:
                    place[path[-1]] = None
                with self.assertRaises(ResultError) as caught:
                    check_result(result)
                for key in path:
                    self.assertIn(str(key), str(caught.exception))

    def test_numbers_beyond_a_double_are_refused(self):
        text = json.dumps(sample_result(1))
        for number in ("NaN", "-Infinity", "1e999", "1" * 400, "1" * 5000):
            self.refused(self.write(text.replace('"dram": 0.41', f'"dram": {number}')),
                         number[:20], "not a finite number")

    def test_output_that_cannot_be_written(self):
        path = self.write(sample_result(1))
        done = fmreport(path, "-o", self.folder / "none" / "r.html")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"fmreport: error: .*none/r\.html: No such file")

    def test_an_old_page_survives_bad_input(self):
        (self.folder / "r.html").write_text("old")
        self.assertEqual(fmreport(self.write("{"), "-o", self.folder / "r.html").returncode, 2)
        self.assertEqual((self.folder / "r.html").read_text(), "old")


class CommandLine(WithFolder):
    def test_help_and_version(self):
        done = fmreport("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("fmreport.py vit.json -o vit.html", done.stdout)
        version = re.search(r'"(.*)"', (ROOT / "core/version.hpp").read_text()).group(1)
        self.assertEqual(fmreport("--version").stdout, f"fmreport {version}\n")

    def test_wrong_usage(self):
        for arguments in ((), ("a.json",), ("a.json", "-o", "b", "--frobnicate")):
            self.assertEqual(fmreport(*arguments).returncode, 2)

    def test_page_on_standard_output(self):
        done = fmreport(self.write(sample_result(1)), "-o", "-")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("<!DOCTYPE html>"))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["r.json"])

    def test_the_page_gets_usual_permissions(self):
        self.page(sample_result(1))
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual((self.folder / "r.html").stat().st_mode & 0o777, 0o666 & ~mask)


class Models(WithFolder):
    def test_a_queues_models_are_tabled(self):
        result = sample_result()
        self.assertNotIn("models", Page(self.page(result)).tables)
        result["models"] = [
            {"name": "a", "start_ns": 5, "end_ns": 9, "integrated_ns": 9, "peak_bytes": 2048},
            {"name": "b<", "start_ns": 10, "end_ns": 20, "integrated_ns": 20, "peak_bytes": 1024}]
        rows = Page(self.page(result)).tables["models"][1:]
        self.assertEqual([row[0][0] for row in rows], ["a", "b<"])
        self.assertEqual([[exact for _, exact in row[1:]] for row in rows],
                         [[5, 9, 9, 2048], [10, 20, 20, 1024]])


class Quantities(unittest.TestCase):
    def test_three_digits_and_a_unit(self):
        for shown, wanted in (
                (quantities.time_text(999), "999 ns"), (quantities.time_text(1250), "1.25 µs"),
                (quantities.time_text(999_499), "999 µs"), (quantities.time_text(999_600), "1.00 ms"),
                (quantities.bytes_text(1023), "1023 B"), (quantities.bytes_text(1536), "1.50 KiB"),
                (quantities.energy_text(95_400_000), "95.4 mJ"),
                (quantities.count_text(1234567.0), "1\u202f234\u202f567"),
                (quantities.count_text(0.25), "0.250"), (quantities.count_text(2.5e-7), "2.50e-07"),
                (quantities.large_text(348_585_984), "349 M"), (quantities.percent_text(0.5), "50.0 %"),
                (quantities.time_text(0), "0 ns")):
            self.assertEqual(shown, wanted)


class Thinning(unittest.TestCase):
    def test_peak_first_and_last_samples_stay(self):
        samples = [(index * 7919) % 1000 for index in range(10_000)]
        samples[4321] = 5000
        thin = thin_samples(samples, lambda value: value, 100)
        self.assertLessEqual(len(thin), 102)
        self.assertEqual((thin[0], thin[-1], max(thin)), (samples[0], samples[-1], 5000))
        self.assertEqual(thin_samples(samples[:50], lambda value: value, 100), samples[:50])

    def test_events_nearer_than_the_gap_are_joined(self):
        events = [{"name": name, "start_ns": start, "end_ns": end}
                  for name, start, end in (("b", 12, 20), ("a", 0, 10), ("c", 50, 60), ("d", 55, 58))]
        self.assertEqual(join_events(events, 5), [(0, 20, ["a", "b"]), (50, 60, ["c", "d"])])
        self.assertEqual([names for _, _, names in join_events(events[:3], 0)], [["a"], ["b"], ["c"]])


if __name__ == "__main__":
    unittest.main()
