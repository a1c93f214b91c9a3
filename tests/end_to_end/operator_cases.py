"""Small models, one a group of operator forms, for test_operators.py."""

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
def convolutions():
    model = Model()
    x = model.input("x", 1, 5, 9, 11)
    model.result("Conv", [x, model.weight("w", floats(7, 5, 3, 3)), model.weight("b", floats(7))],
                            strides=[2, 1], pads=[1, 0, 2, 1])
    model.result("Conv", [x, model.weight("w1", floats(3, 5, 1, 1))])
    model.result("Conv", [x, model.weight("wd", floats(5, 1, 5, 3))], group=5, pads=[2, 1, 2, 1])
    model.result("Conv", [x, model.weight("wa", floats(4, 5, 3, 3))], dilations=[2, 2])
    model.result("Conv", [x, model.weight("wu", floats(4, 5, 3, 2))], strides=[2, 2],
                            auto_pad="SAME_UPPER")
    return model


@case
def transposed_convolutions():
    model = Model()
    x = model.input("x", 1, 5, 4, 6)
    model.result("ConvTranspose", [x, model.weight("w", floats(5, 6, 2, 2)),
                                              model.weight("b", floats(6))], strides=[2, 2])
    model.result("ConvTranspose", [x, model.weight("v", floats(5, 3, 3, 3))], strides=[2, 2],
                            pads=[1, 1, 1, 1], output_padding=[1, 1])
    return model


@case
def transposed_convolutions_of_automatic_padding():
    model = Model()
    x = model.input("x", 1, 5, 5, 7)  # odd: Conv's pads would differ
    for number, (kernel, strides) in enumerate([((3, 3), [2, 2]), ((4, 2), [1, 1]), ((5, 3), [2, 3])]):
        for side in ("SAME_UPPER", "SAME_LOWER"):
            model.result("ConvTranspose", [x, model.weight(f"w{number}{side}", floats(5, 3, *kernel))],
                         strides=strides, auto_pad=side)
    return model


@case
def folded_padding_and_plain_padding():
    model = Model()
    x = model.input("x", 1, 5, 6, 7)
    padded = model.node("Pad", [x, model.ints("p", 0, 0, 1, 2, 0, 0, 3, 0)])
    model.result("Conv", [padded, model.weight("w", floats(4, 5, 3, 3))], pads=[1, 1, 1, 1])
    model.result("Pad", [x, model.ints("q", 0, 0, 1, 2, 0, 1, 0, 3),
                                    model.weight("v", np.float32(0.5))])
    y = model.input("y", 3, 6)
    model.result("Pad", [y, model.ints("r", 1, 2, 0, 3)])
    return model


