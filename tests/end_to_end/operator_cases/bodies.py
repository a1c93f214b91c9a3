"""Operators taken apart into the nodes of a body: functions and loops."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.end_to_end.operator_cases.model import Model, case


@case
def operators_that_are_functions():
    """Operators that ONNX defines by others, taken apart when imported."""
    model = Model(13)
    scores = model.input("scores", 5, 4)
    labels = model.node("ArgMax", [model.input("x", 5, 4)], axis=1, keepdims=0)
    return model.result("SoftmaxCrossEntropyLoss", [scores, labels], reduction="mean")


@case
def loops_of_known_length():
    """x is scaled three times, and every stage is kept."""
    model = Model(13)
    x = model.input("x", 2, 5)
    body = helper.make_graph(
        [helper.make_node("Mul", ["carried", "factor"], ["scaled"]),
         helper.make_node("Cast", ["trip"], ["number"], to=TensorProto.FLOAT),
         helper.make_node("Add", ["scaled", "number"], ["next"]),
         helper.make_node("Identity", ["goes_on"], ["goes_on_too"]),
         helper.make_node("Identity", ["next"], ["kept"])],
        "body",
        [helper.make_tensor_value_info("trip", TensorProto.INT64, []),
         helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("carried", TensorProto.FLOAT, [2, 5])],
        [helper.make_tensor_value_info("goes_on_too", TensorProto.BOOL, []),
         helper.make_tensor_value_info("next", TensorProto.FLOAT, [2, 5]),
         helper.make_tensor_value_info("kept", TensorProto.FLOAT, [2, 5])],
        [numpy_helper.from_array(np.float32(0.7), "factor")])
    model.nodes.append(helper.make_node("Loop", [model.ints("trips", 3), "", x], ["last", "all"], body=body))
    return model.output("last", "all")
