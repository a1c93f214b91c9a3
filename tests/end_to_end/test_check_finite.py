"""fmexec --check-finite names the launch that computes the first value that is no finite number."""

import unittest

import numpy as np
from onnx import helper, numpy_helper

from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import model_of, node, products, save

CONFIG = "mali-g715"
DIFFERS, USER = 4, 2


def constant(name, values):
    return numpy_helper.from_array(np.asarray(values, dtype=np.float32), name)


def growing(layers=4, width=16, factor=32.0):
    """x of ones times factor * identity, `layers` times: factor, factor^2, ..; fp16 ends before 32^4."""
    nodes = [node("MatMul", f"{'x' if i == 0 else f'h{i - 1}'} w{i}", "y" if i == layers - 1 else f"h{i}")
             for i in range(layers)]
    return model_of(nodes, [4, width],
                    [constant(f"w{i}", factor * np.eye(width)) for i in range(layers)])


def masked(mask):
    """Softmax of scores, some of which a mask of this much is added to."""
    values = np.zeros((4, 4))
    values[0, 2:] = mask
    return model_of([node("MatMul", "x w", "s"), node("Add", "s m", "a"), node("Softmax", "a", "y", axis=-1)],
                    [4, 4], [constant("w", np.eye(4)), constant("m", values)])


class CheckFinite(unittest.TestCase):
    def setUp(self):
        self.folder = pipeline.temporary_folder(self, "finite")

    def checked(self, model, x, *options, status=0, more=()):
        """The finished fmexec --check-finite of the model on x."""
        onnx, plan, weights = (self.folder / name for name in ("net.onnx", "net.plan.yaml", "net.fmw"))
        save(model, onnx)
        pipeline.tool("fmplan", "--model", onnx, "--config", CONFIG, *options, "-o", plan)
        pipeline.tool("fmplan", "pack", "--plan", plan, "--model", onnx, "-o", weights)
        np.savez(self.folder / "in.npz", **{"input:x": np.asarray(x, dtype=np.float32)})
        done = pipeline.tool("fmexec", "--plan", plan, "--weights", weights, "--inputs", self.folder / "in.npz",
                             "--check-finite", *more, status=status)
        self.assertEqual(status == DIFFERS, "fmexec: error: " in done.stderr, done.stderr)
        return done

    def test_overflow_of_f16_is_found_in_its_launch_and_gone_in_f32(self):
        for options in (["--placement", "image2d"], ["--placement", "buffer"],
                        ["--placement", "image2d", "--policy", "always-next"]):
            with self.subTest(options=options):
                said = self.checked(growing(5), np.ones((4, 16)), *options, status=DIFFERS).stderr
                for words in ("of node `h3_node`", "tensor `h3`, inf at [0, 0] (64 of 64 values)",
                              "finite, at most 32768 (tensor `h2`)", "fmplan --storage f32"):
                    self.assertIn(words, said)
                done = self.checked(growing(5), np.ones((4, 16)), *options, "--storage", "f32")
                self.assertRegex(done.stdout, r"finite +\d+ launches, values up to 3.35544e\+07 \(`y` of launch L")

    def test_negative_overflow(self):
        x = np.zeros((4, 16))
        x[1, 3] = -1
        said = self.checked(growing(5), x, status=DIFFERS).stderr
        self.assertIn("tensor `h3`, -inf at [1, 3] (1 of 64 values)", said)
        # Outputs are stored in single precision: the fourth product fits there.
        self.checked(growing(4), x)

    def test_input_that_is_no_number_is_named(self):
        x = np.ones((4, 16))
        x[2, 5] = np.nan
        said = self.checked(growing(2), x, status=DIFFERS).stderr
        self.assertIn("note: input `x` holds nan at [2, 5] (1 of 64 values)", said)
        self.assertIn("of node `h0_node`", said)
        self.assertIn("It reads such values: input `x` holds nan at [2, 5]", said)

    def test_input_beyond_f16(self):
        said = self.checked(growing(2), np.full((4, 16), 1e5), status=DIFFERS).stderr
        self.assertIn("tensor `x`, inf at [0, 0]", said)
        self.assertIn("finite, at most 100000 (input `x`)", said)
        self.checked(growing(2), np.full((4, 16), 1e5), "--storage", "f32")

    def test_weight_that_is_no_number_is_named(self):
        model = growing(3)
        values = 2 * np.eye(16)
        values[7, 8] = np.nan
        model.graph.initializer[1].CopyFrom(constant("w1", values))
        said = self.checked(model, np.ones((4, 16)), status=DIFFERS).stderr
        self.assertIn("note: weight `w1` holds nan at [7, 8]", said)
        self.assertIn("of node `h1_node`", said)
        self.assertIn("weight `w1` holds nan", said)

    def test_infinite_masks_are_noted_and_no_error(self):
        x = np.arange(16).reshape(4, 4) / 4
        for storage in ("f16", "f32"):
            done = self.checked(masked(-np.inf), x, "--storage", storage)
            self.assertIn("note: weight `m` holds -inf at [0, 2] (2 of 16 values)", done.stderr)

    def test_overflow_beside_a_mask_is_still_one(self):
        x = np.zeros((4, 4))
        x[3, 1] = 6e4
        model = masked(-np.inf)
        model.graph.initializer[0].CopyFrom(constant("w", 2 * np.eye(4)))
        self.assertIn(" inf at [3, 1] (1 of 16 values)", self.checked(model, x, status=DIFFERS).stderr)

    def test_parts_of_a_concatenation_are_looked_at_once_written(self):
        nodes = [node("Relu", "x", "a"), node("MatMul", "x w", "b"), node("Sigmoid", "b", "c"),
                 helper.make_node("Concat", ["a", "c", "x"], ["j"], name="j_node", axis=1),
                 node("MatMul", "j v", "y")]
        model = model_of(nodes, [4, 16], [constant("w", np.eye(16)), constant("v", np.ones((48, 8)))])
        for placement in ("image2d", "buffer"):
            self.checked(model, np.ones((4, 16)), "--placement", placement)

    def test_checking_changes_no_output(self):
        x = np.random.default_rng(1).standard_normal((8, 256))
        self.checked(products(), x, "--policy", "always-next", more=["--outputs", self.folder / "a.npz"])
        pipeline.tool("fmexec", "--plan", self.folder / "net.plan.yaml", "--weights", self.folder / "net.fmw",
                      "--inputs", self.folder / "in.npz", "--outputs", self.folder / "b.npz")
        with np.load(self.folder / "a.npz") as a, np.load(self.folder / "b.npz") as b:
            np.testing.assert_array_equal(a["output:y"], b["output:y"])

    def test_excludes_recording_and_repeating(self):
        for options in (["--record", self.folder / "r.trace"], ["--repeat", "2"], ["--warmup", "1"]):
            said = pipeline.tool("fmexec", "--plan", "p", "--weights", "w", "--check-finite", *options, status=USER)
            self.assertIn("leave out --record, --repeat and --warmup", said.stderr)


if __name__ == "__main__":
    unittest.main()
