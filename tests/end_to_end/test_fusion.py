"""Fusion decided with the schedule: another plan, the same outputs."""

import json
import unittest

import numpy as np
import onnx
import yaml

from tests.end_to_end import operator_cases, pipeline
from tests.end_to_end.test_operators import write_reference


def residual_stack(layers=6, rows=48, width=512):
    """Products with activations and residual additions: epilogues that can be launches of their own."""
    model = operator_cases.Model()
    value = model.input("x", rows, width)
    random = np.random.default_rng(3)
    for i in range(layers):
        weight = random.standard_normal((width, width)) / np.sqrt(width)
        product = model.node("MatMul", [value, model.weight(f"w{i}", weight.astype(np.float32))])
        value = model.node("Add", [model.node("Relu", [product]), value])
    model.output(value)
    return model.proto()


class FusionTest(unittest.TestCase):
    def setUp(self):
        self.folder = pipeline.temporary_folder(self, "fusion")
        self.onnx, self.reference = self.folder / "stack.onnx", self.folder / "ref.npz"
        model = residual_stack()
        onnx.save(model, self.onnx)
        write_reference(model, self.onnx, self.reference)

    def planned(self, *options, status=0):
        """(plan file, plan, what fmplan said)."""
        path = self.folder / "plan.yaml"
        done = pipeline.tool("fmplan", "--model", self.onnx, "--config", "adreno-750", "--placement",
                             "image2d", "--storage", "f32", *options, "--json", "-o", path, status=status)
        if status:
            return done.stderr
        return path, yaml.safe_load(path.read_text()), json.loads(done.stdout)

    def verify(self, plan):
        weights = self.folder / "model.fmw"
        pipeline.tool("fmplan", "pack", "--plan", plan, "--model", self.onnx, "-o", weights)
        pipeline.tool("fmexec", "--plan", plan, "--weights", weights, "--verify", self.reference)

    def test_splitting_changes_the_plan_and_not_the_outputs(self):
        _, fixed, before = self.planned("--policy", "lc-opg", "--fusion", "fixed")
        path, plan, after = self.planned("--policy", "lc-opg", "--fusion", "adaptive")
        fusion = after["overlap"]["fusion"]
        self.assertGreater(len(fusion["unfused"]), 0)
        self.assertEqual(plan["unfused"], fusion["unfused"])
        self.assertNotIn("unfused", fixed)
        self.assertEqual(after["launches"]["kernels"], before["launches"]["kernels"] + len(fusion["unfused"]))
        self.assertLess(after["overlap"]["lc_opg"]["objective"], before["overlap"]["lc_opg"]["objective"])
        for node in fusion["unfused"]:
            self.assertEqual(sum([node] == launch.get("nodes") for launch in plan["launches"]), 1, node)
        self.verify(path)

    def test_everything_apart_has_the_same_outputs(self):
        path, plan, _ = self.planned("--policy", "always-next", "--fusion", "none")
        self.assertEqual(len(plan["unfused"]), 12)
        self.verify(path)

    def test_what_was_split_is_printed(self):
        text = pipeline.tool("fmplan", "--model", self.onnx, "--config", "adreno-750", "--placement", "image2d",
                             "--storage", "f32", "--policy", "lc-opg", "--fusion", "adaptive", "-o",
                             self.folder / "p.yaml").stdout
        self.assertIn("fusion       adaptive, alpha 0.1:", text)
        for node in yaml.safe_load((self.folder / "p.yaml").read_text())["unfused"]:
            self.assertIn(node, text)

    def test_wrong_usage_says_what_is_right(self):
        for options, words in (
                (("--policy", "preload", "--fusion", "adaptive"), "belongs to --policy lc-opg or optimal"),
                (("--policy", "lc-opg", "--fusion", "fixed", "--alpha", "0.2"), "--alpha belongs to --fusion adaptive"),
                (("--policy", "optimal", "--fusion", "adaptive", "--pareto", "3"), "--pareto"),
                (("--policy", "optimal", "--fusion", "sometimes"), "accepted: "),
                (("--policy", "lc-opg", "--transforms", "kernel"), "kernels")):
            self.assertIn(words, self.planned(*options, status=2))


if __name__ == "__main__":
    unittest.main()
