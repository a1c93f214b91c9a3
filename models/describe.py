"""Prints the table of models in README.md: parameters, multiply-accumulates, nodes, input."""

import os
import sys

import onnx

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "reference"))

from model_shapes import bind_shapes, static_dims
from onnx_totals import totals

MODELS = (
    ("models/vit.onnx", ()),
    ("models/resnet50.onnx", ()),
    ("models/gpt-neo-small.onnx", ()),
    ("tests/data/ch_PP-OCRv4_det_infer.onnx", ("x=1,3,640,640",)),
    ("tests/data/ch_ppocr_mobile_v2.0_cls_infer.onnx", ("x=1,3,48,192",)),
)


def row(path, shapes):
    full_path = os.path.join(ROOT, path)
    model = bind_shapes(onnx.load(full_path, load_external_data=False), shapes)
    value = model.graph.input[0]
    dims = "×".join(map(str, static_dims(value)))
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    result = totals(model)
    return (
        f"| `{path}` | {opset} | {value.name} {dims} | {result['weight_elements']:,} "
        f"| {result['macs'] / 1e6:,.1f} | {result['nodes']} ({result['data_nodes']}) "
        f"| {os.path.getsize(full_path):,} |"
    )


def main():
    print("| file | opset | input | weights | million MACs | nodes (on data) | bytes |")
    print("|---|---|---|---|---|---|---|")
    for path, shapes in MODELS:
        print(row(path, shapes))


if __name__ == "__main__":
    main()
