"""Tables 1 and 6 and the constants taken from the paper, of facts small enough to work out by hand."""

import unittest

from paper_case import PHONE, ROOT, rows_of, text_of
from sections import table1, table6, taken_constants


class TablesOneAndSixTest(unittest.TestCase):
    def test_networks_beside_the_papers(self):
        found = {("ViT", PHONE, "counts"): {"parameters": 103e6, "macs": 42e9, "nodes": 819, "launches": 91}}
        self.assertEqual(rows_of(table6.SECTION, found), [["ViT", "103", "103.0", "21", "42.0", "819", "819", "91"]])
        self.assertIn("Multiply-accumulates: 1 network: MAPE 100%, 2.00 of", text_of(table6.SECTION, found))

    def test_parameters_are_those_of_the_models(self):
        counts = table6.counted(ROOT / "models/resnet50.onnx", 0)
        self.assertEqual((counts["parameters"], counts["nodes"]), (25_610_152, 175))

    def test_mnn_is_said_not_to_be_simulated(self):
        found = {("GPTN-S", PHONE, "preload"): {"integrated_ms": 242.0, "exec_ms": 60.0, "startup_ms": 150.0, "peak_bytes": 281e6,
                                                "average_bytes": 137e6}}
        self.assertEqual(rows_of(table1.SECTION, found),
                         [["GPTN-S", "631 + 2898", "182 + 0", "150", "337", "60", "1026", "281", "610", "137"]])
        self.assertIn("- Average memory beside MNN's: 1 network: MAPE 78%, 0.22 of", text_of(table1.SECTION, found))  # 137 of 610 MB
        self.assertIn("MNN is not simulated", text_of(table1.SECTION, found))


class TakenConstantsTest(unittest.TestCase):
    def test_constants_that_cite_the_paper_and_those_that_follow_them(self):
        explained = """\
host.program_load = 5 ms
    of one program (0 ps to 60 s)
    assumed: FlashMem, arXiv 2602.15379 Table 7: 300 ms over 60 programs
    from base/mobile.yaml:129

energy.static_gpu = 250 mW
    GPU and L2, on
    assumed: a tenth of arXiv 2602.15379 Table 9
    from base/mobile.yaml:1

energy.static_cpu = 100 mW
    CPU, on
    assumed: as static_gpu, a fifth
    from base/mobile.yaml:2

gpu.cores = 12
    cores
    spec: Mesa
    from adreno-750.yaml:10
"""
        found = taken_constants.taken(explained, "2602.15379")
        self.assertEqual([path for path, *_ in found], ["host.program_load", "energy.static_gpu", "energy.static_cpu"])
        rows = rows_of(taken_constants.SECTION, {("", PHONE, "constants"): found})
        self.assertEqual(rows[0][:3], ["`host.program_load`", "5 ms", "of one program"])


if __name__ == "__main__":
    unittest.main()
