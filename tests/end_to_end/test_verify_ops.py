"""fmexec --verify-ops compares each launch with ONNX Runtime, and names the one that a driver computes wrongly."""

import os
import re
import unittest

import numpy as np
from onnx import helper

from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import classifier, model_of, node, products, save, weight

DIFFERS, USER = 4, 2
LAYER = pipeline.BIN / "libopencl_faults.so"


def parts():
    """A concatenation that three launches write, and what reads it."""
    nodes = [node("Relu", "x", "a"), node("MatMul", "x w", "b"), node("Sigmoid", "b", "c"),
             helper.make_node("Concat", ["a", "c", "x"], ["j"], name="j_node", axis=1), node("MatMul", "j v", "y")]
    return model_of(nodes, [4, 16], [weight("w", 16, 16), weight("v", 48, 8)])


def reordered():
    """Heads of an attention: the plan stores them in an order of its own."""
    nodes = [node("MatMul", "x w", "p"), node("Reshape", "p s", "r"), node("Transpose", "r", "t", perm=[0, 2, 1, 3]),
             node("Softmax", "t", "u", axis=-1), node("Transpose", "u", "q", perm=[0, 2, 1, 3]),
             node("Reshape", "q z", "f"), node("MatMul", "f v", "y")]
    shapes = [helper.make_tensor("s", 7, [4], [1, 8, 4, 12]), helper.make_tensor("z", 7, [3], [1, 8, 48])]
    return model_of(nodes, [1, 8, 32], [weight("w", 32, 48), weight("v", 48, 16), *shapes])


