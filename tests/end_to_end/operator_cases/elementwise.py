"""Elementwise operators: of one tensor, of several with broadcasting, of integers and booleans."""

import numpy as np
from onnx import TensorProto

from tests.end_to_end.operator_cases.model import Model, as_floats, case, floats


@case
def unary_functions():
    model = Model()
    x = model.input("x", 2, 3, 7)
    positive = model.node("Add", [model.node("Abs", [x]), model.weight("half", np.float32(0.5))])
    for op in ("Relu", "Sigmoid", "Tanh", "Neg", "Erf", "Floor", "Ceil", "Softplus", "HardSwish",
               "Exp"):
        model.result(op, [x])
    for op in ("Sqrt", "Log", "Reciprocal"):
        model.result(op, [positive])
    model.output(model.node("LeakyRelu", [x], alpha=0.2), model.node("Elu", [x], alpha=0.7),
                 model.node("HardSigmoid", [x], alpha=0.3, beta=0.4))
    return model


@case
def binary_broadcasts():
    model = Model()
    x, z = model.input("x", 2, 5, 7), model.input("z", 5, 1)
    model.result("Add", [x, model.weight("row", floats(7))])
    model.result("Mul", [model.weight("scalar", floats(1)), x])
    model.output(model.node("Sub", [x, z]), model.node("Max", [z, x]), model.node("Min", [x, x, z]))
    model.result("Div", [x, model.weight("d", floats(2, 1, 7, low=1, high=2))])
    model.result("Pow", [x, model.weight("two", np.int64(2))])
    return model


@case
def binary_broadcasts_of_maps():
    model = Model()
    x = model.node("Relu", [model.input("x", 1, 6, 5, 4)])
    x = model.node("MaxPool", [x], kernel_shape=[1, 1])
    gate = model.node("GlobalAveragePool", [x])
    model.output(model.node("Mul", [x, gate]), model.node("Add", [gate, x]))
    model.result("Mul", [x, model.weight("c", floats(6, 1, 1))])
    model.result("Sub", [model.weight("one", floats(1)), x])
    return model


@case
def more_unary_functions():
    model = Model(16)
    x = model.input("x", 2, 3, 7)
    inside = model.node("Mul", [model.node("Tanh", [x]), model.weight("near", np.float32(0.9))])
    beyond = model.node("Add", [model.node("Abs", [x]), model.weight("one", np.float32(1.5))])
    for op in ("Sin", "Cos", "Sinh", "Cosh", "Asinh", "Atan", "Sign", "Round", "Softsign"):
        model.result(op, [x])
    for op in ("Tan", "Asin", "Acos", "Atanh"):
        model.result(op, [inside])
    model.result("Acosh", [beyond])
    model.output(model.node("Selu", [x], alpha=1.5, gamma=1.2), model.node("Celu", [x], alpha=0.8),
                 model.node("ThresholdedRelu", [x], alpha=0.3),
                 model.node("Shrink", [x], lambd=0.4, bias=0.1),
                 model.node("PRelu", [x, model.weight("slope", floats(3, 1))]))
    return model.result("Clip", [x, model.input("low"), model.input("high")])


@case
def comparisons_and_choices():
    model = Model(16)
    x, y = model.input("x", 4, 1, 9), model.input("y", 5, 9)
    less, more = model.node("Less", [x, y]), model.node("GreaterOrEqual", [x, y])
    either = model.node("Or", [less, model.node("Not", [more])])
    model.output(model.node("Where", [less, x, y]), as_floats(model, either),
                 as_floats(model, model.node("Xor", [less, more])),
                 as_floats(model, model.node("And", [less, either])))
    infinite = model.node("Div", [x, model.weight("nought", np.float32(0))])
    model.output(as_floats(model, model.node("IsInf", [infinite], detect_negative=0)))
    return model.result("Where", [model.node("IsInf", [infinite]), x, infinite])


@case
def whole_numbers():
    model = Model(16)
    x = model.node("Mul", [model.input("x", 6, 7), model.weight("wide", np.float32(40))])
    whole = model.node("Cast", [x], to=TensorProto.INT64)
    seven = model.ints("seven", 7)
    for op in ("Div", "Mod", "Mul", "Max"):
        model.output(as_floats(model, model.node(op, [whole, seven])))
    model.output(as_floats(model, model.node("Pow", [whole, model.ints("two", 2)])))
    model.result("Mod", [x, model.weight("real", np.float32(2.5))], fmod=1)
    return model.output(as_floats(model, model.node("ReduceSum", [whole, model.ints("last", 1)])))
