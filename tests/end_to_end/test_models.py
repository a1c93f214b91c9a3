"""Each network through plan, OpenCL run, trace and simulation; outputs equal to ONNX Runtime's."""

import collections
import json
import unittest

import yaml

from tests.end_to_end import pipeline


class SimulatedTotals:
    """What the simulator saw equals what an independent script computes from the ONNX graph."""

    @staticmethod
    def check(test, run):
        source, shape = pipeline.MODELS[run.model]
        totals = json.loads(pipeline.reference_tool("onnx_totals.py", run.onnx, *shape).stdout)
        result = run.simulated()
        test.assertEqual(sum(launch["macs"] for launch in result["launches"]), totals["macs"])
        plan = yaml.load(run.plan.read_text(), Loader=yaml.CSafeLoader)
        test.assertEqual(len(result["launches"]), len(plan["launches"]))
        # The parts of a weight that was split are launches of one operator.
        operators = {(launch["operation"], *launch.get("nodes", [launch["id"]]))
                     for launch in plan["launches"]}
        by_operation = collections.Counter(operation for operation, *_ in operators)
        # Attention is two products and a softmax in one launch.
        by_operation["MatMul"] += 2 * by_operation["Attention"]
        by_operation["Softmax"] += by_operation["Attention"]
        for operation, count in totals["compute_launches"].items():
            test.assertEqual(by_operation[operation], count, operation)
        if totals["packed_half_bytes"] is not None:  # null: folding decides, and so no rule can
            weight_bytes = sum(launch["weight_bytes"] for launch in result["launches"])
            test.assertEqual(weight_bytes, totals["packed_half_bytes"])
        for law in result["checks"]:
            test.assertEqual(law["left"], law["right"], law["law"])
        return totals


class VitTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = pipeline.Run("vit", "--placement", "buffer")

    def test_simulated_launches_weights_and_macs_equal_the_graphs(self):
        totals = SimulatedTotals.check(self, self.run_)
        self.assertIsNotNone(totals["packed_half_bytes"])

    def test_trace_is_small(self):
        self.assertLessEqual(self.run_.trace.stat().st_size, 5_000_000)


class OtherModelsTest(unittest.TestCase):
    def test_resnet50_streamed_in_images(self):
        SimulatedTotals.check(self, pipeline.Run("resnet50", "--placement", "image2d", "--policy", "always-next"))

    def test_gpt_neo_small_reads_rows_of_its_tied_embedding(self):
        run = pipeline.Run("gpt-neo-small", "--policy", "always-next")
        # Its start only: the whole takes minutes.
        for law in run.simulated("--launches", "0:16")["checks"]:
            self.assertEqual(law["left"], law["right"], law["law"])

    def test_ocr_detector(self):
        SimulatedTotals.check(self, pipeline.Run("ocr-det", "--placement", "auto", "--policy", "same-op-type"))

    def test_ocr_classifier_twice_the_same(self):
        run = pipeline.Run("ocr-cls", config="adreno-750")
        SimulatedTotals.check(self, run)
        self.assertEqual(run.simulated(), run.simulated())

    def test_single_precision_storage(self):
        for model in ("ocr-cls", "ocr-det"):
            pipeline.Run(model, "--storage", "f32", "--placement", "buffer").measured()


if __name__ == "__main__":
    unittest.main()
