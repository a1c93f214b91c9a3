"""Attention as one launch and as product, softmax and product: simulated execution times and memory for scores and
intermediate tensors, by shape and device; writes the table of docs/kernels.md: ./fm attention

A shape is heads x queries x keys x width of a head. Times are those of the launches of attention alone, without what
makes queries, keys and values.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/kernels.md"
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from markdown_page import write_marked  # noqa: E402
from tests.end_to_end import pipeline  # noqa: E402
from tests.end_to_end.operator_cases import Model  # noqa: E402

SHAPES = {"ViT-B/16": (12, 197, 197, 64), "GPT-Neo small, 128 tokens": (12, 128, 128, 64),
          "DepthAnything small": (6, 419, 419, 64), "Stable Diffusion, 512 of its tokens": (8, 512, 512, 40),
          "Whisper medium, one step": (16, 1, 1500, 64)}
CONFIGS = ("adreno-750", "adreno-640", "mali-g715", "mali-g52")
OPERATIONS = ("MatMul", "Softmax", "Attention")


def attention_model(heads, queries, keys, depth):
    """Each operand is an operator's result, so that it lies where activations lie."""
    model = Model()
    q, k, v = (model.node("Relu", [model.input(name, heads, rows, depth)])
               for name, rows in (("q", queries), ("k", keys), ("v", keys)))
    scores = model.node("MatMul", [q, model.node("Transpose", [k], perm=[0, 2, 1])])
    scaled = model.node("Mul", [scores, model.weight("scale", np.float32(depth ** -0.5))])
    return model.result("MatMul", [model.node("Softmax", [scaled], axis=-1), v]).proto()


def measured(path, config, folder, *options):
    """Microseconds of the launches of attention, and bytes of activations."""
    plan, weights, trace, result = (folder / name for name in ("plan.yaml", "w.fmw", "run.trace", "result.json"))
    pipeline.tool("fmplan", "--model", path, "--config", config, *options, "-o", plan)
    pipeline.tool("fmplan", "pack", "--plan", plan, "--model", path, "-o", weights)
    pipeline.tool("fmexec", "--plan", plan, "--weights", weights, "--record", trace)
    pipeline.tool("fmsim", "--config", config, "--trace", trace, "--sample", "auto", "--json", "-o", result)
    report = json.loads(result.read_text())
    times = [launch["end_ns"] - launch["start_ns"] for launch in report["launches"]
             if launch["operation"] in OPERATIONS]
    return sum(times) / 1e3, report["memory"]["by_class"]["activations"]


def rows():
    yield "attention", "heads x queries x keys x width", "device", "three launches", "one launch", "ratio", \
        "activations of three", "of one"
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            path = folder / "attention.onnx"
            onnx.save(attention_model(*shape), path)
            for config in CONFIGS:
                apart, before = measured(path, config, folder, "--no-fused-attention")
                joined, after = measured(path, config, folder)
                yield (name, " x ".join(map(str, shape)), config, f"{apart:.0f} us", f"{joined:.0f} us",
                       f"{apart / joined:.2f}", f"{before / 2**20:.2f} MiB", f"{after / 2**20:.2f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", help="print the table, leave the page as it is")
    options = parser.parse_args()
    lines = []
    for row in rows():
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    lines.insert(1, "|" + "---|" * lines[0].count(" | ") + "---|")
    if not options.print:
        PAGE.write_text(write_marked(PAGE.read_text(), "attention", "\n".join(lines)))


if __name__ == "__main__":
    main()
