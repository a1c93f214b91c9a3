"""Normalisations, softmax, reductions and what is found along an axis."""

from onnx import helper

from tests.end_to_end.operator_cases.model import Model, as_floats, case, floats


@case
def layer_normalisation():
    model = Model(17)
    x = model.input("x", 3, 5, 10)
    model.result("LayerNormalization",
                 [x, model.weight("g", floats(10)), model.weight("b", floats(10))])
    model.result("LayerNormalization", [x, model.weight("h", floats(5, 10))], axis=1)
    return model


@case
def batch_normalisation_without_convolution():
    model = Model()
    x = model.input("x", 2, 6, 4, 5)
    weights = [model.weight(n, floats(6, low=0.2)) for n in "gbmv"]
    return model.result("BatchNormalization", [x, *weights])


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
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2",
               "ReduceSumSquare", "ReduceProd"):
        model.result(op, [x], axes=[-1])
    model.result("ReduceMean", [x], axes=[1], keepdims=0)
    model.result("ReduceMax", [x], axes=[1, 3])
    model.output(model.node("ReduceSum", [x], axes=[2, 3]), model.node("ReduceMean", [x]))
    return model


@case
def positions_of_extremes():
    model = Model(13)
    x = model.input("x", 3, 5, 6)
    for axis in (0, 1, 2):
        model.output(as_floats(model, model.node("ArgMax", [x], axis=axis)))
    model.output(as_floats(model, model.node("ArgMin", [x], axis=1, keepdims=0)),
                 model.node("Hardmax", [x], axis=1), model.node("LogSoftmax", [x], axis=0))
    model.nodes.append(helper.make_node("TopK", [x, model.ints("k", 3)], ["top", "at"], axis=1))
    return model.output("top", as_floats(model, "at"))


@case
def sums_along_axes():
    model = Model(13)
    x = model.input("x", 3, 5, 6)
    for op in ("ReduceL1", "ReduceLogSumExp"):
        model.output(model.node(op, [x], axes=[1]), model.node(op, [x], axes=[0, 2], keepdims=0))
    model.result("ReduceLogSum", [model.node("Abs", [x])], axes=[2])
    return model.output(model.node("CumSum", [x, model.ints("axis", 1)]),
                        model.node("CumSum", [x, model.ints("back", -1)], exclusive=1, reverse=1))


@case
def normalisations():
    model = Model(13)
    x = model.input("x", 2, 6, 4, 5)
    scale, shift = model.weight("scale", floats(6)), model.weight("shift", floats(6))
    model.result("InstanceNormalization", [x, scale, shift])
    model.result("LRN", [x], size=3, alpha=0.01, beta=0.6, bias=1.5)
    model.result("MeanVarianceNormalization", [x])
    model.result("LpNormalization", [x], axis=1)
    spread = model.node("Abs", [model.input("v", 6)])
    return model.result("BatchNormalization", [x, model.input("s", 6), shift, model.input("m", 6), spread])
