"""Small ONNX models for the tests of the command-line tools."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def weight(name, *dims, seed=1, scale=0.3):
    values = np.random.default_rng(seed).standard_normal(dims) * scale
    return numpy_helper.from_array(values.astype(np.float32), name)


def integers(name, *values):
    return numpy_helper.from_array(np.array(values, dtype=np.int64), name)


def node(op_type, inputs, output, **attributes):
    return helper.make_node(op_type, inputs.split(), [output], name=output + "_node", **attributes)


def model_of(nodes, dims, weights, opset=13):
    """A model from input "x" of these dims to output "y"."""
    graph = helper.make_graph(
        nodes, "tiny", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return model


def classifier(seed=1):
    """A convolution, a pooling and a product: 1x3x8x8 to 1x10."""
    nodes = [node("Conv", "x k b", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "r"),
             node("GlobalAveragePool", "r", "p"), node("Flatten", "p", "f"),
             node("Gemm", "f w v", "y", transB=1)]
    weights = [weight("k", 8, 3, 3, 3, seed=seed), weight("b", 8, seed=seed),
               weight("w", 10, 8, seed=seed), weight("v", 10, seed=seed)]
    return model_of(nodes, [1, 3, 8, 8], weights)


def products(seed=1, layers=4, width=256, scale=0.3):
    """A chain of products of `width` x `width`, large enough to be streamed."""
    nodes = [node("MatMul", f"{'x' if i == 0 else f'h{i - 1}'} w{i}", "y" if i == layers - 1 else f"h{i}")
             for i in range(layers)]
    weights = [weight(f"w{i}", width, width, seed=100 * seed + i, scale=scale) for i in range(layers)]
    return model_of(nodes, [8, width], weights)


def save(model, path):
    onnx.save(model, path)
    return path
