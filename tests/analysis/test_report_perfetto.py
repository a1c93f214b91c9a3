"""What fmsim --chrome-trace writes is the Trace Event Format that ui.perfetto.dev opens, with the result's numbers."""

import json
import subprocess
import unittest

from report_case import ROOT, WithFolder
from test_report_hierarchy import BIN


class ChromeTrace(WithFolder):
    def setUp(self):
        super().setUp()
        trace, result = self.folder / "t.json", self.folder / "r.json"
        subprocess.run([BIN / "fmsim", "--config", "mali-g715", "--trace",
                        ROOT / "traces/microbench/copy_to_image.trace", "--json", "-o", result, "--chrome-trace", trace,
                        "--interval", "50us"], check=True, timeout=60)
        self.result, self.trace = json.loads(result.read_text()), json.loads(trace.read_text())

    def of_phase(self, phase):
        return [event for event in self.trace["traceEvents"] if event["ph"] == phase]

    def test_every_event_is_as_the_format_wants_it(self):
        self.assertIn(self.trace["displayTimeUnit"], ("ms", "ns"))
        needed = {"X": {"name": str, "pid": int, "tid": int, "ts": (int, float), "dur": (int, float)},
                  "C": {"name": str, "pid": int, "ts": (int, float), "args": dict},
                  "M": {"name": str, "pid": int, "args": dict}}
        for event in self.trace["traceEvents"]:
            for key, kind in needed[event["ph"]].items():
                self.assertIsInstance(event[key], kind, event)
            if event["ph"] == "C":
                for value in event["args"].values():
                    self.assertIsInstance(value, (int, float), event)
            self.assertGreaterEqual(event.get("dur", 0), 0)

    def test_bars_are_the_timeline(self):
        lanes = {event["tid"]: event["args"]["name"] for event in self.of_phase("M")
                 if event["name"] == "thread_name"}
        bars = sorted((lanes[event["tid"]], event["name"], round(event["ts"] * 1000),
                       round((event["ts"] + event["dur"]) * 1000)) for event in self.of_phase("X"))
        self.assertEqual(bars, sorted((event["lane"], event["name"], event["start_ns"], event["end_ns"])
                                      for event in self.result["timeline"]))

    def test_bars_of_a_row_do_not_overlap(self):
        ends = {}
        for event in sorted(self.of_phase("X"), key=lambda event: event["ts"]):
            self.assertGreaterEqual(round(event["ts"] * 1000), ends.get(event["tid"], 0))
            ends[event["tid"]] = round((event["ts"] + event["dur"]) * 1000)

    def test_counters_are_the_memory_and_the_intervals(self):
        memory = [event for event in self.of_phase("C") if event["name"] == "memory (bytes)"]
        self.assertEqual([{"time_ns": round(event["ts"] * 1000), **event["args"]} for event in memory],
                         self.result["memory"]["over_time"])
        moved = {}
        for event in self.of_phase("C"):
            if event["name"] != "memory (bytes)":
                moved[event["name"]] = moved.get(event["name"], 0) + sum(event["args"].values())
        self.assertGreater(len(moved), 10)
        for name, total in moved.items():
            self.assertAlmostEqual(total, self.result["counters"][name]["value"], delta=1e-6 * abs(total), msg=name)


if __name__ == "__main__":
    unittest.main()
