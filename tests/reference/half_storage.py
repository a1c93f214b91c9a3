"""Emulates an engine that stores fp16 and computes fp32, by rewriting an ONNX graph.

Batch normalisations are folded first, as every engine does. Then weights, model inputs and every
stored tensor are rounded to fp16 and back; arithmetic stays fp32. A node's output is stored
unless an engine with the usual fusions would keep it in a register:

1. inside a layer normalisation (ReduceMean .. Mul, Add), a GELU (Div .. Mul, or Pow .. Mul in the
   tanh form) or a hard-swish (Add, Clip, Mul, Div) written as single nodes, only the last value is
   stored;
2. from a convolution or matrix product on, values are kept while their only reader is an
   addition of or multiplication by a weight, one residual addition or, as the last of the chain,
   an activation.

Everything else, softmax's input among it, is stored.
"""

import collections

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from batch_norm_folding import fold_batch_norms, replace_nodes

PRODUCTS = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
ACTIVATIONS = {"Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "LeakyRelu", "Tanh", "Gelu"}
LAYER_NORM = ["ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Div", "Mul", "Add"]
GELU = ["Div", "Erf", "Add", "Mul", "Mul"]
GELU_TANH = ["Pow", "Mul", "Add", "Mul", "Tanh", "Add", "Mul"]
HARD_SWISH = ["Add", "Clip", "Mul", "Div"]


def constant_names(graph):
    """Names of all values known before the model runs."""
    names = {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" or (
            node.input and all(i in names or not i for i in node.input)
        ):
            names.update(node.output)
    return names


def float_values(model):
    """Names of the float32 values, as far as shape inference tells their types."""
    inferred = onnx.shape_inference.infer_shapes(model).graph
    known = list(inferred.value_info) + list(inferred.input) + list(inferred.output)
    return {v.name for v in known if v.type.tensor_type.elem_type == TensorProto.FLOAT}


class Readers:
    """Who reads each value; Shape nodes read no data and do not count."""

    def __init__(self, graph):
        self._nodes = collections.defaultdict(list)
        self._outputs = {output.name for output in graph.output}
        for node in graph.node:
            for name in dict.fromkeys(node.input):
                if node.op_type != "Shape":
                    self._nodes[name].append(node)

    def of(self, name):
        return self._nodes[name]

    def only(self, name):
        """The only reader of a value that is no output of the model, else None."""
        nodes = self._nodes[name]
        return nodes[0] if len(nodes) == 1 and name not in self._outputs else None


def follow(start, op_types, readers):
    """Nodes of a chain of `op_types` that begins at node `start`, or None.

    Each step may leave side branches (layer normalisation reads its difference twice), so any
    reader of the right type continues the chain.
    """
    if start.op_type != op_types[0]:
        return None
    if len(op_types) == 1:
        return [start]
    for reader in readers.of(start.output[0]):
        rest = follow(reader, op_types[1:], readers)
        if rest:
            return [start] + rest
    return None


def outputs_of(nodes):
    return {node.output[0] for node in nodes}


def tanh_gelu(node, readers):
    """(x, the nodes before the last, the last) of x/2 * (1 + tanh(.. x + .. x^3)), or None."""
    chain = follow(node, GELU_TANH, readers)
    if not chain or node.input[0] not in chain[2].input:
        return None
    halves = [n for n in readers.of(node.input[0])
              if n.op_type == "Mul" and n.output[0] in chain[-1].input]
    return (node.input[0], chain[:-1] + halves, chain[-1]) if halves else None


def idioms(graph, readers):
    """Finds decomposed normalisations and activations.

    Returns ({interior value names}, {value that only an activation reads: its last node}).
    """
    interior, activations = set(), {}

    def add(value, nodes, last):
        interior.update(outputs_of(nodes))
        if outputs_of(readers.of(value)) <= outputs_of(nodes):
            activations[value] = last

    for node in graph.node:
        chain = follow(node, LAYER_NORM, readers)
        if chain:
            interior.update(n.output[0] for n in chain[:-1])
        for pattern in (GELU, HARD_SWISH):
            chain = follow(node, pattern, readers)
            product = chain[pattern.index("Mul")] if chain else None
            for value in set(node.input) & set(product.input) if chain else ():
                add(value, chain[:-1], chain[-1])
        found = tanh_gelu(node, readers)
        if found:
            add(*found)
    return interior, activations


def activation_end(value, readers, activations):
    """The last node of the activation that alone reads `value`, or None."""
    if value in activations:
        return activations[value]
    only = readers.only(value)
    return only if only is not None and only.op_type in ACTIVATIONS else None


def kept_values(graph, readers, constants, activations):
    """Values of rule 2: those that a product's fused tail keeps in registers."""
    kept, joined = set(), set()
    for product in graph.node:
        if product.op_type not in PRODUCTS or product.output[0] in constants:
            continue
        value, has_residual = product.output[0], False
        while True:
            if activation_end(value, readers, activations) is not None:
                kept.add(value)
                break
            reader = readers.only(value)
            if reader is None or reader.op_type not in ("Add", "Mul"):
                break
            others = [i for i in reader.input if i != value]
            if not all(i in constants for i in others):
                if reader.op_type != "Add" or has_residual or reader.output[0] in joined:
                    break
                has_residual = True
                joined.add(reader.output[0])
            kept.add(value)
            value = reader.output[0]
    return kept


def stored_values(model):
    """Names of the float values that the emulated engine writes to memory."""
    graph, readers = model.graph, Readers(model.graph)
    constants, floats = constant_names(graph), float_values(model)
    interior, activations = idioms(graph, readers)
    registers = interior | kept_values(graph, readers, constants, activations)
    values = [i.name for i in graph.input] + [o for n in graph.node for o in n.output]
    return {v for v in values if v in floats and v not in constants and v not in registers}


def rounded(tensor):
    """A float32 TensorProto with its values rounded to fp16, finite ones to finite ones; other types stay."""
    if tensor.data_type != TensorProto.FLOAT:
        return tensor
    values = numpy_helper.to_array(tensor)
    most = np.finfo(np.float16).max
    limited = np.where(np.isfinite(values), np.clip(values, -most, most), values)
    return numpy_helper.from_array(limited.astype(np.float16).astype(np.float32), tensor.name)


def casts(value, stored):
    half = stored + ":fp16"
    return [
        helper.make_node("Cast", [value], [half], name=half, to=TensorProto.FLOAT16),
        helper.make_node("Cast", [half], [stored], name=stored + ":fp32", to=TensorProto.FLOAT),
    ]


def with_half_storage(model):
    """Returns a copy of `model` (static shapes, weights filled) with the roundings in place."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    fold_batch_norms(result)
    graph, stored = result.graph, stored_values(result)
    for tensor in graph.initializer:
        tensor.CopyFrom(rounded(tensor))
    inputs = {i.name: i.name + ":stored" for i in graph.input if i.name in stored}
    nodes = [cast for name, copy in inputs.items() for cast in casts(name, copy)]
    for node in graph.node:
        node.input[:] = [inputs.get(name, name) for name in node.input]
        if node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.name == "value":
                    attribute.t.CopyFrom(rounded(attribute.t))
        after = []
        for position, name in enumerate(node.output):
            if name in stored:
                node.output[position] = name + ":exact"
                after += casts(node.output[position], name)
        nodes += [node] + after
    replace_nodes(graph, nodes)
    return result
