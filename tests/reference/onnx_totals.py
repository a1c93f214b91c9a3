"""Counts multiply-accumulates and weights of an ONNX model, straight from its graph.

Independent of the planner: the totals of plans, traces and simulations are checked against it.
Counted are the products Conv, ConvTranspose, Gemm and MatMul (padding included, as usual), and the
elements of every float constant that is read as data (Constant nodes of one element are scalars
of an operator, not weights). Shape computation is folded first and counts for nothing.
"""

import argparse
import collections
import json
import math
import sys

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from expected_launches import compute_launches
from model_shapes import load_static, static_dims
from packed_weights import packed_half_bytes

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
DATA_INPUTS = {  # how many leading inputs are data; the rest are shapes, axes or limits
    "Clip": 1, "ConstantOfShape": 0, "Expand": 1, "Pad": 1, "ReduceMean": 1, "ReduceSum": 1,
    "Reshape": 1, "Resize": 1, "Slice": 1, "Split": 1, "Squeeze": 1, "Tile": 1, "Unsqueeze": 1,
}
FOLD_LIMIT = 64  # elements; shape computation is never larger


def shapes_of(model):
    """{value name: dims} of all values whose shape inference finds static."""
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    for value in list(graph.value_info) + list(graph.input) + list(graph.output):
        if value.type.tensor_type.HasField("shape"):
            dims = value.type.tensor_type.shape.dim
            if all(dim.HasField("dim_value") for dim in dims):
                shapes[value.name] = [dim.dim_value for dim in dims]
    return shapes


def constant_tensors(graph):
    """{value name: TensorProto} of initializers and Constant nodes."""
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.name == "value":
                    tensors[node.output[0]] = attribute.t
    return tensors


def evaluate(node, values, opset):
    """The output of one node as the ONNX reference implementation computes it."""
    names = [name for name in dict.fromkeys(node.input) if name]
    inputs = [helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(values[name].dtype), values[name].shape)
        for name in names]
    output = onnx.ValueInfoProto(name=node.output[0])
    graph = helper.make_graph([node], "one", inputs, [output])
    evaluator = ReferenceEvaluator(helper.make_model(graph, opset_imports=opset))
    return np.asarray(evaluator.run(None, {name: values[name] for name in names})[0])


def fold_once(model):
    """Folds the shape computation whose inputs are known; returns how many nodes it removed."""
    graph, shapes = model.graph, shapes_of(model)
    values = {
        name: numpy_helper.to_array(tensor)
        for name, tensor in constant_tensors(graph).items()
        if tensor.data_location != TensorProto.EXTERNAL and math.prod(tensor.dims) <= FOLD_LIMIT
    }
    kept, folded = [], 0
    for node in graph.node:
        result = None
        if node.op_type == "Shape" and node.input[0] in shapes:
            result = np.array(shapes[node.input[0]], dtype=np.int64)
        elif node.op_type != "Constant" and node.input and all(
            not name or name in values for name in node.input
        ):
            result = evaluate(node, values, model.opset_import)
        if result is None or result.size > FOLD_LIMIT:
            kept.append(node)
            continue
        values[node.output[0]] = result
        graph.initializer.append(numpy_helper.from_array(result, node.output[0]))
        folded += 1
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept]
    del graph.node[:]
    graph.node.extend(copies)
    return folded


def strip_values(model):
    """Drops the values of large initializers: only their dims are needed."""
    for tensor in model.graph.initializer:
        if math.prod(tensor.dims) > FOLD_LIMIT:
            for field in ("raw_data", "float_data"):
                tensor.ClearField(field)
            tensor.data_location = TensorProto.EXTERNAL


def product_macs(node, shapes):
    """Multiply-accumulates of a product node."""
    first, second = shapes[node.input[0]], shapes[node.input[1]]
    output = shapes[node.output[0]]
    if node.op_type == "Conv":  # second: [Cout, Cin / group, kernel...]
        return math.prod(output) * math.prod(second[1:])
    if node.op_type == "ConvTranspose":  # second: [Cin, Cout / group, kernel...]
        return math.prod(first) * math.prod(second[1:])
    if node.op_type == "Gemm":
        transposed = any(a.name == "transA" and a.i for a in node.attribute)
        return math.prod(output) * first[0 if transposed else 1]
    return math.prod(output) * first[-1]


def data_inputs(node):
    return list(node.input)[: DATA_INPUTS.get(node.op_type, len(node.input))]


def weight_tensors(graph):
    """{name: dims} of the float constants that nodes read as data."""
    tensors = constant_tensors(graph)
    scalars = {n.output[0] for n in graph.node if n.op_type == "Constant"}
    read = {name for node in graph.node for name in data_inputs(node)}
    return {
        name: list(tensor.dims)
        for name, tensor in tensors.items()
        if name in read and tensor.data_type in FLOATS
        and (math.prod(tensor.dims) > 1 or name not in scalars)
    }


def totals(model):
    """The totals of a model with static input shapes, as a dict (see --help)."""
    for value in model.graph.input:
        static_dims(value)
    nodes_in_file = len(model.graph.node)
    strip_values(model)
    while fold_once(model):
        pass
    graph, shapes = model.graph, shapes_of(model)
    by_op, per_node = collections.Counter(), []
    for node in graph.node:
        if node.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul"):
            missing = [n for n in [*node.input[:2], node.output[0]] if n not in shapes]
            if missing:
                raise ValueError(f"node {node.name}: shape of {missing[0]} is not known")
            macs = product_macs(node, shapes)
            by_op[node.op_type] += macs
            per_node.append({"name": node.name, "op": node.op_type, "macs": macs,
                             "output": shapes[node.output[0]]})
    weights = weight_tensors(graph)
    return {
        "macs": sum(by_op.values()),
        "weight_elements": sum(map(math.prod, weights.values())),
        "weight_tensors": len(weights),
        "nodes": nodes_in_file,
        "data_nodes": sum(node.op_type != "Constant" for node in graph.node),
        "packed_half_bytes": packed_half_bytes(graph, weights, shapes, data_inputs),
        "compute_launches": compute_launches(graph),
        "macs_by_op": dict(by_op),
        "per_node": per_node,
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="Prints JSON: macs, weight_elements, weight_tensors, nodes (of the file), "
               "data_nodes (without constants and shape computation), packed_half_bytes (see "
               "packed_weights.py; null: no rule), compute_launches (see expected_launches.py), "
               "macs_by_op, per_node.",
    )
    parser.add_argument("model")
    parser.add_argument("--shape", action="append", default=[], metavar="INPUT=D,D,...")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    try:
        result = totals(load_static(arguments.model, arguments.shape, arguments.dim))
    except (OSError, ValueError, DecodeError) as error:
        print(f"onnx_totals.py: {arguments.model}: {error}", file=sys.stderr)
        sys.exit(2)
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
