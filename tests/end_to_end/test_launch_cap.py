"""fmexec --launch-cap: launches in ranges of work-groups compute what whole ones do."""

import os
import re
import unittest

import numpy as np

from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import classifier, model_of, node, save, weight

USER = 2
LAYER = pipeline.BIN / "libopencl_faults.so"


def heads():
    """An attention, whose kernels ask for their groups."""
    nodes = [node("MatMul", "q k", "s"), node("Softmax", "s", "p", axis=-1), node("MatMul", "p v", "o"),
             node("MatMul", "o w", "y")]
    weights = [weight("a", 64, 64), weight("b", 64, 64), weight("c", 64, 64), weight("w", 64, 64)]
    before = [node("MatMul", "x a", "q"), node("MatMul", "x b", "t"), node("Transpose", "t", "k", perm=[0, 2, 1]),
              node("MatMul", "x c", "v")]
    return model_of(before + nodes, [2, 96, 64], weights)


def tall(layers=3, width=128, rows=256):
    """Products of many rows, so of many work-groups."""
    nodes = [node("MatMul", f"{'x' if i == 0 else f'h{i - 1}'} w{i}", "y" if i == layers - 1 else f"h{i}")
             for i in range(layers)]
    return model_of(nodes, [rows, width], [weight(f"w{i}", width, width, seed=i) for i in range(layers)])


def image(side=48):
    nodes = [node("Conv", "x k", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "r"), node("MaxPool", "r", "y",
                                                                                    kernel_shape=[2, 2])]
    return model_of(nodes, [1, 3, side, side], [weight("k", 8, 3, 3, 3)])


class LaunchCap(unittest.TestCase):
    def setUp(self):
        self.folder = pipeline.temporary_folder(self, "cap")
        self.plan, self.weights, self.inputs = (self.folder / name for name in ("p.yaml", "w.fmw", "in.npz"))

    def prepare(self, model, *options):
        onnx = save(model, self.folder / "m.onnx")
        pipeline.tool("fmplan", "--model", onnx, "--config", "adreno-750", *options, "-o", self.plan)
        pipeline.tool("fmplan", "pack", "--plan", self.plan, "--model", onnx, "-o", self.weights)

    def run_with(self, cap, *options):
        """(report, outputs, enqueued kernels) of a run with this cap."""
        outputs, counts = self.folder / f"{cap}.npz", self.folder / f"{cap}.counts"
        done = pipeline.tool("fmexec", "--plan", self.plan, "--weights", self.weights, "--seed", 3, "--launch-cap", cap,
                             "--outputs", outputs, *options,
                             env={"OPENCL_LAYERS": str(LAYER), "FM_FAULT_COUNTS": str(counts)})
        with np.load(outputs) as arrays:
            values = {name: arrays[name] for name in arrays.files}
        return done.stdout, values, int(re.search(r"clEnqueueNDRangeKernel (\d+)", counts.read_text())[1])

    def test_slices_compute_what_the_whole_does(self):
        for model, options in ((image(), ["--placement", "image2d"]), (heads(), ["--placement", "image2d"]),
                               (heads(), ["--placement", "buffer", "--storage", "f32"]),
                               (tall(layers=5, width=256), ["--placement", "image2d", "--policy", "lc-opg"]),
                               (tall(), ["--placement", "image2d", "--policy", "always-next"])):
            with self.subTest(options=options):
                self.prepare(model, *options)
                if "lc-opg" in options:
                    self.assertIn("STREAMS", self.plan.read_text())
                _, whole, launches = self.run_with("none")
                said, split, slices = self.run_with("1us")
                self.assertGreater(slices, launches)
                told = re.search(r"launch cap +(\d+) launches in (\d+) slices", said)
                self.assertEqual(slices, launches - int(told[1]) + int(told[2]))
                for name in whole:
                    np.testing.assert_array_equal(split[name], whole[name])

    def test_slices_are_one_launch_of_the_trace(self):
        self.prepare(tall(layers=5, width=256), "--placement", "image2d", "--policy", "lc-opg")
        trace = self.folder / "t.trace"
        self.run_with("1us", "--record", trace, "--repeat", "2")
        pipeline.tool("fmtrace", "check", trace, "--plan", self.plan)

    def test_checked_kernels_are_split_too(self):
        self.prepare(heads(), "--placement", "buffer")
        said, _, _ = self.run_with("1us", "--check-bounds")
        self.assertIn("no access outside its tensor", said)
        self.assertIn("slices", said)

    def test_a_cap_that_nothing_reaches_splits_nothing(self):
        self.prepare(classifier(), "--placement", "buffer")
        said, _, launches = self.run_with("10s")
        self.assertNotIn("launch cap", said)
        self.assertEqual(launches, self.run_with("none")[2])

    def test_gpus_have_one_unasked(self):
        self.prepare(classifier(), "--placement", "buffer")
        cache = os.environ.get("POCL_CACHE_DIR") or os.path.expanduser(
            os.environ.get("XDG_CACHE_HOME", "~/.cache") + "/pocl/kcache")
        for kind, name in ((2, "cpu"), (4, "gpu")):
            env = {"OPENCL_LAYERS": str(LAYER), "XDG_CACHE_HOME": str(self.folder / name), "POCL_CACHE_DIR": cache,
                   "FM_FAULT_FACTS": f"CL_DEVICE_TYPE={kind}", "FM_FAULT_BUILD": "-DFM_SLICED"}
            done = pipeline.call(pipeline.BIN / "fmexec", "--plan", self.plan, "--weights", self.weights, env=env,
                                 status=None)
            self.assertEqual("-DFM_SLICED" in done.stderr, name == "gpu", done.stderr)

    def test_what_is_no_time_is_refused(self):
        for cap in ("0", "-1ms", "5", "1ns", "1e30s", "soon", ""):
            done = pipeline.tool("fmexec", "--plan", "p", "--weights", "w", f"--launch-cap={cap}", status=USER)
            self.assertIn("--launch-cap", done.stderr, cap)


if __name__ == "__main__":
    unittest.main()
