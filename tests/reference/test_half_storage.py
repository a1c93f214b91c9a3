"""The fp16-storage emulation: where it rounds, and what it computes."""

import importlib.util
import os
import tempfile
import unittest
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import ort_reference
from half_storage import stored_values, with_half_storage
from model_shapes import load_static

NEEDS_RUNTIME = unittest.skipUnless(
    importlib.util.find_spec("onnxruntime"),
    "onnxruntime is missing: pip install -r analysis/requirements.txt",
)
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def weight(name, values):
    return numpy_helper.from_array(np.asarray(values, dtype=np.float32), name)


def model_of(nodes, dims, weights, outputs=("y",)):
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), [output], name=output, **attributes)


def half(values):
    return values.astype(np.float16).astype(np.float32)


def run(model, x):
    session = ort_reference.open_session(model, optimise=False)
    return ort_reference.run(session, {"x": x})["y"]


class StoredValues(unittest.TestCase):
    def check(self, nodes, dims, weights, expected, outputs=("y",)):
        self.assertEqual(stored_values(model_of(nodes, dims, weights, outputs)), set(expected))

    def test_product_bias_activation_and_residual_are_one_kernel(self):
        weights = [weight("w", np.ones((4, 4))), weight("b", np.ones(4))]
        nodes = [node("MatMul", "x w", "m"), node("Add", "b m", "a"), node("Add", "a x", "r"),
                 node("Relu", "r", "y")]
        self.check(nodes, [2, 4], weights, ["x", "y"])

    def test_an_activation_ends_the_chain(self):
        weights = [weight("w", np.ones((4, 4))), weight("s", [2])]
        nodes = [node("MatMul", "x w", "m"), node("Relu", "m", "a"), node("Mul", "a s", "y")]
        self.check(nodes, [2, 4], weights, ["x", "a", "y"])

    def test_one_of_two_products_takes_their_sum(self):
        weights = [weight("w", np.ones((4, 4))), weight("v", np.ones((4, 4)))]
        nodes = [node("MatMul", "x w", "m"), node("MatMul", "x v", "n"), node("Add", "m n", "y")]
        self.check(nodes, [2, 4], weights, ["x", "n", "y"])

    def test_a_value_read_twice_or_returned_is_stored(self):
        weights = [weight("w", np.ones((4, 4))), weight("s", [2])]
        nodes = [node("MatMul", "x w", "m"), node("Mul", "m s", "y"), node("Neg", "m", "z")]
        self.check(nodes, [2, 4], weights, ["x", "m", "y", "z"], ("y", "z"))
        self.check(nodes[:2], [2, 4], weights, ["x", "m", "y"], ("m", "y"))

    def test_layer_normalisation_is_one_kernel(self):
        weights = [weight("two", 2), weight("e", 1e-6), weight("g", np.ones(4)),
                   weight("b", np.ones(4))]
        nodes = [node("ReduceMean", "x", "mean", axes=[-1]), node("Sub", "x mean", "d"),
                 node("Pow", "d two", "p"), node("ReduceMean", "p", "v", axes=[-1]),
                 node("Add", "v e", "ve"), node("Sqrt", "ve", "sd"), node("Div", "d sd", "q"),
                 node("Mul", "q g", "s"), node("Add", "s b", "y")]
        self.check(nodes, [2, 4], weights, ["x", "y"])

    def test_gelu_and_hard_swish_end_a_product_or_stand_alone(self):
        weights = [weight("w", np.ones((4, 4))), weight("root", 2**0.5), weight("one", 1),
                   weight("h", 0.5), weight("three", 3), weight("zero", 0), weight("six", 6)]
        gelu = [node("Div", "m root", "d"), node("Erf", "d", "e"), node("Add", "e one", "f"),
                node("Mul", "m f", "p"), node("Mul", "p h", "y")]
        swish = [node("Add", "m three", "a"), node("Clip", "a zero six", "c"),
                 node("Mul", "m c", "p"), node("Div", "p six", "y")]
        for activation in (gelu, swish):
            product = [node("MatMul", "x w", "m")]
            self.check(product + activation, [2, 4], weights, ["x", "y"])
            softmax = [node("Softmax", "x", "m", axis=-1)]
            self.check(softmax + activation, [2, 4], weights, ["x", "m", "y"])

    def test_one_vit_block(self):
        stored = stored_values(load_static(os.path.join(ROOT, "models", "vit.onnx")))
        block = "/encoder/layers/encoder_layer_5/"
        kinds = sorted(
            name[len(block):].rpartition("_output_0")[0] for name in stored if block in name
        )
        layout = ("Transpose", "Reshape", "Slice")
        kinds = [k for k in kinds if not k.rpartition("/")[2].startswith(layout)]
        self.assertEqual(kinds, [
            "Add", "Add_1", "ln_1/Add_1", "ln_2/Add_1", "mlp/mlp.1/Mul_1", "self_attention/Add",
            "self_attention/Div_1", "self_attention/Gemm", "self_attention/MatMul_1",
            "self_attention/MatMul_2", "self_attention/Softmax",
        ])


