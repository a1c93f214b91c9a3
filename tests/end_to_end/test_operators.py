"""Every operator form the planner knows, through plan, pack and run, against ONNX Runtime.

In fp32 storage, so that the bar is a relative error of 1e-5; in buffers and in images, the latter
streamed, on a device whose images hold only 2048 x 2048 texels.
"""

import pathlib
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime

from tests.end_to_end import operator_cases, pipeline

OPTIONS = {"buffer": ("--placement", "buffer", "--policy", "preload"),
           "image2d": ("--placement", "image2d", "--policy", "always-next")}


def small_config(folder):
    """A device whose images hold 2048 x 2048 texels."""
    limit = '{value: 2048, source: assumed, cite: "smallest image a test can fill"}'
    path = folder / "small.yaml"
    path.write_text("schema: 1\nname: small\ndescription: small images\nbase: mali-g715\n"
                    f"limits:\n  image_width: {limit}\n  image_height: {limit}\n")
    return path


def write_reference(model, onnx_path, path):
    """Random inputs and ONNX Runtime's outputs, as fmexec --verify reads them."""
    session = onnxruntime.InferenceSession(str(onnx_path), providers=["CPUExecutionProvider"])
    feeds = {}
    for value in model.graph.input:
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        feeds[value.name] = operator_cases.floats(*dims)
    arrays = {f"input:{name}": array for name, array in feeds.items()}
    for value, array in zip(model.graph.output, session.run(None, feeds)):
        arrays[f"output:{value.name}"] = array
    np.savez(path, **arrays)


class OperatorsTest(unittest.TestCase):
    def check(self, make, placement):
        with tempfile.TemporaryDirectory(prefix="flashmem-operators-") as name:
            folder = pathlib.Path(name)
            onnx_path, reference = folder / "case.onnx", folder / "ref.npz"
            plan, weights = folder / "plan.yaml", folder / "model.fmw"
            model = make().proto()
            onnx.save(model, onnx_path)
            write_reference(model, onnx_path, reference)
            pipeline.tool("fmplan", "--model", onnx_path, "--config", small_config(folder),
                          "--storage", "f32", *OPTIONS[placement], "-o", plan)
            pipeline.tool("fmplan", "pack", "--plan", plan, "--model", onnx_path, "-o", weights)
            pipeline.tool("fmexec", "--plan", plan, "--weights", weights, "--verify", reference)


def add_cases():
    for name, make in operator_cases.CASES.items():
        for placement in OPTIONS:
            def test(self, make=make, placement=placement):
                self.check(make, placement)
            setattr(OperatorsTest, f"test_{name}_in_{placement}", test)


add_cases()

if __name__ == "__main__":
    unittest.main()
