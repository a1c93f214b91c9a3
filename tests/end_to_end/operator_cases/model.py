"""What every case is made with: a model in the making, random numbers and the list of cases."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(7)
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def floats(*dims, low=-1.0, high=1.0):
    return np.asarray(RNG.uniform(low, high, dims)).astype(np.float32)


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
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=f"{op_type}_{output}",
                                           **attributes))
        return output

    def ints(self, name, *values):
        return self.weight(name, np.array(values, np.int64))

    def result(self, op_type, inputs, **attributes):
        """A node whose value is an output of the model."""
        return self.output(self.node(op_type, inputs, **attributes))

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


def as_floats(model, value):
    return model.node("Cast", [value], to=TensorProto.FLOAT)
