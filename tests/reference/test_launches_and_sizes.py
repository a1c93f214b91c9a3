"""compute_launches and packed_half_bytes on graphs small enough to count by hand."""

import os
import unittest

from onnx import helper

from model_shapes import load_static
from onnx_totals import totals
from test_onnx_totals import floats, integers, model_of

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def node(op_type, inputs, output, **attributes):
    return helper.make_node(op_type, inputs.split(), [output], **attributes)


def layer_norm(source, target):
    return [node("ReduceMean", source, target + "m", axes=[-1]),
            node("Sub", f"{source} {target}m", target + "d"),
            node("Pow", f"{target}d two", target + "p"),
            node("ReduceMean", target + "p", target + "v", axes=[-1]),
            node("Add", f"{target}v epsilon", target + "e"),
            node("Sqrt", target + "e", target + "s"),
            node("Div", f"{target}d {target}s", target + "q"),
            node("Mul", f"{target}q gamma", target + "g"),
            node("Add", f"{target}g beta", target)]


class ComputeLaunches(unittest.TestCase):
    def launches(self, nodes, dims, weights, opset=14):
        return totals(model_of(nodes, dims, weights, opset))["compute_launches"]

    def test_products(self):
        nodes = [node("Gemm", "x w b", "h"), node("MatMul", "h v", "a"), node("Softmax", "a", "y")]
        weights = [floats("w", 6, 4), floats("b", 4), floats("v", 4, 5)]
        self.assertEqual(self.launches(nodes, [3, 6], weights), {"Gemm": 1, "MatMul": 1, "Softmax": 1})

    def test_layer_normalisations_written_out_and_as_one_node(self):
        weights = [floats("gamma", 6), floats("beta", 6), floats("two"), floats("epsilon")]
        nodes = [*layer_norm("x", "h"), *layer_norm("h", "k"),
                 node("LayerNormalization", "k gamma beta", "y")]
        self.assertEqual(self.launches(nodes, [3, 6], weights, 17), {"LayerNormalization": 3})
        self.assertEqual(self.launches([*layer_norm("x", "h")[:-1], node("Neg", "hg", "y")], [3, 6],
                                       weights), {})

    def test_image_operators(self):
        nodes = [node("Conv", "x k", "c"), node("BatchNormalization", "c g b m v", "n"),
                 node("Relu", "n", "r"), node("ConvTranspose", "r t", "u"),
                 node("MaxPool", "u", "p", kernel_shape=[2, 2]),
                 node("AveragePool", "p", "a", kernel_shape=[2, 2]),
                 node("Resize", "a roi scales", "z"),
                 node("GlobalAveragePool", "z", "y")]
        nodes[6].input[1] = ""  # no region of interest
        channel = [floats(name, 8) for name in "gbmv"]
        weights = [floats("k", 8, 3, 3, 3), floats("t", 8, 8, 2, 2), floats("scales", 4), *channel]
        self.assertEqual(self.launches(nodes, [1, 3, 9, 9], weights), {
            operator: 1 for operator in ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "Resize",
                                         "GlobalAveragePool")})

    def test_a_product_of_weights_is_folded(self):
        nodes = [node("MatMul", "w v", "f"), node("MatMul", "x f", "y")]
        weights = [floats("w", 30, 40), floats("v", 40, 50)]
        self.assertEqual(self.launches(nodes, [3, 30], weights), {"MatMul": 1})


