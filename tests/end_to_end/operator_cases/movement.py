"""Operators that move, pick, place and join elements."""

import numpy as np
from onnx import helper

from tests.end_to_end.operator_cases.model import CASES, Model, case, floats


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
    places = model.weight("i", np.array([[1, -2], [0, 4]]))
    model.result("ScatterElements", [x, places, model.weight("u0", floats(2, 2))], axis=1)
    rows = model.weight("n", np.array([[4], [0]]))
    return model.result("ScatterND", [x, rows, model.weight("u1", floats(2, 6))], reduction="add")


@case
def repeats_and_borders():
    model = Model(13)
    x = model.input("x", 2, 3, 5)
    model.result("Tile", [x, model.ints("repeats", 2, 1, 3)])
    for mode in ("reflect", "edge"):
        model.result("Pad", [x, model.ints(f"pads_{mode}", 0, 1, 2, 1, 2, 3) if mode == "edge"
                             else model.ints("pads_r", 1, 0, 2, 0, 2, 3)], mode=mode)
    return model.result("Pad", [x, model.ints("cut", 0, -1, 2, 0, 1, -2)])
