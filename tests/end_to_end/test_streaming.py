"""Streaming overlaps reading and computing, and changes no output."""

import unittest

from tests.end_to_end import pipeline


def intervals(result, lane):
    return [(event["start_ns"], event["end_ns"]) for event in result["timeline"] if event["lane"] == lane]


class StreamingTest(unittest.TestCase):
    def test_first_launch_ends_before_the_last_read_starts(self):
        run = pipeline.Run("resnet50", "--policy", "always-next", "--placement", "buffer")
        result = run.measured("--throttle-disk", "40MB/s")
        first_launch_end = min(end for _, end in intervals(result, "gpu"))
        last_read_start = max(start for start, _ in intervals(result, "disk"))
        self.assertLess(first_launch_end, last_read_start)

    def test_streaming_needs_less_memory_than_preloading(self):
        peaks = {}
        for policy in ("preload", "always-next", "same-op-type"):
            run = pipeline.Run("resnet50", "--policy", policy, "--placement", "buffer")
            classes = run.measured()["memory"]["by_class"]
            peaks[policy] = classes["preloaded"] + classes["um_in_flight"] + classes["tm_in_flight"]
        self.assertLess(peaks["always-next"], peaks["preload"] / 2)
        self.assertLess(peaks["same-op-type"], peaks["preload"])


if __name__ == "__main__":
    unittest.main()
