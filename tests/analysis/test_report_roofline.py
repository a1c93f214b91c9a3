"""Roofs from the config and places from the launches agree with what fmsim itself says of each launch."""

import unittest

from report_case import Page, WithFolder  # first: it finds the report's modules
from sample_result import sample_result
from test_report_hierarchy import simulated

import roofline


def half_precision():
    """A made-up result of a device with round numbers, whose FMAs took the energy of half precision."""
    result = sample_result(6)
    result["config"] = {"gpu": {"cores": 2, "clock": "1 GHz", "fma_per_clock": 50, "fp16_ratio": 2},
                        "dram": {"channels": 4, "channel_width_bits": 16, "data_rate": "1000 MT/s"},
                        "energy": {"fma": "1 pJ", "fma_half": "0.4 pJ", "dram_read_bit": "5 pJ"}}
    result["counters"]["core.operations.fma"] = {"value": 1e6, "unit": "operations", "description": ""}
    result["energy"]["by_component"]["alu_fma"] = 400.0  # nJ: 0.4 pJ each
    return result


class Roofs(WithFolder):
    def test_lowest_roof_is_what_fmsim_found_attainable(self):
        for config, trace in (("mali-g715", "bandwidth_buffer"), ("adreno-750", "occupancy")):
            result = simulated(config, trace)
            peak, memory = roofline.peak_flops(result), roofline.bandwidths(result)
            placed = [launch for launch in result["launches"] if launch.get("roofline", {}).get("flops")]
            self.assertTrue(placed, trace)
            for launch in placed:
                place = launch["roofline"]
                lowest = min(peak, *(value * memory[level] for level, value in place["intensity"].items()))
                self.assertAlmostEqual(lowest * 1e-9 / place["attainable_gflops"], 1, places=9)

    def test_half_precision_doubles_the_peak(self):
        result = half_precision()
        self.assertEqual(roofline.peak_flops(result), 2 * 2 * 1e9 * 50 * 2)
        result["energy"]["by_component"]["alu_fma"] = 1000.0
        self.assertEqual(roofline.peak_flops(result), 2 * 2 * 1e9 * 50)
        self.assertEqual(roofline.bandwidths(result), {"dram": 8e9})

    def test_marks_and_corners(self):
        result = half_precision()
        traces = {trace["meta"]: trace for trace in Page(self.page(result)).figures["roofline"]["data"]}
        self.assertEqual(traces["roof dram"]["x"][1], 4e11 / 8e9)
        self.assertEqual(traces["roof dram"]["y"][1:], [400, 400])
        placed = {launch["id"]: launch["roofline"] for launch in result["launches"] if "roofline" in launch}
        self.assertEqual(set(traces["dram"]["customdata"]), set(placed))
        for launch, x, y in zip(traces["dram"]["customdata"], traces["dram"]["x"], traces["dram"]["y"]):
            self.assertEqual((x, y), (placed[launch]["intensity"]["dram"], placed[launch]["achieved_gflops"]))

    def test_energy_arch_and_marks(self):
        result = half_precision()
        traces = {trace["meta"]: trace for trace in Page(self.page(result)).figures["energy-roofline"]["data"]}
        for x, y in zip(traces["roof"]["x"], traces["roof"]["y"]):
            self.assertAlmostEqual(y, 1e-9 / (0.2e-12 + 40e-12 / x), places=6)
        launches = {launch["id"]: launch for launch in result["launches"]}
        for launch, y in zip(traces["launches"]["customdata"], traces["launches"]["y"], strict=True):
            launch = launches[launch]
            self.assertEqual(y, launch["roofline"]["flops"] / launch["energy"]["total_nj"])

    def test_only_the_longest_launches_are_drawn_and_it_is_said(self):
        result = half_precision()
        result["launches"] = sample_result(1600)["launches"]
        shown = Page(self.page(result))
        drawn = next(trace for trace in shown.figures["roofline"]["data"] if trace["meta"] == "dram")["customdata"]
        placed = sorted((launch for launch in result["launches"] if "roofline" in launch),
                        key=lambda launch: launch["start_ns"] - launch["end_ns"])
        self.assertEqual(drawn, [launch["id"] for launch in placed[:600]])
        self.assertIn("the 600 longest launches", shown.words)

    def test_results_without_roofs_have_no_roofline(self):
        result = sample_result(6)  # its config has no rates
        self.assertFalse({"roofline", "energy-roofline"} & set(Page(self.page(result)).figures))
        result = half_precision()
        for launch in result["launches"]:
            launch.pop("energy")
        self.assertEqual({"roofline", "energy-roofline"} & set(Page(self.page(result)).figures), {"roofline"})


if __name__ == "__main__":
    unittest.main()
