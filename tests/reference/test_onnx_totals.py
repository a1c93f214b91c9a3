"""onnx_totals.py on graphs whose totals are known by other means."""

import os
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from model_shapes import bind_shapes, load_static
from onnx_totals import totals

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DETECTOR = os.path.join(ROOT, "tests", "data", "ch_PP-OCRv4_det_infer.onnx")


def floats(name, *dims):
    return numpy_helper.from_array(np.ones(dims, dtype=np.float32), name)


def integers(name, *values):
    return numpy_helper.from_array(np.array(values, dtype=np.int64), name)


def model_of(nodes, input_dims, weights, opset=13):
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, input_dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


class HandMade(unittest.TestCase):
    def test_each_product(self):
        nodes = [
            helper.make_node("Conv", ["x", "k", "b"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]),
            helper.make_node("Conv", ["c", "d"], ["e"], group=6, pads=[1, 1, 1, 1]),
            helper.make_node("ConvTranspose", ["e", "t"], ["u"], strides=[2, 2]),
            helper.make_node("Flatten", ["u"], ["f"]),
            helper.make_node("Gemm", ["f", "g"], ["h"], transB=1),
            helper.make_node("MatMul", ["h", "m"], ["y"]),
        ]
        weights = [floats("k", 6, 3, 3, 3), floats("b", 6), floats("d", 6, 1, 3, 3),
                   floats("t", 6, 4, 2, 2), floats("g", 10, 256), floats("m", 10, 7)]
        result = totals(model_of(nodes, [1, 3, 8, 8], weights))
        macs = [6 * 4 * 4 * 27, 6 * 4 * 4 * 9, 6 * 4 * 4 * 16, 10 * 256, 10 * 7]
        self.assertEqual([node["macs"] for node in result["per_node"]], macs)
        self.assertEqual(result["macs"], sum(macs))
        self.assertEqual(result["macs_by_op"]["Conv"], macs[0] + macs[1])
        self.assertEqual(result["weight_elements"], 162 + 6 + 54 + 96 + 2560 + 70)
        self.assertEqual((result["weight_tensors"], result["nodes"]), (6, 6))

    def test_batched_product_of_activations_has_no_weights(self):
        nodes = [
            helper.make_node("Transpose", ["x"], ["t"], perm=[0, 1, 3, 2]),
            helper.make_node("MatMul", ["x", "t"], ["y"]),
        ]
        result = totals(model_of(nodes, [2, 3, 5, 7], []))
        self.assertEqual(result["macs"], 2 * 3 * 5 * 5 * 7)
        self.assertEqual(result["weight_elements"], 0)

    def test_shape_computation_is_folded_and_is_no_weight(self):
        nodes = [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
            helper.make_node("Concat", ["n", "rest"], ["target"], axis=0),
            helper.make_node("Reshape", ["x", "target"], ["r"]),
            helper.make_node("MatMul", ["r", "w"], ["m"]),
            helper.make_node("Resize", ["m", "", "scales"], ["y"], mode="nearest"),
        ]
        weights = [integers("zero", 0), integers("rest", -1), floats("w", 12, 5),
                   floats("scales", 2)]
        result = totals(model_of(nodes, [4, 3, 2, 2], weights))
        self.assertEqual(result["macs"], 4 * 12 * 5)
        self.assertEqual((result["weight_elements"], result["weight_tensors"]), (60, 1))
        self.assertEqual((result["nodes"], result["data_nodes"]), (6, 3))

    def test_constant_nodes_are_weights_unless_of_one_element(self):
        nodes = [
            helper.make_node("Constant", [], ["w"], value=floats("w", 4, 2)),
            helper.make_node("Constant", [], ["two"], value=floats("two", 1)),
            helper.make_node("Constant", [], ["unread"], value=floats("unread", 9)),
            helper.make_node("MatMul", ["x", "w"], ["m"]),
            helper.make_node("Mul", ["m", "two"], ["y"]),
        ]
        result = totals(model_of(nodes, [3, 4], []))
        self.assertEqual((result["weight_elements"], result["weight_tensors"]), (8, 1))

    def test_a_shared_weight_counts_once(self):
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["m"]),
            helper.make_node("MatMul", ["m", "w"], ["y"]),
        ]
        result = totals(model_of(nodes, [3, 4], [floats("w", 4, 4)]))
        self.assertEqual((result["macs"], result["weight_elements"]), (2 * 3 * 16, 16))

    def test_dynamic_input_is_named(self):
        nodes = [helper.make_node("Relu", ["x"], ["y"])]
        with self.assertRaisesRegex(ValueError, "x: dimension 0 .batch.*--dim"):
            totals(model_of(nodes, ["batch", 3], []))

    def test_binding_by_dimension_name_and_by_input(self):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        for shapes, dims in (((), ("batch=5",)), (("x=5,3",), ())):
            model = bind_shapes(model_of(nodes, ["batch", 3], [floats("w", 3, 2)]), shapes, dims)
            self.assertEqual(totals(model)["macs"], 30)
        with self.assertRaisesRegex(ValueError, "no input q"):
            bind_shapes(model_of(nodes, ["batch", 3], []), ("q=5,3",))
        with self.assertRaisesRegex(ValueError, "no width"):
            bind_shapes(model_of(nodes, ["batch", 3], []), (), ("width=5",))
        with self.assertRaisesRegex(ValueError, "fixed to 3"):
            bind_shapes(model_of(nodes, ["batch", 3], []), ("x=5,4",))


class RealModels(unittest.TestCase):
    def test_vit_equals_the_closed_form(self):
        tokens, width, hidden, heads = 197, 768, 3072, 12
        block = tokens * width * (3 * width + width + 2 * hidden)
        block += 2 * heads * tokens * tokens * (width // heads)
        expected = 196 * width * 3 * 16 * 16 + 12 * block + width * 1000
        result = totals(load_static(os.path.join(ROOT, "models", "vit.onnx")))
        self.assertEqual(result["macs"], expected)
        self.assertEqual(result["weight_elements"], 86567656)

    def test_resnet50_equals_torchvisions_published_count(self):
        result = totals(load_static(os.path.join(ROOT, "models", "resnet50.onnx")))
        self.assertAlmostEqual(result["macs"] / 1e9, 4.089, places=3)

    def test_detector_work_grows_with_the_picture(self):
        small = totals(load_static(DETECTOR, ("x=1,3,320,320",)))
        large = totals(load_static(DETECTOR, ("x=1,3,640,640",)))
        self.assertEqual(small["weight_elements"], large["weight_elements"])
        # All products scale with the area but those of the squeeze branches, which see one pixel.
        squeeze = sum(n["macs"] for n in small["per_node"] if n["output"][2:] == [1, 1])
        self.assertEqual(large["macs"] - squeeze, 4 * (small["macs"] - squeeze))


if __name__ == "__main__":
    unittest.main()