@case
def pools():
    model = Model()
    x = model.input("x", 1, 6, 9, 10)
    model.result("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    model.result("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    model.result("AveragePool", [x], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
    model.result("AveragePool", [x], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    model.output(model.node("GlobalAveragePool", [x]), model.node("GlobalMaxPool", [x]))
    return model


@case
def resizes():
    model = Model(13)
    x = model.input("x", 1, 5, 6, 7)
    scales = model.weight("s", np.array([1, 1, 2, 3], np.float32))
    for mode, transformation, nearest in (("nearest", "asymmetric", "floor"),
                                          ("nearest", "half_pixel", "round_prefer_floor"),
                                          ("linear", "half_pixel", "floor"),
                                          ("linear", "align_corners", "floor"),
                                          ("linear", "asymmetric", "floor")):
        model.result("Resize", [x, "", scales], mode=mode, nearest_mode=nearest,
                                coordinate_transformation_mode=transformation)
    sizes = model.ints("z", 1, 5, 9, 4)
    model.result("Resize", [x, "", "", sizes], mode="linear")
    return model


@case
def upsample_of_opset_nine():
    model = Model(9)
    x = model.input("x", 1, 5, 3, 4)
    return model.result("Upsample", [x, model.weight("s", np.array([1, 1, 2, 2], np.float32))])


@case
def matrix_products():
    model = Model()
    a, b = model.input("a", 3, 5, 6), model.input("b", 3, 6, 7)
    model.result("MatMul", [a, b])
    model.result("MatMul", [a, model.weight("w", floats(6, 9))])
    turned = model.node("Transpose", [model.input("k", 3, 7, 6)], perm=[0, 2, 1])
    model.result("MatMul", [a, turned])
    model.result("MatMul", [model.weight("l", floats(4, 5)), a])
    c = model.input("c", 2, 3, 5, 6)
    model.result("MatMul", [c, b])
    model.result("MatMul", [a, model.weight("v", floats(6))])
    return model


@case
def gemms():
    model = Model()
    x, t = model.input("x", 5, 6), model.input("t", 6, 5)
    w, c = model.weight("w", floats(7, 6)), model.weight("c", floats(7))
    model.result("Gemm", [x, w, c], transB=1, alpha=0.5, beta=2.0)
    model.result("Gemm", [t, w, model.weight("m", floats(5, 7))], transA=1, transB=1)
    model.result("Gemm", [x, model.input("y", 6, 7), model.input("z", 5, 7)])
    model.result("Gemm", [x, model.weight("n", floats(6, 3)), model.weight("o", floats(5, 1))])
    return model


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
def layer_normalisation():
    model = Model(17)
    x = model.input("x", 3, 5, 10)
    model.result("LayerNormalization",
                 [x, model.weight("g", floats(10)), model.weight("b", floats(10))])
    model.result("LayerNormalization", [x, model.weight("h", floats(5, 10))], axis=1)
    return model


@case
def batch_normalisation_without_convolution():
    model = Model()
    x = model.input("x", 2, 6, 4, 5)
    weights = [model.weight(n, floats(6, low=0.2)) for n in "gbmv"]
    return model.result("BatchNormalization", [x, *weights])


@case
def softmax_axes():
    model = Model(13)
    x = model.input("x", 3, 5, 6)
    return model.output(*(model.node("Softmax", [x], axis=axis) for axis in (0, 1, 2)))


@case
def softmax_of_opset_eleven():
    model = Model(11)
    x = model.input("x", 3, 5, 6)
    return model.output(*(model.node("Softmax", [x], axis=axis) for axis in (0, 1, 2)))


@case
def reductions():
    model = Model(12)
    x = model.input("x", 2, 5, 6, 7)
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2",
               "ReduceSumSquare", "ReduceProd"):
        model.result(op, [x], axes=[-1])
    model.result("ReduceMean", [x], axes=[1], keepdims=0)
    model.result("ReduceMax", [x], axes=[1, 3])
    model.output(model.node("ReduceSum", [x], axes=[2, 3]), model.node("ReduceMean", [x]))
    return model


@case
def views():
    model = Model()
    x = model.input("x", 2, 6, 8)
    turned = model.node("Transpose", [x], perm=[2, 0, 1])
    model.result("Reshape", [turned, model.ints("r", 4, 24)])
    model.result("Slice", [x, model.ints("s", 5, 1), model.ints("e", -7, 8),
                                      model.ints("a", 1, 2), model.ints("t", -2, 3)])
    thin = model.node("Slice", [x, model.ints("s1", 0), model.ints("e1", 1),
                                model.ints("a1", 1)])
    model.result("Expand", [thin, model.ints("shape", 2, 3, 8)])
    model.result("Flatten", [turned], axis=2)
    model.result("Unsqueeze", [x, model.ints("u", 0, 3)])
    return model


@case
def concatenations():
    model = Model()
    a, b = model.input("a", 2, 5, 6), model.input("b", 2, 3, 6)
    model.result("Concat", [a, b], axis=1)
    model.result("Concat", [a, a, model.weight("w", floats(2, 5, 3))], axis=2)
    x = model.node("Relu", [model.input("x", 1, 6, 4, 5)])
    x = model.node("MaxPool", [x], kernel_shape=[1, 1])
    y = model.node("MaxPool", [model.input("y", 1, 8, 4, 5)], kernel_shape=[1, 1])
    model.output(model.node("Concat", [y, x], axis=1), model.node("Concat", [x, y], axis=1))
    return model


@case
def gathers():
    model = Model()
    x = model.input("x", 3, 7, 6)
    model.result("Gather", [x, model.ints("i", 4, 0, -1)], axis=1)
    model.result("Gather", [x, model.weight("j", np.array([[2, 5], [1, 1]]))], axis=2)
    model.result("Gather", [x, model.weight("k", np.array(-2))], axis=1)
    return model


@case
def splits_and_sums():
    model = Model()
    x = model.input("x", 3, 10)
    model.ints("parts", 3, 7)
    model.nodes.append(helper.make_node("Split", [x, "parts"], ["p", "q"], axis=1))
    model.output(model.node("Sum", ["p", model.weight("w", floats(3)), "p"]), "q")
    return model


@case
def an_output_that_is_an_input():
    model = Model()
    x = model.input("x", 3, 10)
    return model.result("Identity", [x])


@case
def wide_filters_in_parts():
    """2048 texels hold 8192 columns: in images that large the weight is split by columns."""
    model = Model()
    x = model.input("x", 3, 20)
    y = model.node("Gemm",
                   [x, model.weight("w", floats(20, 9000)), model.weight("b", floats(9000))])
    y = model.node("Relu", [y])
    return model.result("Slice", [y, model.ints("s", 8100), model.ints("e", 8300),
                                             model.ints("a", 1)])


def random_chain(model, value, shape, rng, length):
    """Movement operators in a row behind `value`, a tensor of `shape`. Returns the last and its shape."""
    def ints(*values):
        return model.ints(f"i{len(model.weights)}", *values)

    for _ in range(length):
        rank, kind = len(shape), rng.integers(5)
        axis = int(rng.integers(rank))
        if kind == 0:
            order = [int(d) for d in rng.permutation(rank)]
            value = model.node("Transpose", [value], perm=order)
            shape = [shape[d] for d in order]
        elif kind == 1 and shape[axis] > 2:
            step = int(rng.integers(1, 3))
            value = model.node("Slice", [value, ints(1), ints(shape[axis]), ints(axis), ints(step)])
            shape = [*shape[:axis], (shape[axis] - 1 + step - 1) // step, *shape[axis + 1:]]
        elif kind == 2 and shape[axis] > 3:
            value = model.node("Gather", [value, ints(-1, -2, -3)], axis=axis)
            shape = [*shape[:axis], 3, *shape[axis + 1:]]
        elif kind == 3 and rank == 4 and shape[1] % 4 == 0:
            value = model.node("DepthToSpace", [value], blocksize=2,
                               mode=["DCR", "CRD"][int(rng.integers(2))])
            shape = [shape[0], shape[1] // 4, shape[2] * 2, shape[3] * 2]
        elif kind == 3 and rank == 4 and shape[2] % 2 == 0 and shape[3] % 2 == 0:
            value = model.node("SpaceToDepth", [value], blocksize=2)
            shape = [shape[0], shape[1] * 4, shape[2] // 2, shape[3] // 2]
        else:
            count, shape = int(np.prod(shape)), []
            while len(shape) < 3:
                divisors = [d for d in (1, 2, 3, 4, 6, 8, 12) if count % d == 0]
                shape.append(int(rng.choice(divisors)))
                count //= shape[-1]
            shape.append(count)
            value = model.node("Reshape", [value, ints(*shape)])
    return value, shape


def random_chains(seed):
    """Chains of movement operators between operators that read and write texels, and to outputs."""
    rng = np.random.default_rng(seed)
    model = Model()
    x = model.input("x", 1, 8, 6, 8)
    sources = [
        (model.node("Conv", [x, model.weight("w", floats(12, 8, 1, 1))]), [1, 12, 6, 8]),
        (model.node("Relu", [x]), [1, 8, 6, 8]),
        (model.node("MatMul", [model.node("Reshape", [x, model.ints("m", 12, 32)]),
                               model.weight("u", floats(32, 24))]), [12, 24]),
    ]
    for value, shape in sources:
        for reader in ("Softmax", "MatMul", "Add", ""):
            moved, at = random_chain(model, value, shape, rng, int(rng.integers(1, 5)))
            if reader == "Softmax":
                moved = model.node(reader, [moved], axis=-1)
            elif reader == "MatMul":
                moved = model.node(reader, [moved, model.weight(f"k{moved}", floats(at[-1], 8))])
                at = [*at[:-1], 8]
            elif reader == "Add":
                moved = model.node(reader, [moved, model.weight(f"c{moved}", floats(at[-1]))])
            moved, _ = random_chain(model, moved, at, rng, int(rng.integers(0, 3)))
            model.output(moved)
    return model


for seed in range(5):
    CASES[f"random_movement_{seed}"] = lambda seed=seed: random_chains(seed)


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


@case
def patches_with_a_class_token():
    model = Model()
    image = model.input("image", 1, 3, 12, 12)
    patches = model.node("Conv", [image, model.weight("w", floats(8, 3, 4, 4))], strides=[4, 4])
    flat = model.node("Reshape", [patches, model.ints("r", 1, 8, 9)])
    tokens = model.node("Transpose", [flat], perm=[0, 2, 1])
    joined = model.node("Concat", [model.weight("class", floats(1, 1, 8)), tokens], axis=1)
    added = model.node("Add", [joined, model.weight("position", floats(1, 10, 8))])
    model.output(added)
    first = model.node("Gather", [added, model.weight("zero", np.int64(0))], axis=1)
    return model.result("Gemm", [first, model.weight("head", floats(8, 6))])


@case
def pixel_shuffles():
    model = Model()
    x = model.node("Conv", [model.input("x", 1, 4, 6, 4), model.weight("w", floats(16, 4, 3, 3))],
                   pads=[1, 1, 1, 1])
    for mode in ("DCR", "CRD"):
        up = model.node("DepthToSpace", [x], blocksize=2, mode=mode)
        model.output(model.node("Conv", [up, model.weight(f"v{mode}", floats(3, 4, 3, 3))]))
    down = model.node("SpaceToDepth", [model.node("Relu", [x])], blocksize=2)
    model.result("Conv", [down, model.weight("k", floats(5, 64, 1, 1))])
    return model


@case
def parts_joined_in_place():
    model = Model()
    x = model.input("x", 1, 8, 5, 6)
    a = model.node("Conv", [x, model.weight("wa", floats(8, 8, 1, 1))])
    b = model.node("Relu", [model.node("Conv", [x, model.weight("wb", floats(12, 8, 3, 3))],
                                       pads=[1, 1, 1, 1])])
    joined = model.node("Concat", [a, b, x], axis=1)
    model.result("MaxPool", [joined], kernel_shape=[2, 2])
    wide = model.node("Concat", [a, x], axis=3)
    return model.result("MaxPool", [wide], kernel_shape=[2, 2])


def as_floats(model, value):
    return model.node("Cast", [value], to=TensorProto.FLOAT)


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


@case
def positions_of_extremes():
    model = Model(13)
    x = model.input("x", 3, 5, 6)
    for axis in (0, 1, 2):
        model.output(as_floats(model, model.node("ArgMax", [x], axis=axis)))
    model.output(as_floats(model, model.node("ArgMin", [x], axis=1, keepdims=0)),
                 model.node("Hardmax", [x], axis=1), model.node("LogSoftmax", [x], axis=0))
    model.nodes.append(helper.make_node("TopK", [x, model.ints("k", 3)], ["top", "at"], axis=1))
    return model.output("top", as_floats(model, "at"))


@case
def sums_along_axes():
    model = Model(13)
    x = model.input("x", 3, 5, 6)
    for op in ("ReduceL1", "ReduceLogSumExp"):
        model.output(model.node(op, [x], axes=[1]), model.node(op, [x], axes=[0, 2], keepdims=0))
    model.result("ReduceLogSum", [model.node("Abs", [x])], axes=[2])
    return model.output(model.node("CumSum", [x, model.ints("axis", 1)]),
                        model.node("CumSum", [x, model.ints("back", -1)], exclusive=1, reverse=1))


@case
def computed_positions():
    model = Model(16)
    x = model.input("x", 7, 6)
    place = model.node("ArgMax", [x], axis=1, keepdims=0)
    model.output(model.node("Gather", [x, place], axis=0),
                 model.node("GatherElements", [x, model.node("ArgMax", [x], axis=0)], axis=0),
                 model.node("GatherND", [x, model.node("Unsqueeze", [place, model.ints("u", 1)])]))
    one = model.node("OneHot", [place, model.ints("depth", 6), model.weight("values", floats(2))])
    model.output(one)
    model.result("ScatterElements", [x, model.weight("i", np.array([[1, -2], [0, 4]])), model.weight("u0", floats(2, 2))],
                 axis=1)
    return model.result("ScatterND", [x, model.weight("n", np.array([[4], [0]])), model.weight("u1", floats(2, 6))],
                        reduction="add")


@case
def repeats_and_borders():
    model = Model(13)
    x = model.input("x", 2, 3, 5)
    model.result("Tile", [x, model.ints("repeats", 2, 1, 3)])
    for mode in ("reflect", "edge"):
        model.result("Pad", [x, model.ints(f"pads_{mode}", 0, 1, 2, 1, 2, 3) if mode == "edge"
                             else model.ints("pads_r", 1, 0, 2, 0, 2, 3)], mode=mode)
    return model.result("Pad", [x, model.ints("cut", 0, -1, 2, 0, 1, -2)])


@case
def windows_of_one_and_three_dimensions():
    model = Model(13)
    line, block = model.input("line", 1, 4, 13), model.input("block", 1, 3, 6, 7, 5)
    model.result("Conv", [line, model.weight("w1", floats(6, 4, 3)), model.weight("b1", floats(6))], strides=[2],
                 pads=[1, 1])
    model.result("ConvTranspose", [line, model.weight("t1", floats(4, 5, 3))], strides=[2])
    model.result("Conv", [block, model.weight("w3", floats(4, 3, 2, 3, 3))], strides=[2, 1, 1], pads=[1, 1, 0, 0, 1, 1])
    model.result("ConvTranspose", [block, model.weight("t3", floats(3, 2, 2, 2, 3))], strides=[2, 2, 1],
                 pads=[1, 0, 1, 0, 1, 0])
    for op in ("MaxPool", "AveragePool"):
        model.result(op, [line], kernel_shape=[3], strides=[2], pads=[1, 1])
        model.result(op, [block], kernel_shape=[2, 3, 2], strides=[2, 2, 1], pads=[1, 1, 0, 0, 1, 1])
    return model.output(model.node("GlobalAveragePool", [line]), model.node("GlobalMaxPool", [block]))


@case
def computed_and_grouped_filters():
    model = Model(13)
    x = model.input("x", 1, 6, 7, 8)
    model.result("Conv", [x, model.weight("g", floats(9, 2, 3, 3)), model.weight("b", floats(9))], group=3)
    model.result("ConvTranspose", [x, model.weight("t", floats(6, 2, 2, 2))], group=2, strides=[2, 2])
    model.result("Conv", [x, model.input("w", 5, 6, 3, 3), model.input("c", 5)], pads=[1, 1, 1, 1])
    model.result("Conv", [x, model.input("d", 6, 1, 3, 3)], group=6)
    return model.result("ConvTranspose", [x, model.input("v", 6, 3, 3, 3)], strides=[2, 2], auto_pad="SAME_UPPER")


@case
def normalisations():
    model = Model(13)
    x = model.input("x", 2, 6, 4, 5)
    scale, shift = model.weight("scale", floats(6)), model.weight("shift", floats(6))
    model.result("InstanceNormalization", [x, scale, shift])
    model.result("LRN", [x], size=3, alpha=0.01, beta=0.6, bias=1.5)
    model.result("MeanVarianceNormalization", [x])
    model.result("LpNormalization", [x], axis=1)
    spread = model.node("Abs", [model.input("v", 6)])
    return model.result("BatchNormalization", [x, model.input("s", 6), shift, model.input("m", 6), spread])


@case
def operators_that_are_functions():
    """Operators that ONNX defines by others, taken apart when imported."""
    model = Model(13)
    scores = model.input("scores", 5, 4)
    labels = model.node("ArgMax", [model.input("x", 5, 4)], axis=1, keepdims=0)
    return model.result("SoftmaxCrossEntropyLoss", [scores, labels], reduction="mean")


@case
def places_of_largest_elements():
    """MaxPool's second output, with windows that overlap and hang over the edge."""
    model = Model(13)
    x, line = model.input("x", 2, 3, 7, 6), model.input("line", 1, 2, 11)
    model.nodes.append(helper.make_node("MaxPool", [x], ["y", "at"], kernel_shape=[3, 2], strides=[2, 1],
                                        pads=[1, 0, 1, 1]))
    model.nodes.append(helper.make_node("MaxPool", [line], ["u", "from"], kernel_shape=[4], strides=[3]))
    return model.output("y", as_floats(model, "at"), "u", as_floats(model, "from"))


@case
def grouped_blocks():
    model = Model(13)
    return model.result("Conv", [model.input("block", 1, 4, 5, 6, 5), model.weight("w", floats(6, 2, 2, 3, 3))],
                        group=2, pads=[1, 0, 0, 0, 1, 1])


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
