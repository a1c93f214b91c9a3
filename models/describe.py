"""Prints the tables of models in README.md: parameters, multiply-accumulates, nodes, input."""

import os
import sys

import onnx

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "reference"))

from model_shapes import bind_shapes, static_dims
from onnx_totals import totals
from paper_figures import NETWORKS

MODELS = (
    ("models/vit.onnx", ()),
    ("models/vit-1024.onnx", ()),
    ("models/deepvit.onnx", ()),
    ("models/resnet50.onnx", ()),
    ("models/gpt-neo-small.onnx", ()),
    ("models/gpt-neo-1.3b.onnx", ()),
    ("models/gpt-neo-2.7b.onnx", ()),
    ("models/whisper-medium-encoder.onnx", ()),
    ("models/whisper-medium-decoder.onnx", ()),
    ("models/depth-anything-small.onnx", ()),
    ("models/depth-anything-large.onnx", ()),
    ("models/stable-diffusion-unet.onnx", ()),
    ("models/sam2-image-encoder.onnx", ()),
    ("models/sam2-mask-decoder.onnx", ()),
    ("tests/data/ch_PP-OCRv4_det_infer.onnx", ("x=1,3,640,640",)),
    ("tests/data/ch_ppocr_mobile_v2.0_cls_infer.onnx", ("x=1,3,48,192",)),
)
PUBLISHED = {  # skeleton: network of the paper, and elements of a tied matrix that it counts twice
    "gpt-neo-small": ("GPTN-S", 50257 * 768),
    "gpt-neo-1.3b": ("GPTN-1.3B", 50257 * 2048),
    "gpt-neo-2.7b": ("GPTN-2.7B", 50257 * 2560),
    "resnet50": ("ResNet50", 0),
    "sam2-image-encoder": ("SAM-2", 0),
    "vit-1024": ("ViT", 0),
    "deepvit": ("DeepViT", 0),
    "stable-diffusion-unet": ("SD-UNet", 0),
    "whisper-medium-encoder": ("Whisper-M", 0),
    "depth-anything-small": ("DepthA-S", 0),
    "depth-anything-large": ("DepthA-L", 0),
}


def describe(path, shapes):
    """One line of the table of files, and the totals it was made of."""
    full_path = os.path.join(ROOT, path)
    model = bind_shapes(onnx.load(full_path, load_external_data=False), shapes)
    value = model.graph.input[0]
    dims = "×".join(map(str, static_dims(value)))
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    result = totals(model)
    line = (
        f"| `{path}` | {opset} | {value.name} {dims} | {result['weight_elements']:,} "
        f"| {result['macs'] / 1e6:,.1f} | {result['nodes']} ({result['data_nodes']}) "
        f"| {os.path.getsize(full_path):,} |"
    )
    return line, result


def compare(name, result):
    """One line of the table that holds a skeleton against the paper's figures."""
    key, tied = PUBLISHED[name]
    millions, macs, operators = NETWORKS[key]
    return (f"| {key} | {name} | {(result['weight_elements'] + tied) / 1e6:,.1f} | {millions} "
            f"| {result['macs'] / 1e9:,.1f} | {macs} | {result['data_nodes']} | {operators} |")


def measure():
    """{path: (line of the table of files, totals)} of all models."""
    return {path: describe(path, shapes) for path, shapes in MODELS}


def tables(measured):
    """The lines of both tables."""
    files = ["| file | opset | input | weights | million MACs | nodes (on data) | bytes |",
             "|---|---|---|---|---|---|---|"]
    paper = ["| network | skeleton | million parameters | paper | GMAC | paper | nodes on data | paper |",
             "|---|---|---|---|---|---|---|---|"]
    for path, (line, result) in measured.items():
        files.append(line)
        name = os.path.splitext(os.path.basename(path))[0]
        if name in PUBLISHED:
            paper.append(compare(name, result))
    return files, paper


def main():
    print("\n\n".join("\n".join(table) for table in tables(measure())))


if __name__ == "__main__":
    main()