class PackedHalfBytes(unittest.TestCase):
    def packed(self, nodes, dims, weights):
        return totals(model_of(nodes, dims, weights))["packed_half_bytes"]

    def test_rows_are_padded_to_texels_of_four(self):
        nodes = [node("Gemm", "x w b", "h", transB=1), node("MatMul", "h v", "a"),
                 node("Add", "a p", "y")]
        weights = [floats("w", 5, 6), floats("b", 5), floats("v", 5, 8), floats("p", 3, 8)]
        texels = 6 * 2 + 2 + 5 * 2 + 3 * 2
        self.assertEqual(self.packed(nodes, [3, 6], weights), 8 * texels)

    def test_filters(self):
        nodes = [node("Conv", "x k b", "c"), node("Conv", "c d", "e", group=6),
                 node("ConvTranspose", "e t", "y")]
        weights = [floats("k", 6, 3, 5, 3), floats("b", 6), floats("d", 6, 1, 3, 1),
                   floats("t", 6, 9, 2, 2)]
        texels = (2 * 5 * 3) * 4 + 2 + 2 * 3 + (3 * 2 * 2) * 8
        self.assertEqual(self.packed(nodes, [1, 3, 9, 9], weights), 8 * texels)

    def test_batch_normalisation_of_a_convolution_becomes_its_bias(self):
        channel = [floats(name, 6) for name in "gbmv"]
        normalised = node("BatchNormalization", "c g b m v", "y")
        without = [node("Conv", "x k", "c"), normalised]
        with_bias = [node("Conv", "x k a", "c"), normalised]
        for nodes in (without, with_bias):
            weights = [floats("k", 6, 4, 1, 1), floats("a", 6), *channel]
            self.assertEqual(self.packed(nodes, [1, 4, 2, 2], weights), 8 * (2 * 4 + 2))

    def test_scalars_take_no_bytes_and_shared_weights_count_once(self):
        nodes = [node("MatMul", "x w", "h"), node("MatMul", "h w", "a"), node("Mul", "a s", "b"),
                 node("Add", "b z", "y")]
        weights = [floats("w", 4, 4), floats("s", 1), floats("z")]
        self.assertEqual(self.packed(nodes, [3, 4], weights), 8 * 4)

    def test_what_is_computed_from_weights_counts_as_it_comes_out(self):
        nodes = [node("Expand", "token shape", "t"), node("Concat", "t x", "y", axis=1)]
        weights = [floats("token", 1, 1, 96), integers("shape", 2, 1, 96)]
        self.assertEqual(self.packed(nodes, [2, 3, 96], weights), 8 * 2 * 24)

    def test_where_engines_may_differ_there_is_no_rule(self):
        channel = [floats(name, 4) for name in "gbmv"]
        normalise = node("BatchNormalization", "x g b m v", "y")
        scale = [node("Conv", "x k", "c"), node("Mul", "c s", "y")]
        groups = [node("Conv", "x h", "y", group=2)]
        twice = [node("Conv", "x k", "c"), node("BatchNormalization", "c g b m v", "n"),
                 node("Add", "c n", "y")]
        for nodes in ([normalise], scale, groups, twice):
            weights = [floats("k", 4, 4, 1, 1), floats("s", 1, 4, 1, 1), floats("h", 4, 2, 1, 1),
                       *channel]
            self.assertIsNone(self.packed(nodes, [1, 4, 2, 2], weights))


class RealModels(unittest.TestCase):
    def test_vit(self):
        result = totals(load_static(os.path.join(ROOT, "models", "vit.onnx")))
        self.assertEqual(result["compute_launches"], {
            "Conv": 1, "LayerNormalization": 2 * 12 + 1, "MatMul": 5 * 12, "Gemm": 12 + 1,
            "Softmax": 12})
        # All dimensions divide by four but the three colours, which are stored as four.
        padding = 768 * 16 * 16
        self.assertEqual(result["packed_half_bytes"], 2 * (result["weight_elements"] + padding))

    def test_resnet50(self):
        result = totals(load_static(os.path.join(ROOT, "models", "resnet50.onnx")))
        self.assertEqual(result["compute_launches"], {
            "Conv": 53, "MaxPool": 1, "GlobalAveragePool": 1, "Gemm": 1})
        channels = 26560  # of all 53 convolutions; each has four vectors of statistics, then one bias
        elements = result["weight_elements"] - 4 * channels + channels
        self.assertEqual(result["packed_half_bytes"], 2 * (elements + 64 * 7 * 7))


if __name__ == "__main__":
    unittest.main()
