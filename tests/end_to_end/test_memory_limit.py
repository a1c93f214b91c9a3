"""A streamed run finishes, with the same output, in less memory than its weights take; a preloaded one does not."""

import unittest

import numpy as np

from bench.memory_limit import NotAvailable, run_in_group
from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import classifier, products, save

CONFIG = "pocl-host"
WIDTH, LAYERS = 2048, 14
WEIGHTS = LAYERS * WIDTH * WIDTH * 2  # bytes: 112 MiB of halves


class Planned:
    def __init__(self, folder, model, policy):
        self.plan, self.weights = folder / f"{policy}.plan.yaml", folder / f"{policy}.fmw"
        pipeline.tool("fmplan", "--model", model, "--config", CONFIG, "--placement", "buffer", "--policy", policy,
                      "-o", self.plan)
        pipeline.tool("fmplan", "pack", "--plan", self.plan, "--model", model, "-o", self.weights)

    def command(self, output):
        return [pipeline.BIN / "fmexec", "--plan", self.plan, "--weights", self.weights, "--seed", 7,
                "--outputs", output, "-o", "/dev/null"]


def output_of(path):
    file = np.load(path)
    return file[file.files[0]]


class MemoryLimitTest(unittest.TestCase):
    def setUp(self):
        try:
            run_in_group(["true"])
        except NotAvailable as reason:
            self.skipTest(f"no memory limit can be set here: {reason}")
        self.folder = pipeline.temporary_folder(self, "limit")

    def needed_by_any_run(self):
        """Bytes that a run takes whose weights are negligible: OpenCL and its compiler."""
        folder = pipeline.temporary_folder(self, "bare")
        planned = Planned(folder, save(classifier(), folder / "small.onnx"), "preload")
        command = planned.command(folder / "out.npz")
        pipeline.call(*command)  # fills the program cache
        return run_in_group(command).peak

    def test_streams_within_six_tenths_of_the_weights(self):
        bare = self.needed_by_any_run()
        if bare is None:
            self.skipTest("this kernel does not say what a group took")
        model = save(products(layers=LAYERS, width=WIDTH, scale=WIDTH**-0.5), self.folder / "chain.onnx")
        limit = bare + WEIGHTS * 6 // 10
        outputs = {}
        for policy in ("preload", "always-next"):
            planned = Planned(self.folder, model, policy)
            free, limited = (self.folder / f"{policy}.{name}.npz" for name in ("free", "limited"))
            pipeline.call(*planned.command(free))
            run = run_in_group(planned.command(limited), limit)
            outputs[policy] = output_of(free)
            if policy == "preload":
                self.assertTrue(run.killed, f"took {run.peak} of {limit} bytes: {run.stderr}")
                self.assertFalse(limited.exists())
            else:
                self.assertEqual(run.status, 0, run.stderr)
                self.assertLessEqual(run.peak, limit)
                np.testing.assert_array_equal(output_of(limited), outputs[policy])
        self.assertTrue(np.any(outputs["preload"]))
        np.testing.assert_array_equal(outputs["always-next"], outputs["preload"])


if __name__ == "__main__":
    unittest.main()
