"""How many launches of each operator any engine with the usual fusions makes, from the graph alone.

An operator below reads its inputs more than once or at other places than it writes, so it can be
fused into no other, and every engine has one kernel for it: exactly one launch a node, whatever the
tile sizes and placements. Elementwise operators, reshapes and transposes are not counted: how many
of them remain depends on the fusions.

- Conv, ConvTranspose, MatMul, Gemm, Softmax, MaxPool, AveragePool, GlobalAveragePool and Resize: one
  a node, under its name.
- LayerNormalization: one a node, and one a chain ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div,
  Mul, Add, which is how exporters write it before opset 17.

Nodes that depend on constants only are folded and not counted.
"""

import collections

from half_storage import LAYER_NORM, Readers, constant_names, follow

SINGLE = ("Conv", "ConvTranspose", "MatMul", "Gemm", "Softmax", "MaxPool", "AveragePool",
          "GlobalAveragePool", "Resize", "LayerNormalization")


def compute_launches(graph):
    """{lowered operator: launches}, without operators that do not occur."""
    constants, readers = constant_names(graph), Readers(graph)
    counts = collections.Counter()
    for node in graph.node:
        if node.output[0] in constants:
            continue
        if node.op_type in SINGLE:
            counts[node.op_type] += 1
        elif follow(node, LAYER_NORM, readers):
            counts["LayerNormalization"] += 1
    return dict(counts)
