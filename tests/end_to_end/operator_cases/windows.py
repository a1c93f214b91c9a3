"""Convolutions, pools and resizes."""

import numpy as np
from onnx import helper

from tests.end_to_end.operator_cases.model import Model, as_floats, case, floats


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
