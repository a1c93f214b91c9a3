"""Small models, one a group of operator forms, for test_operators.py."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(7)
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def floats(*dims, low=-1.0, high=1.0):
    return RNG.uniform(low, high, dims).astype(np.float32)


class Model:
    """One model in the making: nodes, inputs and weights."""

    def __init__(self, opset=14):
        self.opset, self.nodes, self.inputs, self.weights, self.outputs = opset, [], {}, {}, []

    def input(self, name, *dims):
        self.inputs[name] = list(dims)
        return name

    def weight(self, name, values):
        self.weights[name] = np.asarray(values)
        return name

    def node(self, op_type, inputs, output=None, **attributes):
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=f"{op_type}_{output}", **attributes))
        return output

    def output(self, *names):
        self.outputs.extend(names)
        return self

    def proto(self):
        def declare(name, dims):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)

        graph = helper.make_graph(
            self.nodes, "case", [declare(n, d) for n, d in self.inputs.items()],
            [declare(name, None) for name in self.outputs],
            [numpy_helper.from_array(v, n) for n, v in self.weights.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        return model


@case
def unary_functions():
    model = Model()
    x = model.input("x", 2, 3, 7)
    positive = model.node("Add", [model.node("Abs", [x]), model.weight("half", np.float32(0.5))])
    for op in ("Relu", "Sigmoid", "Tanh", "Neg", "Erf", "Floor", "Ceil", "Softplus", "HardSwish", "Exp"):
        model.output(model.node(op, [x]))
    for op in ("Sqrt", "Log", "Reciprocal"):
        model.output(model.node(op, [positive]))
    model.output(model.node("LeakyRelu", [x], alpha=0.2), model.node("Elu", [x], alpha=0.7),
                 model.node("HardSigmoid", [x], alpha=0.3, beta=0.4))
    return model


@case
def binary_broadcasts():
    model = Model()
    x, z = model.input("x", 2, 5, 7), model.input("z", 5, 1)
    model.output(model.node("Add", [x, model.weight("row", floats(7))]))
    model.output(model.node("Mul", [model.weight("scalar", floats(1)), x]))
    model.output(model.node("Sub", [x, z]), model.node("Max", [z, x]), model.node("Min", [x, x, z]))
    model.output(model.node("Div", [x, model.weight("d", floats(2, 1, 7, low=1, high=2))]))
    model.output(model.node("Pow", [x, model.weight("two", np.int64(2))]))
    return model


@case
def binary_broadcasts_of_maps():
    model = Model()
    x = model.node("Relu", [model.input("x", 1, 6, 5, 4)])
    x = model.node("MaxPool", [x], kernel_shape=[1, 1])
    gate = model.node("GlobalAveragePool", [x])
    model.output(model.node("Mul", [x, gate]), model.node("Add", [gate, x]))
    model.output(model.node("Mul", [x, model.weight("c", floats(6, 1, 1))]))
    model.output(model.node("Sub", [model.weight("one", floats(1)), x]))
    return model


@case
def convolutions():
    model = Model()
    x = model.input("x", 1, 5, 9, 11)
    model.output(model.node("Conv", [x, model.weight("w", floats(7, 5, 3, 3)), model.weight("b", floats(7))],
                            strides=[2, 1], pads=[1, 0, 2, 1]))
    model.output(model.node("Conv", [x, model.weight("w1", floats(3, 5, 1, 1))]))
    model.output(model.node("Conv", [x, model.weight("wd", floats(5, 1, 5, 3))], group=5, pads=[2, 1, 2, 1]))
    model.output(model.node("Conv", [x, model.weight("wa", floats(4, 5, 3, 3))], dilations=[2, 2]))
    model.output(model.node("Conv", [x, model.weight("wu", floats(4, 5, 3, 2))], strides=[2, 2],
                            auto_pad="SAME_UPPER"))
    return model


@case
def transposed_convolutions():
    model = Model()
    x = model.input("x", 1, 5, 4, 6)
    model.output(model.node("ConvTranspose", [x, model.weight("w", floats(5, 6, 2, 2)),
                                              model.weight("b", floats(6))], strides=[2, 2]))
    model.output(model.node("ConvTranspose", [x, model.weight("v", floats(5, 3, 3, 3))], strides=[2, 2],
                            pads=[1, 1, 1, 1], output_padding=[1, 1]))
    return model


@case
def folded_padding_and_plain_padding():
    model = Model()
    x = model.input("x", 1, 5, 6, 7)
    padded = model.node("Pad", [x, model.weight("p", np.array([0, 0, 1, 2, 0, 0, 3, 0]))])
    model.output(model.node("Conv", [padded, model.weight("w", floats(4, 5, 3, 3))], pads=[1, 1, 1, 1]))
    model.output(model.node("Pad", [x, model.weight("q", np.array([0, 0, 1, 2, 0, 1, 0, 3])),
                                    model.weight("v", np.float32(0.5))]))
    y = model.input("y", 3, 6)
    model.output(model.node("Pad", [y, model.weight("r", np.array([1, 2, 0, 3]))]))
    return model


@case
def pools():
    model = Model()
    x = model.input("x", 1, 6, 9, 10)
    model.output(model.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))
    model.output(model.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1))
    model.output(model.node("AveragePool", [x], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]))
    model.output(model.node("AveragePool", [x], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1))
    model.output(model.node("GlobalAveragePool", [x]), model.node("GlobalMaxPool", [x]))
    return model


@case
def resizes():
    model = Model(13)
    x = model.input("x", 1, 5, 6, 7)
    scales = model.weight("s", np.array([1, 1, 2, 3], np.float32))
    for mode, transformation, nearest in (("nearest", "asymmetric", "floor"),
                                          ("nearest", "half_pixel", "round_prefer_floor"),
                                          ("linear", "half_pixel", "floor"),
                                          ("linear", "align_corners", "floor"),
                                          ("linear", "asymmetric", "floor")):
        model.output(model.node("Resize", [x, "", scales], mode=mode, nearest_mode=nearest,
                                coordinate_transformation_mode=transformation))
    sizes = model.weight("z", np.array([1, 5, 9, 4]))
    model.output(model.node("Resize", [x, "", "", sizes], mode="linear"))
    return model


@case
def upsample_of_opset_nine():
    model = Model(9)
    x = model.input("x", 1, 5, 3, 4)
    return model.output(model.node("Upsample", [x, model.weight("s", np.array([1, 1, 2, 2], np.float32))]))


@case
def matrix_products():
    model = Model()
    a, b = model.input("a", 3, 5, 6), model.input("b", 3, 6, 7)
    model.output(model.node("MatMul", [a, b]), model.node("MatMul", [a, model.weight("w", floats(6, 9))]))
    model.output(model.node("MatMul", [a, model.node("Transpose", [model.input("k", 3, 7, 6)], perm=[0, 2, 1])]))
    model.output(model.node("MatMul", [model.weight("l", floats(4, 5)), a]))
    c = model.input("c", 2, 3, 5, 6)
    model.output(model.node("MatMul", [c, b]), model.node("MatMul", [a, model.weight("v", floats(6))]))
    return model


@case
def gemms():
    model = Model()
    x, t = model.input("x", 5, 6), model.input("t", 6, 5)
    w, c = model.weight("w", floats(7, 6)), model.weight("c", floats(7))
    model.output(model.node("Gemm", [x, w, c], transB=1, alpha=0.5, beta=2.0))
    model.output(model.node("Gemm", [t, w, model.weight("m", floats(5, 7))], transA=1, transB=1))
    model.output(model.node("Gemm", [x, model.input("y", 6, 7), model.input("z", 5, 7)]))
    model.output(model.node("Gemm", [x, model.weight("n", floats(6, 3)), model.weight("o", floats(5, 1))]))
    return model


@case
def attention():
    model = Model()
    x = model.input("x", 1, 6, 24)
    qkv = model.node("MatMul", [x, model.weight("w", floats(24, 72, low=-0.3, high=0.3))])
    heads = []
    for i in range(3):
        part = model.node("Slice", [qkv, model.weight(f"s{i}", np.array([24 * i])),
                                    model.weight(f"e{i}", np.array([24 * (i + 1)])), model.weight(f"a{i}", np.array([2]))])
        part = model.node("Reshape", [part, model.weight(f"r{i}", np.array([1, 6, 3, 8]))])
        heads.append(model.node("Transpose", [part], perm=[0, 2, 3, 1] if i == 1 else [0, 2, 1, 3]))
    scores = model.node("MatMul", [heads[0], heads[1]])
    scores = model.node("Mul", [scores, model.weight("scale", np.float32(0.35))])
    scores = model.node("Add", [scores, model.weight("mask", floats(1, 1, 6, 6))])
    mixed = model.node("MatMul", [model.node("Softmax", [scores], axis=-1), heads[2]])
    mixed = model.node("Transpose", [mixed], perm=[0, 2, 1, 3])
    mixed = model.node("Reshape", [mixed, model.weight("flat", np.array([1, 6, 24]))])
    out = model.node("MatMul", [mixed, model.weight("o", floats(24, 24))])
    return model.output(model.node("Add", [out, x]))


@case
def layer_normalisation():
    model = Model(17)
    x = model.input("x", 3, 5, 10)
    model.output(model.node("LayerNormalization", [x, model.weight("g", floats(10)), model.weight("b", floats(10))]))
    model.output(model.node("LayerNormalization", [x, model.weight("h", floats(5, 10))], axis=1))
    return model


@case
def batch_normalisation_without_convolution():
    model = Model()
    x = model.input("x", 2, 6, 4, 5)
    weights = [model.weight(n, floats(6, low=0.2)) for n in "gbmv"]
    return model.output(model.node("BatchNormalization", [x, *weights]))


@case
def softmax_axes():
    model = Model(13)
    x = model.input("x", 3, 5, 6)
    return model.output(*(model.node("Softmax", [x], axis=axis) for axis in (0, 1, 2)))


@case
def softmax_of_opset_eleven():
    model = Model(11)
    x = model.input("x", 3, 5, 6)
    return model.output(*(model.node("Softmax", [x], axis=axis) for axis in (0, 1, 2)))


@case
def reductions():
    model = Model(12)
    x = model.input("x", 2, 5, 6, 7)
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare", "ReduceProd"):
        model.output(model.node(op, [x], axes=[-1]))
    model.output(model.node("ReduceMean", [x], axes=[1], keepdims=0), model.node("ReduceMax", [x], axes=[1, 3]))
    model.output(model.node("ReduceSum", [x], axes=[2, 3]), model.node("ReduceMean", [x]))
    return model


@case
def views():
    model = Model()
    x = model.input("x", 2, 6, 8)
    turned = model.node("Transpose", [x], perm=[2, 0, 1])
    model.output(model.node("Reshape", [turned, model.weight("r", np.array([4, 24]))]))
    model.output(model.node("Slice", [x, model.weight("s", np.array([5, 1])), model.weight("e", np.array([-7, 8])),
                                      model.weight("a", np.array([1, 2])), model.weight("t", np.array([-2, 3]))]))
    thin = model.node("Slice", [x, model.weight("s1", np.array([0])), model.weight("e1", np.array([1])),
                                model.weight("a1", np.array([1]))])
    model.output(model.node("Expand", [thin, model.weight("shape", np.array([2, 3, 8]))]))
    model.output(model.node("Flatten", [turned], axis=2))
    model.output(model.node("Unsqueeze", [x, model.weight("u", np.array([0, 3]))]))
    return model


@case
def concatenations():
    model = Model()
    a, b = model.input("a", 2, 5, 6), model.input("b", 2, 3, 6)
    model.output(model.node("Concat", [a, b], axis=1), model.node("Concat", [a, a, model.weight("w", floats(2, 5, 3))], axis=2))
    x = model.node("Relu", [model.input("x", 1, 6, 4, 5)])
    x = model.node("MaxPool", [x], kernel_shape=[1, 1])
    y = model.node("MaxPool", [model.input("y", 1, 8, 4, 5)], kernel_shape=[1, 1])
    model.output(model.node("Concat", [y, x], axis=1), model.node("Concat", [x, y], axis=1))
    return model


@case
def gathers():
    model = Model()
    x = model.input("x", 3, 7, 6)
    model.output(model.node("Gather", [x, model.weight("i", np.array([4, 0, -1]))], axis=1))
    model.output(model.node("Gather", [x, model.weight("j", np.array([[2, 5], [1, 1]]))], axis=2))
    model.output(model.node("Gather", [x, model.weight("k", np.array(-2))], axis=1))
    return model


@case
def splits_and_sums():
    model = Model()
    x = model.input("x", 3, 10)
    model.weight("parts", np.array([3, 7]))
    model.nodes.append(helper.make_node("Split", [x, "parts"], ["p", "q"], axis=1))
    model.output(model.node("Sum", ["p", model.weight("w", floats(3)), "p"]), "q")
    return model


@case
def an_output_that_is_an_input():
    model = Model()
    x = model.input("x", 3, 10)
    return model.output(model.node("Identity", [x], "y"))


@case
def wide_filters_in_parts():
    """2048 texels hold 8192 columns: in images that large the weight is split by output channels."""
    model = Model()
    x = model.input("x", 3, 20)
    y = model.node("Gemm", [x, model.weight("w", floats(20, 9000)), model.weight("b", floats(9000))])
    y = model.node("Relu", [y])
    return model.output(model.node("Slice", [y, model.weight("s", np.array([8100])), model.weight("e", np.array([8300])),
                                             model.weight("a", np.array([1]))]))
