"""Markdown and CSV say the result's numbers; a report is written whole or not at all."""

import csv
import io
import os
import pathlib
import resource
import signal
import subprocess
import sys
import unittest
from unittest import mock

from report_case import ROOT, WithFolder, fmreport  # first: it finds the report's modules
from sample_result import sample_result

import destination


def rows_of(markdown, title):
    """The rows of the table below a heading, as lists of cells."""
    lines = markdown.split(f"## {title}\n\n")[1].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


class Formats(WithFolder):
    def report(self, form, *results):
        paths = [self.write(result, f"run{index}.json") for index, result in enumerate(results)]
        done = fmreport(*paths, "--format", form, "-o", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_csv_has_every_number_with_its_unit(self):
        result = sample_result()
        facts = {tuple(row[:4]): (row[4], row[5]) for row in csv.reader(io.StringIO(self.report("csv", result)))}
        self.assertEqual(facts[("run", "part", "name", "quantity")], ("value", "unit"))
        for name, counter in result["counters"].items():
            value, unit = facts[("run0", "counters", name, "value")]
            self.assertEqual((float(value), unit), (counter["value"], counter["unit"]))
        for launch in result["launches"]:
            for quantity, wanted in (("duration", launch["end_ns"] - launch["start_ns"]), ("macs", launch["macs"]),
                                     ("weights", launch["weight_bytes"]), ("bound", launch["bound"]),
                                     ("energy", launch["energy"]["total_nj"])):
                self.assertEqual(facts[("run0", "launches", launch["id"], quantity)][0], str(wanted))
        for key, value in result["latency"].items():
            self.assertEqual(facts[("run0", "latency", "", key.removesuffix("_ns"))], (str(value), "ns"))
        for name, value in result["memory"]["by_class"].items():
            self.assertEqual(facts[("run0", "memory", name, "peak")], (str(value), "bytes"))

    def test_csv_of_several_runs(self):
        rows = list(csv.reader(io.StringIO(self.report("csv", sample_result(2), sample_result(3)))))
        launches = [sum(row[0] == run and row[3] == "duration" for row in rows) for run in ("run0", "run1")]
        self.assertEqual(launches, [2, 3])

    def test_markdown_of_one_run(self):
        result = sample_result()
        shown = self.report("md", result)
        for words in ("| integrated latency | ", "| peak memory | 84.0 MiB |", "| energy | 95.4 mJ |",
                      "| device | Google Pixel 8, Mali-G715 MP7 |"):
            self.assertIn(words, shown)
        self.assertEqual([row[0] for row in rows_of(shown, "Counters")],
                         [f"{name} ({counter['unit']})".replace("_", "\\_")
                          for name, counter in result["counters"].items()])
        longest = max(result["launches"], key=lambda launch: launch["end_ns"] - launch["start_ns"])
        self.assertTrue(rows_of(shown, "Longest launches")[0][0].startswith(longest["id"] + " "))
        self.assertNotIn("Broken conservation laws", shown)

    def test_markdown_of_two_runs_and_a_broken_law(self):
        other = sample_result()
        other["config"]["l2"]["size"]["value"] = "4 MiB"
        other["counters"]["mmu.hits"]["value"] = 6.0
        other["checks"][0].update(holds=False, left=1)
        shown = self.report("md", sample_result(), other)
        self.assertEqual(rows_of(shown, "Configuration: what differs"), [["l2.size", "2 MiB", "4 MiB"]])
        self.assertEqual(rows_of(shown, "Counters, largest difference first"),
                         [["mmu.hits (requests)", "3", "6", "+100 %"]])
        self.assertIn("- run1: l2: fetches = fills: 1 is not 923", shown)

    def test_names_are_no_markup(self):
        result = sample_result(1)
        result["launches"][0]["id"] = "a|b\n<script>`*"
        shown = rows_of(self.report("md", result).replace("\\|", "\u2223"), "Longest launches")
        self.assertEqual(shown[0][0], "a\u2223b \\<script\\>\\`\\* LayerNormalization: disk")
        self.assertIn(["run0", "launches", "a|b\n<script>`*", "macs", "0", "MAC"],
                      list(csv.reader(io.StringIO(self.report("csv", result)))))

    def test_unknown_format_is_refused(self):
        done = fmreport(self.write(sample_result(1)), "--format", "pdf", "-o", self.folder / "r")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'html', 'md', 'csv'", done.stderr)


class Destinations(WithFolder):
    def begin(self, *arguments, **options):
        command = [sys.executable, str(ROOT / "analysis/report/fmreport.py"), *map(str, arguments)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_full_disk(self):
        path = self.write(sample_result(1))
        for output in ("/dev/full", "-"):
            with open("/dev/full", "w") as full:
                process = self.begin(path, "-o", output, stdout=full)
                errors = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, 2)
            self.assertRegex(
                errors, r"^fmreport: error: .*: No space left on device; to be written are [0-9,]+ bytes: make room")

    def test_a_file_that_cannot_grow_leaves_the_old_page(self):
        path, page = self.write(sample_result(1)), self.folder / "r.html"
        page.write_text("old")
        process = self.begin(path, "-o", page, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (100_000, 100_000)))
        errors = process.communicate(timeout=60)[1]
        self.assertEqual((process.returncode, page.read_text()), (2, "old"))
        self.assertRegex(errors, r"^fmreport: error: .*r\.html: File too large")
        self.assertEqual(sorted(found.name for found in self.folder.iterdir()), ["r.html", "r.json"])

    def test_a_reader_that_leaves(self):
        process = self.begin(self.write(sample_result(1)), "-o", "-", stdout=subprocess.PIPE)
        self.assertTrue(process.stdout.read(10))
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 2)
        self.assertIn("Broken pipe", process.stderr.read())

    def test_interrupted_while_it_writes(self):
        os.mkfifo(self.folder / "pipe")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.begin(self.write(sample_result(1)), "-o", self.folder / "pipe")
            with open(self.folder / "pipe", "rb") as reader:
                reader.read(10)  # it is writing now, and the pipe holds far less than the page
                process.send_signal(number)
                process.wait(timeout=60)
            self.assertEqual(process.returncode, 2)
            self.assertEqual(process.stderr.read(), f"fmreport: error: interrupted by {number.name}\n")

    def test_interrupted_before_the_page_is_in_its_place(self):
        page = self.folder / "r.html"
        page.write_text("old")
        with mock.patch.object(os, "replace", side_effect=destination.Interrupted("now")), \
                self.assertRaises(destination.Interrupted):
            destination.write_report(str(page), "new")
        self.assertEqual([(found.name, found.read_text()) for found in self.folder.iterdir()], [("r.html", "old")])

    def test_folder_that_may_not_be_written(self):
        with self.assertRaisesRegex(destination.WriteError, "none/r.html: No such file or directory"):
            destination.write_report(str(pathlib.Path("none/r.html")), "x")


if __name__ == "__main__":
    unittest.main()
