"""Matrix products."""

from tests.end_to_end.operator_cases.model import Model, case, floats


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
def wide_filters_in_parts():
    """2048 texels hold 8192 columns: in images that large the weight is split by columns."""
    model = Model()
    x = model.input("x", 3, 20)
    y = model.node("Gemm",
                   [x, model.weight("w", floats(20, 9000)), model.weight("b", floats(9000))])
    y = model.node("Relu", [y])
    return model.result("Slice", [y, model.ints("s", 8100), model.ints("e", 8300),
                                             model.ints("a", 1)])
