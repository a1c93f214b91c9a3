"""Bytes of all weights of a model as an engine stores them: fp16, in texels of four.

A texel is four halves, 8 bytes. What a weight's grid looks like depends on who reads it:

- the filter [O, I, Kh, Kw] of a Conv, or [I, O, Kh, Kw] of a ConvTranspose: four output channels a
  texel, input channels padded to a multiple of four: ceil(O / 4) * Kh * Kw rows of 4 * ceil(I / 4);
- the filter [C, 1, Kh, Kw] of a depthwise Conv (as many groups as channels in and out): four
  channels a texel: ceil(C / 4) rows of Kh * Kw;
- a bias: N values in ceil(N / 4) texels;
- the matrix of a MatMul or Gemm: K rows of N, four neighbours of N a texel; transposed if the file
  has it the other way;
- the table of an embedding (Gather of rows at an input): its rows, once, though a product reads it
  turned;
- a constant condition of a Where before a Softmax: as a mask to add, once for all layers;
- any other [.., K]: four neighbours of the last dimension a texel: ceil(K / 4) times the product of
  the others.

Weights of one element are arguments of a kernel and take no bytes, and each weight counts once. What
is computed from weights alone (an Expand of a token, say) is a weight in the form it comes out in.
A BatchNormalization right after a Conv that nobody else reads goes into its filter and bias: it
takes no bytes itself, but gives a bias to a Conv without one. There is no rule for graphs with
other batch normalisations, grouped convolutions, or weights that spread over the channels of a map
([C, 1, 1], [1, C, 1, 1]): which of those are folded, and into what, is the engine's choice.
"""

import math

from half_storage import Readers, constant_names

TEXEL_BYTES = 8


def texels(count):
    return -(-count // 4)


def rows_grid(dims):
    return texels(dims[-1]) * math.prod(dims[:-1])


def filter_grid(outputs, inputs, kernel):
    return texels(outputs) * 4 * texels(inputs) * math.prod(kernel)


def attribute(node, name, default):
    return next((a.i for a in node.attribute if a.name == name), default)


def conv_filter_grid(node, dims):
    """Texels of a convolution's filter, or None for groups there is no rule for."""
    groups = attribute(node, "group", 1)
    if node.op_type == "ConvTranspose":
        return filter_grid(dims[1], dims[0], dims[2:]) if groups == 1 else None
    if groups == 1:
        return filter_grid(dims[0], dims[1], dims[2:])
    depthwise = groups == dims[0] and dims[1] == 1
    return texels(dims[0]) * math.prod(dims[2:]) if depthwise else None


def grid_of(node, position, dims):
    """Texels of the weight that is input `position` of `node`; None where there is no rule."""
    if node.op_type in ("Conv", "ConvTranspose"):
        return conv_filter_grid(node, dims) if position == 1 else texels(dims[0])
    if node.op_type == "Gemm" and position == 1 and attribute(node, "transB", 0):
        return rows_grid(dims[::-1])
    if len(dims) >= 3 and dims[-1] == dims[-2] == 1:
        return None
    return rows_grid(dims)


def normalised_convs(graph, readers, producers):
    """{BatchNormalization's output: the Conv it is folded into}."""
    found = {}
    for node in graph.node:
        source = producers.get(node.input[0]) if node.op_type == "BatchNormalization" else None
        if source is not None and source.op_type == "Conv" and readers.only(source.output[0]):
            found[node.output[0]] = source
    return found


def with_derived(graph, weights, constants, shapes, data_inputs):
    """`weights` and what is computed from them alone: {name: dims}."""
    known = dict(weights)
    for node in graph.node:
        if node.op_type != "Constant" and node.output[0] in constants:
            if any(name in known for name in data_inputs(node)):
                known[node.output[0]] = shapes[node.output[0]]
    return known


def tied_tables(graph, constants):
    """{turned table: table} of the tables whose rows a Gather takes at values that are no constants."""
    tables = {node.input[0] for node in graph.node
              if node.op_type == "Gather" and node.input[1] not in constants}
    return {node.output[0]: node.input[0] for node in graph.node
            if node.op_type == "Transpose" and node.input[0] in tables}


def mask_source(name, producers):
    """What a mask is a copy of."""
    while name in producers and producers[name].op_type == "Identity":
        name = producers[name].input[0]
    return name


def packed_half_bytes(graph, weights, shapes, data_inputs):
    """Bytes of all weights together, or None when there is no rule for one.

    weights: {name: dims} of the float constants that are read as data; shapes: {name: dims} of all
    values; data_inputs(node): the names a node reads as data.
    """
    readers, constants = Readers(graph), constant_names(graph)
    producers = {name: node for node in graph.node for name in node.output}
    folded = normalised_convs(graph, readers, producers)
    known = with_derived(graph, weights, constants, shapes, data_inputs)
    tied = tied_tables(graph, constants)
    grids = {}
    for node in graph.node:
        if node.output[0] in constants:
            continue
        if node.op_type == "BatchNormalization":
            if node.output[0] not in folded:
                return None
            conv = folded[node.output[0]]
            if len(conv.input) < 3:
                grids[node.output[0]] = texels(known[conv.input[1]][0])
            continue
        if node.op_type == "Where" and node.input[0] in constants:
            source = mask_source(node.input[0], producers)
            grids[source] = rows_grid(shapes[source])
            continue
        for position, name in enumerate(data_inputs(node)):
            if name in tied:
                continue  # counted where its rows are gathered
            if math.prod(known.get(name, ())) > 1:
                grids[name] = grid_of(node, position, known[name])
    return None if None in grids.values() else TEXEL_BYTES * sum(grids.values())
