"""Networks of one layer, drawn at random: shapes as convolutional networks and transformers have them."""

import random

import numpy
import onnx
from onnx import TensorProto, helper

CHANNELS = (16, 32, 48, 64, 96, 128, 192, 256, 384, 512)
SIDES = (7, 14, 20, 28, 40, 56, 80, 112)
MOST_MACS, MOST_ELEMENTS = 400e6, 2e6


class Layer:
    """A node with its constants. `inputs` and `outputs`: {name: shape}."""

    def __init__(self, operator, inputs, outputs, constants=(), macs=0, **attributes):
        self.operator, self.inputs, self.outputs = operator, inputs, outputs
        self.constants, self.macs, self.attributes = dict(constants), macs, attributes

    def is_small_enough(self):
        shapes = [*self.inputs.values(), *self.outputs.values()]
        return self.macs <= MOST_MACS and all(numpy.prod(shape) <= MOST_ELEMENTS for shape in shapes)

    def model(self, seed):
        generator = numpy.random.default_rng(seed)
        weights = [onnx.numpy_helper.from_array(
            value if isinstance(value, numpy.ndarray) else generator.standard_normal(value).astype(numpy.float32), name)
            for name, value in self.constants.items()]
        value = lambda item: helper.make_tensor_value_info(item[0], TensorProto.FLOAT, item[1])
        node = helper.make_node(self.operator, [*self.inputs, *self.constants], list(self.outputs), **self.attributes)
        graph = helper.make_graph([node], "layer", list(map(value, self.inputs.items())),
                                  list(map(value, self.outputs.items())), weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convolution(draw):
    kernel, stride = draw.choice((1, 1, 3, 3, 5, 7)), draw.choice((1, 1, 2))
    channels, results, side = draw.choice(CHANNELS), draw.choice(CHANNELS), draw.choice(SIDES)
    end = (side - 1) // stride + 1
    return Layer("Conv", {"x": [1, channels, side, side]}, {"y": [1, results, end, end]},
                 {"w": [results, channels, kernel, kernel], "b": [results]}, results * end**2 * channels * kernel**2,
                 kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4)


def depthwise(draw):
    kernel, channels, side = draw.choice((3, 5)), draw.choice(CHANNELS), draw.choice(SIDES)
    shape = [1, channels, side, side]
    return Layer("Conv", {"x": shape}, {"y": shape}, {"w": [channels, 1, kernel, kernel], "b": [channels]},
                 channels * side**2 * kernel**2, group=channels, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)


def product(draw):
    rows, depth, columns = draw.choice((1, 16, 64, 197, 256)), draw.choice(CHANNELS) * 2, draw.choice(CHANNELS) * 4
    return Layer("MatMul", {"x": [rows, depth]}, {"y": [rows, columns]}, {"w": [depth, columns]},
                 rows * depth * columns)


def batched_product(draw):
    heads, rows, depth = draw.choice((4, 8, 12)), draw.choice((64, 128, 197)), draw.choice((32, 64))
    return Layer("MatMul", {"a": [heads, rows, depth], "b": [heads, depth, rows]}, {"y": [heads, rows, rows]},
                 macs=heads * rows * rows * depth)


def pool(draw):
    channels, side, kind = draw.choice(CHANNELS), draw.choice(SIDES[3:]), draw.choice(("MaxPool", "AveragePool"))
    end = (side - 3) // 2 + 1
    return Layer(kind, {"x": [1, channels, side, side]}, {"y": [1, channels, end, end]}, kernel_shape=[3, 3],
                 strides=[2, 2])


def rows_of(draw):
    return [draw.choice((64, 197, 512, 1024)), draw.choice(CHANNELS) * 2]


def softmax(draw):
    shape = rows_of(draw)
    return Layer("Softmax", {"x": shape}, {"y": shape}, axis=-1)


def layer_norm(draw):
    shape = rows_of(draw)
    return Layer("LayerNormalization", {"x": shape}, {"y": shape}, {"scale": shape[1:], "shift": shape[1:]}, axis=-1)


def unary(draw):
    shape = [1, draw.choice(CHANNELS), *[draw.choice(SIDES)] * 2]
    return Layer(draw.choice(("Relu", "Sigmoid", "Tanh", "Erf")), {"x": shape}, {"y": shape})


def binary(draw):
    shape = [1, draw.choice(CHANNELS), *[draw.choice(SIDES)] * 2]
    return Layer(draw.choice(("Add", "Mul", "Sub")), {"a": shape, "b": shape}, {"y": shape})


def reduction(draw):
    shape = [1, draw.choice(CHANNELS), *[draw.choice(SIDES)] * 2]
    return Layer("ReduceMean", {"x": shape}, {"y": [*shape[:2], 1, 1]}, axes=[2, 3], keepdims=1)


def transpose(draw):
    heads, rows, depth = draw.choice((4, 8, 12)), draw.choice((64, 197, 512)), draw.choice((32, 64))
    return Layer("Transpose", {"x": [rows, heads, depth]}, {"y": [heads, rows, depth]}, perm=[1, 0, 2])


# What costs networks most of their time is drawn most.
KINDS = (convolution,) * 8 + (product,) * 5 + (depthwise,) * 2 + (batched_product,) * 2 + (
    pool, softmax, layer_norm, unary, binary, reduction, transpose)


def draw_layers(count, seed):
    """`count` layers small enough for a CPU. The first ones do not depend on `count`."""
    draw = random.Random(seed)
    layers = []
    while len(layers) < count:
        layer = draw.choice(KINDS)(draw)
        if layer.is_small_enough():
            layers.append(layer)
    return layers
