"""Folds BatchNormalization nodes (inference mode) of an ONNX graph into weights."""

import numpy as np
from onnx import helper, numpy_helper


class Weights:
    """The constants of a graph, be they initializers or Constant nodes, by name."""

    def __init__(self, graph):
        self._graph = graph
        self._tensors = {tensor.name: tensor for tensor in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant":
                for attribute in node.attribute:
                    if attribute.name == "value":
                        self._tensors[node.output[0]] = attribute.t

    def __contains__(self, name):
        return name in self._tensors

    def get(self, name):
        return numpy_helper.to_array(self._tensors[name]).astype(np.float64)

    def add(self, name, values):
        tensor = numpy_helper.from_array(values.astype(np.float32), name)
        self._graph.initializer.append(tensor)
        self._tensors[name] = self._graph.initializer[-1]
        return name


def affine(node, weights):
    """Scale and shift (float64, one a channel) that equal a BatchNormalization node."""
    scale, bias, mean, variance = (weights.get(name) for name in node.input[1:5])
    epsilon = next((a.f for a in node.attribute if a.name == "epsilon"), 1e-5)
    factor = scale / np.sqrt(variance + epsilon)
    return factor, bias - mean * factor


def fold_into_conv(conv, node, weights):
    """Makes `conv` compute what `node` (its only reader) makes of it."""
    factor, shift = affine(node, weights)
    kernel = weights.get(conv.input[1])
    bias = weights.get(conv.input[2]) if len(conv.input) > 2 and conv.input[2] else 0.0
    folded = kernel * factor.reshape(-1, *[1] * (kernel.ndim - 1))
    name = node.output[0]
    conv.input[:] = [
        conv.input[0],
        weights.add(name + ":kernel", folded),
        weights.add(name + ":bias", bias * factor + shift),
    ]
    conv.output[0] = name


def as_multiply_add(node, weights):
    """Nodes that equal a BatchNormalization which no convolution precedes."""
    name = node.output[0]
    factor, shift = (values.reshape(1, -1, 1, 1) for values in affine(node, weights))
    scale = weights.add(name + ":scale", factor)
    bias = weights.add(name + ":shift", shift)
    return [
        helper.make_node("Mul", [node.input[0], scale], [name + ":scaled"]),
        helper.make_node("Add", [name + ":scaled", bias], [name]),
    ]


def replace_nodes(graph, nodes):
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def drop_unread_weights(graph):
    read = {name for node in graph.node for name in node.input}
    read.update(output.name for output in graph.output)
    replace_nodes(graph, [n for n in graph.node if n.op_type != "Constant" or n.output[0] in read])
    kept = [type(t).FromString(t.SerializeToString()) for t in graph.initializer if t.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)


def fold_batch_norms(model):
    """Folds all batch normalisations of `model` in place: into the convolution before, else into
    a multiplication and an addition."""
    graph = model.graph
    weights = Weights(graph)
    readers, outputs = {}, {output.name for output in graph.output}
    for node in graph.node:
        for name in node.input:
            readers[name] = readers.get(name, 0) + 1
    nodes, convs = [], {}
    for node in graph.node:
        if node.op_type != "BatchNormalization":
            nodes.append(node)
            if node.op_type == "Conv" and node.input[1] in weights:
                convs[node.output[0]] = node
            continue
        source = node.input[0]
        if source in convs and readers[source] == 1 and source not in outputs:
            fold_into_conv(convs.pop(source), node, weights)
        else:
            nodes += as_multiply_add(node, weights)
    replace_nodes(graph, nodes)
    drop_unread_weights(graph)