@NEEDS_RUNTIME
class Values(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(11)

    def test_product_equals_rounding_by_hand(self):
        x, w, b = (self.random.standard_normal(s).astype(np.float32)
                   for s in ((8, 32), (32, 16), (16,)))
        nodes = [node("MatMul", "x w", "m"), node("Add", "m b", "a"), node("Relu", "a", "y")]
        model = with_half_storage(model_of(nodes, [8, 32], [weight("w", w), weight("b", b)]))
        exact = half(x).astype(np.float64) @ half(w) + half(b)
        expected = half(np.maximum(exact, 0).astype(np.float32))
        value = run(model, x)
        np.testing.assert_array_equal(value, half(value))
        np.testing.assert_allclose(value, expected, rtol=2**-10, atol=1e-6)
        self.assertGreater(ort_reference.relative_error(value, np.maximum(x @ w + b, 0)), 1e-5)

    def test_batch_normalisation_with_statistics_beyond_fp16_is_folded(self):
        kernel = self.random.standard_normal((2, 3, 1, 1))
        channel = [weight("g", [1, 2]), weight("b", [0.5, -0.5]), weight("mean", [1e5, -300]),
                   weight("var", [1e10, 90000])]
        for first, weights in ((node("Conv", "x k", "c"), [weight("k", 1e4 * kernel)]),
                               (node("Slice", "x from to axis", "c"),
                                [numpy_helper.from_array(np.array([i]), n)
                                 for n, i in (("from", 0), ("to", 2), ("axis", 1))])):
            nodes = [first, node("BatchNormalization", "c g b mean var", "y")]
            model = model_of(nodes, [1, 3, 4, 4], weights + channel)
            x = (100 * self.random.standard_normal((1, 3, 4, 4))).astype(np.float32)
            error = ort_reference.relative_error(run(with_half_storage(model), x), run(model, x))
            self.assertLess(error, 2e-3)
            self.assertGreater(error, 0)

    def test_finite_weights_stay_finite(self):
        least = float(np.finfo(np.float32).min)
        model = model_of([node("Mul", "x w", "y")], [3], [weight("w", [least, 1e5, -np.inf])])
        np.testing.assert_array_equal(run(with_half_storage(model), np.float32([0, 0.5, 1])), [0, 32752, -np.inf])

    def test_model_given_is_left_alone(self):
        model = model_of([node("MatMul", "x w", "y")], [2, 2], [weight("w", [[1, 2], [3, 4]])])
        before = model.SerializeToString()
        with_half_storage(model)
        self.assertEqual(model.SerializeToString(), before)


@NEEDS_RUNTIME
class Reference(unittest.TestCase):
    def setUp(self):
        w = np.random.default_rng(3).standard_normal((6, 5)).astype(np.float32)
        self.model = model_of([node("MatMul", "x w", "y")], ["n", 6], [weight("w", w)])
        self.model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 4
        self.w = w

    def test_arrays(self):
        arrays = ort_reference.reference_arrays(self.model, ort_reference.draw_inputs(self.model, 7))
        self.assertEqual(set(arrays), {"input:x", "output:y", "half_error:y"})
        np.testing.assert_allclose(arrays["output:y"], arrays["input:x"] @ self.w, rtol=1e-5)
        self.assertEqual(arrays["half_error:y"].shape, ())
        self.assertGreater(arrays["half_error:y"], 1e-5)
        self.assertLess(arrays["half_error:y"], 2e-3)

    def test_errors_that_few_values_carry_are_drawn_more_often(self):
        even, sparse = np.ones(400, np.float32), np.zeros(60000, np.float32)
        sparse[:50] = 3
        self.assertAlmostEqual(ort_reference.effective_count(even), 400)
        self.assertAlmostEqual(ort_reference.effective_count(sparse), 50)
        self.assertEqual(ort_reference.draws_for([even]), 1)
        self.assertEqual(ort_reference.draws_for([even, sparse]), 6)
        self.assertEqual(ort_reference.draws_for([np.zeros(2)]), 16)

    def test_inputs_follow_the_seed(self):
        first, again, other = (ort_reference.draw_inputs(self.model, s)["x"] for s in (7, 7, 8))
        np.testing.assert_array_equal(first, again)
        self.assertFalse(np.array_equal(first, other))
        only = ort_reference.reference_arrays(self.model, {"x": first}, input_only=True)
        self.assertEqual(list(only), ["input:x"])

    def test_given_inputs_are_taken_as_they_are(self):
        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.npz")
            np.savez(path, **{"input:x": x, "output:y": x})
            np.testing.assert_array_equal(ort_reference.read_inputs(path, self.model)["x"], x)
            for arrays, message in (({"x": x}, "has inputs , but the model wants x"),
                                    ({"input:x": x, "input:z": x}, "has inputs x, z, but"),
                                    ({"input:x": x[:3]}, r"float32 \[3, 6\], not float32 \[4, 6\]"),
                                    ({"input:x": x.astype(int)}, "int64")):
                np.savez(path, **arrays)
                with self.assertRaisesRegex(ValueError, message):
                    ort_reference.read_inputs(path, self.model)

    def test_file_is_an_uncompressed_npz(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.npz")
            inputs = ort_reference.draw_inputs(self.model, 1)
            ort_reference.save_npz(path, ort_reference.reference_arrays(self.model, inputs))
            with zipfile.ZipFile(path) as file:
                members = {i.filename: i.compress_type for i in file.infolist()}
            self.assertEqual(os.listdir(folder), ["r.npz"])
        self.assertEqual(members, {name + ".npy": zipfile.ZIP_STORED
                                   for name in ("input:x", "output:y", "half_error:y")})

    def test_a_skeleton_is_refused(self):
        with self.assertRaisesRegex(ValueError, "class_token has no values: fill"):
            ort_reference.load_filled(os.path.join(ROOT, "models", "vit.onnx"))

    def test_classifier_is_within_fp16_of_itself(self):
        path = os.path.join(ROOT, "tests", "data", "ch_ppocr_mobile_v2.0_cls_infer.onnx")
        model = ort_reference.bind_shapes(onnx.load(path), ("x=1,3,48,192",))
        name = "softmax_0.tmp_0"
        arrays = ort_reference.reference_arrays(model, ort_reference.draw_inputs(model, 4))
        self.assertEqual(arrays["input:x"].shape, (1, 3, 48, 192))
        self.assertAlmostEqual(float(arrays["output:" + name].sum()), 1.0, places=5)
        self.assertTrue(0 < arrays["half_error:" + name] < 0.1)


if __name__ == "__main__":
    unittest.main()
