"""A trace recorded without weights simulates like that of a run with them."""

import json
import unittest

import numpy as np

from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import classifier, integers, model_of, node, products, save, weight

CONFIG = "mali-g715"


class WeightlessTest(unittest.TestCase):
    def setUp(self):
        self.folder = pipeline.temporary_folder(self, "weightless")

    def planned(self, model, *options):
        onnx, plan, weights = (self.folder / name for name in ("net.onnx", "net.plan.yaml", "net.fmw"))
        save(model, onnx)
        pipeline.tool("fmplan", "--model", onnx, "--config", CONFIG, *options, "-o", plan)
        pipeline.tool("fmplan", "pack", "--plan", plan, "--model", onnx, "-o", weights)
        return plan, weights

    def simulated(self, trace):
        result = trace.with_suffix(".json")
        pipeline.tool("fmsim", "--config", CONFIG, "--trace", trace, "--json", "-o", result)
        return json.loads(result.read_text())

    def recorded(self, model, *options):
        """(trace of a run, trace without weights)"""
        plan, weights = self.planned(model, *options)
        run, alone = self.folder / "run.trace", self.folder / "alone.trace"
        pipeline.tool("fmexec", "--plan", plan, "--weights", weights, "--record", run, "-o", "/dev/null")
        pipeline.tool("fmexec", "--plan", plan, "--record", alone)
        pipeline.tool("fmtrace", "check", alone, "--plan", plan)
        facts = json.loads(pipeline.tool("fmtrace", "info", alone, "--json").stdout)
        self.assertTrue(facts["weightless"])
        return run, alone

    def test_launches_take_as_long_as_those_of_a_run(self):
        for placement in ("image2d", "buffer"):
            with self.subTest(placement=placement):
                run, alone = map(self.simulated, self.recorded(classifier(), "--placement", placement))
                for launch, like in zip(alone["launches"], run["launches"], strict=True):
                    self.assertEqual(launch["id"], like["id"])
                    self.assertEqual(launch["counters"], like["counters"])
                    self.assertEqual(launch["end_ns"] - launch["start_ns"], like["end_ns"] - like["start_ns"])

    def test_streamed_weights_pass_through_the_same_memory(self):
        run, alone = map(self.simulated, self.recorded(products(), "--policy", "always-next"))
        self.assertEqual(alone["memory"]["by_class"], run["memory"]["by_class"])
        self.assertEqual([launch["id"] for launch in alone["launches"]], [launch["id"] for launch in run["launches"]])

    def test_indices_of_an_input_are_taken_from_a_file(self):
        model = model_of([node("Cast", "x", "i", to=7), node("Gather", "table i", "y")], [3],
                         [weight("table", 5, 64)])
        model.graph.input[0].type.tensor_type.elem_type = 7
        plan, _ = self.planned(model, "--placement", "buffer")
        inputs, trace = self.folder / "inputs.npz", self.folder / "net.trace"
        np.savez(inputs, **{"input:x": np.array([4, 0, 4], np.int64)})
        pipeline.tool("fmexec", "--plan", plan, "--record", trace, "--inputs", inputs)
        pipeline.tool("fmtrace", "check", trace)

    def test_constants_that_kernels_index_with_need_the_weights(self):
        model = model_of([node("Gather", "x i", "y", axis=1)], [2, 64, 8], [integers("i", 5, 3, 60, 7)])
        plan, weights = self.planned(model, "--placement", "buffer")
        trace = self.folder / "net.trace"
        refused = pipeline.tool("fmexec", "--plan", plan, "--record", trace, status=2)
        self.assertIn("--weights", refused.stderr)
        self.assertFalse(trace.exists())
        pipeline.tool("fmexec", "--plan", plan, "--weights", weights, "--record", trace)

    def test_nothing_that_needs_a_run(self):
        plan, _ = self.planned(classifier())
        for option in (["--repeat", 2], ["--verify", "x.npz"], ["--json"], ["--profile"]):
            refused = pipeline.tool("fmexec", "--plan", plan, "--record", self.folder / "t.trace", *option, status=2)
            self.assertIn(f"{option[0]} needs --weights", refused.stderr)
        refused = pipeline.tool("fmexec", "--plan", plan, status=2)
        self.assertIn("--weights is missing", refused.stderr)


if __name__ == "__main__":
    unittest.main()
