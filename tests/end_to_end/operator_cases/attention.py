"""Attention: of written-out products, and in the forms that become one launch."""

import numpy as np

from tests.end_to_end.operator_cases.model import Model, case, floats


@case
def attention():
    model = Model()
    x = model.input("x", 1, 6, 24)
    qkv = model.node("MatMul", [x, model.weight("w", floats(24, 72, low=-0.3, high=0.3))])
    heads = []
    for i in range(3):
        part = model.node("Slice", [qkv, model.ints(f"s{i}", 24 * i),
                                    model.ints(f"e{i}", 24 * (i + 1)), model.ints(f"a{i}", 2)])
        part = model.node("Reshape", [part, model.weight(f"r{i}", np.array([1, 6, 3, 8]))])
        heads.append(model.node("Transpose", [part], perm=[0, 2, 3, 1] if i == 1 else [0, 2, 1, 3]))
    scores = model.node("MatMul", [heads[0], heads[1]])
    scores = model.node("Mul", [scores, model.weight("scale", np.float32(0.35))])
    scores = model.node("Add", [scores, model.weight("mask", floats(1, 1, 6, 6))])
    mixed = model.node("MatMul", [model.node("Softmax", [scores], axis=-1), heads[2]])
    mixed = model.node("Transpose", [mixed], perm=[0, 2, 1, 3])
    mixed = model.node("Reshape", [mixed, model.ints("flat", 1, 6, 24)])
    out = model.node("MatMul", [mixed, model.weight("o", floats(24, 24))])
    return model.result("Add", [out, x])


@case
def attention_of_one_product():
    """Queries, keys and values from one product, split into heads and merged again."""
    model = Model()
    x = model.input("x", 7, 24)
    qkv = model.node("Add", [model.node("MatMul", [x, model.weight("w", floats(24, 72))]),
                             model.weight("b", floats(72))])
    heads = []
    for i in range(3):
        part = model.node("Slice", [qkv, model.ints(f"f{i}", 24 * i), model.ints(f"t{i}", 24 * i + 24),
                                    model.ints(f"a{i}", 1)])
        part = model.node("Reshape", [part, model.ints(f"r{i}", 7, 3, 8)])
        heads.append(model.node("Transpose", [part], perm=[1, 2, 0] if i == 1 else [1, 0, 2]))
    scores = model.node("Softmax", [model.node("MatMul", heads[:2])], axis=-1)
    mixed = model.node("Transpose", [model.node("MatMul", [scores, heads[2]])], perm=[1, 0, 2])
    mixed = model.node("Reshape", [mixed, model.ints("m", 7, 24)])
    return model.result("Gemm", [mixed, model.weight("o", floats(24, 20))])


def split_heads(model, tokens, count, heads, depth, transposed=False):
    parts = model.node("Reshape", [tokens, model.ints(f"h{tokens}", 1, count, heads, depth)])
    return model.node("Transpose", [parts], perm=[0, 2, 3, 1] if transposed else [0, 2, 1, 3])


def fused_attention(queries, keys, depth, columns, mask=None, scale=None, heads=3):
    """Attention of tokens to others, as the planner joins it to one launch; `mask` adds to the scores."""
    model = Model()
    x, z = model.input("x", 1, queries, 12), model.input("z", 1, keys, 12)
    q, k, v = (model.node("MatMul", [source, model.weight(f"w{n}", floats(12, heads * n))])
               for source, n in ((x, depth), (z, depth), (z, columns)))
    q = split_heads(model, q, queries, heads, depth)
    k = split_heads(model, k, keys, heads, depth, transposed=True)
    v = split_heads(model, v, keys, heads, columns)
    scores = model.node("MatMul", [q, k])
    if scale is not None:
        scores = model.node("Mul", [scores, model.weight("scale", np.float32(scale))])
    if mask is not None:
        scores = mask(model, scores)
    mixed = model.node("MatMul", [model.node("Softmax", [scores], axis=-1), v])
    mixed = model.node("Transpose", [mixed], perm=[0, 2, 1, 3])
    mixed = model.node("Reshape", [mixed, model.ints("merge", 1, queries, heads * columns)])
    return model.result("MatMul", [mixed, model.weight("o", floats(heads * columns, 12))])


@case
def fused_attention_with_scale():
    return fused_attention(37, 37, 16, 16, scale=0.25)


@case
def fused_cross_attention_of_odd_heads():
    return fused_attention(21, 50, 10, 7, scale=0.3)


@case
def fused_attention_of_one_query():
    return fused_attention(1, 50, 16, 16, scale=0.25)


@case
def fused_attention_with_causal_where():
    def causal(model, scores):
        seen = np.tril(np.ones((1, 1, 70, 70), bool)) & ~np.tril(np.ones((70, 70), bool), -40)
        return model.node("Where", [model.weight("seen", seen), scores,
                                    model.weight("lowest", np.float32(-3.4e38))])
    return fused_attention(70, 70, 8, 8, causal)


@case
def fused_attention_with_infinite_mask():
    mask = np.where(np.tril(np.ones((75, 75), bool)), 0, -np.inf).astype(np.float32)
    return fused_attention(75, 75, 8, 12, scale=0.35,
                           mask=lambda model, scores: model.node("Add", [scores, model.weight("mask", mask)]))


@case
def fused_attention_with_a_computed_mask():
    def padded(model, scores):
        bias = model.node("Mul", [model.input("allowed", 1, 1, 1, 33), model.weight("far", np.float32(-9))])
        return model.node("Add", [bias, scores])
    return fused_attention(18, 33, 8, 8, padded)


@case
def fused_attention_with_a_bias_a_head():
    return fused_attention(18, 33, 8, 8, scale=0.35, mask=lambda model, scores: model.node(
        "Add", [scores, model.weight("bias", floats(1, 3, 18, 33))]))


@case
def fused_attention_of_one_head_with_residual():
    model = Model()
    x = model.input("x", 26, 20)
    q, k, v = (model.node("MatMul", [x, model.weight(f"w{i}", floats(20, 20, low=-0.3, high=0.3))])
               for i in range(3))
    scores = model.node("MatMul", [q, model.node("Transpose", [k], perm=[1, 0])])
    mixed = model.node("MatMul", [model.node("Softmax", [scores], axis=-1), v])
    return model.result("Relu", [model.node("Add", [mixed, x])])
