"""Rooflines by operating point, worked out by hand."""

import unittest

from paper_case import rows_of
from sections import operating_points
from effective_config import EffectiveConfig


CONFIG = EffectiveConfig("""gpu.cores = 2
gpu.fma_per_clock = 10
gpu.fp16_ratio = 2
gpu.clock = 1 GHz
dram.channels = 4
dram.data_rate = 5000 MT/s
energy.fma_half = 2 pJ
energy.dram_read_bit = 5 pJ
energy.static_gpu = 200 mW
energy.static_memory = 100 mW
energy.static_cpu = 10 mW
energy.static_storage = 5 mW
""")


class OperatingPointsTest(unittest.TestCase):
    def test_points_of_a_curve(self):
        self.assertEqual(operating_points.points_of("[[0.25, 0.55 V], [1, 0.8 V]]"), [(0.25, 0.55), (1, 0.8)])

    def test_peaks_follow_the_clock_and_energies_the_voltage_squared(self):
        full = operating_points.roofline_of(CONFIG, (1, 1), (1, 1))
        self.assertEqual((full.compute, full.bandwidth, full.balance()), (40, 40, 1))
        self.assertEqual((full.mac_pj, full.byte_pj, full.energy_balance(), full.static_mw), (2, 40, 20, 315))
        half = operating_points.roofline_of(CONFIG, (0.5, 0.5), (1, 1))
        self.assertEqual((half.compute, half.bandwidth, half.mac_pj, half.byte_pj, half.static_mw), (20, 40, 0.5, 40, 215))

    def test_roofs(self):
        full = operating_points.roofline_of(CONFIG, (1, 1), (1, 1))
        self.assertEqual((full.attainable(0.5), full.attainable(8)), (20, 40))
        self.assertAlmostEqual(full.gmac_per_joule(10), 1e3 / (2 + 4 + 315 / 40))

    def test_a_point_is_held_by_a_threshold_that_nothing_passes(self):
        words = operating_points.held_at("gpu", 0.5, 0.6, (1, 0.8))
        self.assertIn("gpu.operating_points=[[0.5, 0.6 V], [1, 0.8 V]]", words)
        self.assertIn("governor.gpu=ramp", words)
        self.assertIn("governor.up_threshold=1", words)
        self.assertIn("governor.dram_up_threshold=1", operating_points.held_at("dram", 0.5, 1, (1, 1.05)))
        self.assertEqual(operating_points.held_at("gpu", 1, 0.8, (1, 0.8)), (), "the run that is there anyway")

    def test_rows(self):
        facts = {"roofline": {"compute": 40, "bandwidth": 40, "mac_pj": 2, "byte_pj": 40, "static_mw": 315}, "volts": 0.8, "share": 1,
                 "exec_ms": 100.0, "exec_mj": 200.0, "clocks_mhz": [903]}
        rows = rows_of(operating_points.SECTION, {("ViT", "gpu", "1"): facts})
        self.assertEqual(rows, [["GPU 903 MHz", "0.8", "40", "40.0", "1.0", "2.00", "40.0", "20", "315", "100.0", "2.00", "200", "20.0"]])


if __name__ == "__main__":
    unittest.main()