class VerifyOps(unittest.TestCase):
    def setUp(self):
        self.folder = pipeline.temporary_folder(self, "ops")

    def prepare(self, model, *options):
        self.onnx, self.plan, self.weights, self.reference = (
            self.folder / name for name in ("net.onnx", "net.plan.yaml", "net.fmw", "net.npz"))
        save(model, self.onnx)
        pipeline.tool("fmplan", "--model", self.onnx, "--config", "mali-g715", *options, "-o", self.plan)
        pipeline.tool("fmplan", "pack", "--plan", self.plan, "--model", self.onnx, "-o", self.weights)
        pipeline.reference_tool("ort_reference.py", "--model", self.onnx, "--seed", 4, "--tensors", self.plan,
                                "-o", self.reference)

    def run_ops(self, *options, status=0, reference=None, **faults):
        """The finished run, with a driver that has these faults and kernels compiled anew."""
        env = {"XDG_CACHE_HOME": str(self.folder / f"cache{len(os.listdir(self.folder))}"), **faults}
        if faults:
            env.update(OPENCL_LAYERS=str(LAYER), POCL_CACHE_DIR=os.environ.get("POCL_CACHE_DIR") or os.path.expanduser(
                os.environ.get("XDG_CACHE_HOME", "~/.cache") + "/pocl/kcache"))
        return pipeline.tool("fmexec", "--plan", self.plan, "--weights", self.weights, "--verify-ops",
                             reference or self.reference, *options, status=status, env=env)

    def check_passed(self, done):
        compared, results = map(int, re.search(r"verify-ops +(\d+) of (\d+) results", done.stdout).groups())
        self.assertEqual(compared, results, done.stdout)
        self.assertEqual(len(re.findall(r"relative error .* passed ", done.stdout)), results, done.stdout)
        self.assertNotIn("FAILED", done.stdout)

    def test_right_launches_pass(self):
        streamed = ["--placement", "image2d", "--policy", "always-next"]
        for model, options in ((classifier(), ["--placement", "image2d"]), (parts(), ["--placement", "buffer"]),
                               (parts(), streamed), (reordered(), ["--placement", "image2d"]),
                               (reordered(), ["--storage", "f32"]), (products(), streamed)):
            with self.subTest(model=model.graph.node[0].output[0], options=options):
                self.prepare(model, *options)
                self.check_passed(self.run_ops())

    def test_a_wrong_kernel_is_named_and_no_other(self):
        """The wrong sign of a bias: the launches after it read right values, so they are right."""
        for options in (["--placement", "image2d"], ["--placement", "buffer", "--storage", "f32"]):
            with self.subTest(options=options):
                self.prepare(classifier(), *options)
                done = self.run_ops(status=DIFFERS, FM_FAULT_SOURCE="conv|+ shift;|- shift;")
                self.assertRegex(done.stderr, r"error: launch L1 \(conv, Conv of nodes? `c_node`.*\) is the first of 1 "
                                              r"whose result differs from the host's: tensor `r`, relative error ")
                self.assertEqual(re.findall(r"FAILED `(\w+)`", done.stdout), ["r"])

    def test_a_launch_that_is_lost_is_named(self):
        self.prepare(products(), "--placement", "buffer")
        names = ["h0", "h1", "h2", "y"]
        first = len(re.findall(r" passed ", self.run_ops().stdout)) - len(names)
        for i, name in enumerate(names):
            done = self.run_ops(status=DIFFERS, FM_FAULT_DROP=str(first + i + 1))
            self.assertIn(f"whose result differs from the host's: tensor `{name}`", done.stderr)
            self.assertIn("first of 1 whose", done.stderr)

    def test_a_part_of_a_concatenation_that_is_wrong(self):
        self.prepare(parts(), "--placement", "buffer")
        rows = re.findall(r"(?m)^  (L\d+) +\w+ .*passed `(\w+)`$", self.run_ops().stdout)
        writers = [i for i, (_, tensor) in enumerate(rows) if tensor == "j"]
        self.assertGreaterEqual(len(writers), 2)
        for i in writers:
            done = self.run_ops(status=DIFFERS, FM_FAULT_DROP=str(i + 1))
            self.assertIn("tensor `j`", done.stderr)

    def test_tolerance_decides(self):
        self.prepare(classifier(), "--storage", "f16")
        self.run_ops("--tolerance", "0.1")
        done = self.run_ops("--tolerance", "1e-9", status=DIFFERS)
        self.assertIn("bar 1e-09", done.stderr)

    def test_outputs_are_still_verified_and_unchanged(self):
        self.prepare(classifier(), "--placement", "buffer")
        self.run_ops("--verify", self.reference, "--outputs", self.folder / "a.npz")
        pipeline.tool("fmexec", "--plan", self.plan, "--weights", self.weights, "--verify", self.reference,
                      "--outputs", self.folder / "b.npz")
        with np.load(self.folder / "a.npz") as a, np.load(self.folder / "b.npz") as b:
            np.testing.assert_allclose(a["output:y"], b["output:y"], rtol=2e-3, atol=1e-3)

    def test_a_reference_without_tensors_is_refused(self):
        self.prepare(classifier(), "--placement", "buffer")
        plain = self.folder / "plain.npz"
        pipeline.reference_tool("ort_reference.py", "--model", self.onnx, "--seed", 4, "-o", plain)
        done = self.run_ops(reference=plain, status=USER)
        self.assertIn("has none of the tensors", done.stderr)
        self.assertIn("--tensors PLAN", done.stderr)

    def test_a_tensor_that_is_missing_is_told(self):
        self.prepare(classifier(), "--placement", "buffer")
        with np.load(self.reference) as whole:
            np.savez(self.folder / "part.npz", **{name: whole[name] for name in whole.files if name != "tensor:p"})
        done = self.run_ops(reference=self.folder / "part.npz")
        self.assertRegex(done.stdout, r"reduction .* not compared: the reference has no such tensor `p`")

    def test_a_queue_of_models(self):
        self.plan, self.weights = self.folder / "q.plan.yaml", self.folder / "q.fmw"
        models = [save(products(seed=seed, layers=2), self.folder / f"{name}.onnx")
                  for name, seed in (("a", 1), ("b", 2))]
        pipeline.tool("fmplan", "queue", *models, "--config", "mali-g715", "--budget", "1MiB", "-o", self.plan)
        pipeline.tool("fmplan", "pack", "--plan", self.plan, "--model", models[0], "--model", models[1], "-o",
                      self.weights)
        for model in models:
            pipeline.reference_tool("ort_reference.py", "--model", model, "--seed", 4, "--tensors", self.plan, "-o",
                                    model.with_suffix(".npz"))
        references = [f"{model.stem}={model.with_suffix('.npz')}" for model in models]
        done = self.run_ops("--verify-ops", references[1], reference=references[0])
        self.check_passed(done)
        swapped = [references[0].replace("a.npz", "b.npz"), references[1].replace("b.npz", "a.npz")]
        inputs = [word for reference in references for word in ("--inputs", reference)]
        done = self.run_ops("--verify-ops", swapped[1], *inputs, reference=swapped[0], status=DIFFERS)
        self.assertIn("whose result differs", done.stderr)

    def test_excludes_recording_repeating_and_the_other_check(self):
        for options in (["--record", self.folder / "r.trace"], ["--repeat", "2"], ["--warmup", "1"]):
            said = pipeline.tool("fmexec", "--plan", "p", "--weights", "w", "--verify-ops", "r", *options, status=USER)
            self.assertIn("leave out --record, --repeat and --warmup", said.stderr)
        said = pipeline.tool("fmexec", "--plan", "p", "--weights", "w", "--verify-ops", "r", "--check-finite",
                             status=USER)
        self.assertIn("exclude each other", said.stderr)


if __name__ == "__main__":
    unittest.main()
