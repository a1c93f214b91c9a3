"""The validation ledger: its verdicts, what it reads off curves, and some figures simulated."""

import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis/validation"))

import curves  # noqa: E402
import ledger  # noqa: E402
import ledger_page  # noqa: E402
import sensitivity  # noqa: E402

CHASE = {
    "unit": "ns/hop",
    "points": [{"axes": {"footprint": size, "stride": 16}, "value": value}
               for size, value in ((512, 10.0), (1024, 12.0), (2048, 40.0))],
    "levels": [{"stride": 16, "plateaus": [{"first": 512, "last": 1024, "nanoseconds": 11.0}],
                "knees": [{"capacity": 1024, "line": 32}]}],
}
RUN = {"clock_hz": 5e8, "cores": 4,
       "curves": {"chase": CHASE,
                  "bytes": {"unit": "B/ns", "points": [{"axes": {"width": 4}, "value": 8.0},
                                                       {"axes": {"width": 8}, "value": 8.0}]},
                  "texels": {"unit": "texel/clk", "points": [{"axes": {"texel": 16}, "value": 2.0}]},
                  "steps": {"unit": "ns/round",
                            "points": [{"axes": {"threads": threads}, "value": value}
                                       for threads, value in ((1, 5.0), (16, 5.0), (17, 10.0))]}}}


class Reading(unittest.TestCase):
    def read(self, unit, **take):
        return curves.read(RUN, take, unit)

    def test_takes_points_and_means(self):
        self.assertEqual(self.read("ns", curve="chase", at={"footprint": 2048}), 40)
        self.assertEqual(self.read("ns", curve="chase", at={"footprint": [512, 1024]}), 11)
        with self.assertRaises(curves.Absent):
            self.read("ns", curve="chase", at={"footprint": 4096})

    def test_takes_levels(self):
        self.assertEqual(self.read("B", curve="chase", stride=16, knee=0, of="line"), 32)
        self.assertEqual(self.read("B", curve="chase", stride=16, plateau=0, of="first"), 512)
        with self.assertRaisesRegex(curves.Absent, "1024"):
            self.read("B", curve="chase", stride=16, knee=1, of="capacity")

    def test_takes_differences_and_ratios(self):
        self.assertEqual(self.read("ns", curve="chase", at={"footprint": 2048},
                                   minus={"footprint": 512}), 30)
        # As many bytes a second in accesses twice as large: an access takes twice as long.
        self.assertEqual(self.read("ratio", curve="bytes", at={"width": 4}, scale=2,
                                   over={"curve": "bytes", "at": {"width": 8}}), 2)

    def test_takes_the_last_value_before_a_step(self):
        self.assertEqual(self.read("work-items", curve="steps", step_after="threads"), 16)

    def test_converts(self):
        self.assertEqual(self.read("B/clk/core", curve="bytes", at={"width": 4}), 4)
        self.assertEqual(self.read("GB/s", curve="texels", at={"texel": 16}), 16)
        self.assertEqual(self.read("B/clk/core", curve="texels", at={"texel": 16}), 8)


class FakeSimulator:
    def curves(self, *_):
        return RUN


class Verdicts(unittest.TestCase):
    def row(self, value, tolerance=5, **more):
        device = {"config": "phone", "tolerance": tolerance}
        figure = {"name": "hop", "unit": "ns", "value": value, "source": "s", "kind": "predicted",
                  "take": {"curve": "chase", "at": {"footprint": 2048}}, **more}
        return ledger.row_of(FakeSimulator(), device, figure, {"s": "a paper"})

    def test_within_tolerance(self):
        self.assertEqual(self.row(40).verdict, "within")
        self.assertEqual(self.row(38.5).verdict, "within")
        self.assertFalse(self.row(38.5).fails)

    def test_a_deviation_must_be_listed(self):
        self.assertTrue(self.row(32).fails)
        listed = self.row(32, known_deviation={"percent": 25, "reason": "because"})
        self.assertEqual((listed.verdict, listed.reason), ("known deviation", "because"))

    def test_a_listed_deviation_must_still_be_there(self):
        self.assertIn("no longer", self.row(40, known_deviation={"percent": 25, "reason": ""}).verdict)
        self.assertTrue(self.row(32, known_deviation={"percent": 40, "reason": ""}).fails)

    def test_exact_figures_allow_nothing(self):
        self.assertTrue(self.row(39.9, tolerance=0).fails)
        self.assertFalse(self.row(40, tolerance=0).fails)

    def test_absence_is_a_difference(self):
        take = {"curve": "chase", "stride": 16, "knee": 1, "of": "capacity"}
        self.assertTrue(self.row(2048, take=take).fails)
        known = {"percent": "absent", "reason": "no such cache"}
        self.assertFalse(self.row(2048, take=take, known_deviation=known).fails)
        self.assertTrue(self.row(40, known_deviation=known).fails)

    def test_the_page_shows_every_row(self):
        rows = [self.row(40), self.row(32)]
        text = "\n".join(ledger_page.device_section(rows))
        self.assertIn("1 of 2 figures within tolerance", text)
        self.assertIn("+25.0 %", text)
        self.assertIn("a paper", text)


class Figures(unittest.TestCase):
    def test_every_figure_names_a_recorded_benchmark(self):
        recorded = {path.stem for path in (ROOT / "traces/microbench").glob("*.trace")}
        for device in ledger.load()["devices"]:
            for figure in device["figures"]:
                self.assertLessEqual(ledger.benchmarks_of(figure), recorded)

    def test_image_latencies_of_two_devices(self):
        simulator = curves.Simulator(pathlib.Path(os.environ["FM_BIN"]) / "fmsim")
        data = ledger.load()
        for device in data["devices"][:2]:
            device["figures"] = [figure for figure in device["figures"]
                                 if ledger.benchmarks_of(figure) == {"pointer_chase_image"}]
            rows = ledger.rows_of(simulator, data, device)
            self.assertGreater(len(rows), 5)
            self.assertEqual([row for row in rows if row.fails], [])

    def test_assumed_numbers_are_found(self):
        keys = sensitivity.assumed_keys(pathlib.Path(os.environ["FM_BIN"]) / "fmsim", "adreno-750")
        self.assertIn("gpu.arithmetic_latency", keys)
        self.assertNotIn("texture.cache_size", keys)


if __name__ == "__main__":
    unittest.main()
