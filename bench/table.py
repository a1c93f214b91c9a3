"""Measures the numbers of README's table side by side in one run and writes them there: ./fm bench

Every row is a whole process: wall time and peak resident memory as the kernel reports them (wait4).
"""

import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = ROOT / "build/release/bin"
OUT = ROOT / "out/bench"
README = ROOT / "README.md"
CONFIG = "mali-g715"
MIB = 1024 * 1024


class Measured:
    """A finished process: seconds, peak resident bytes, and what it printed."""

    def __init__(self, *command):
        begin = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        self.output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        self.seconds = time.perf_counter() - begin
        self.peak = usage.ru_maxrss * 1024
        if os.waitstatus_to_exitcode(status) != 0:
            raise SystemExit(f"{' '.join(map(str, command))}\n{self.output}")


def fmplan(*arguments):
    return Measured(BIN / "fmplan", *arguments)


def prepare(name, model, *plan_options):
    """Plan and weights of a model; returns (time to plan, arguments for fmexec)."""
    plan, weights = OUT / f"{name}.plan.yaml", OUT / f"{name}.fmw"
    planned = fmplan("--model", model, "--config", CONFIG, *plan_options, "-o", plan)
    fmplan("pack", "--plan", plan, "--model", model, "-o", weights)
    return planned, ["--plan", plan, "--weights", weights]


def fmexec(arguments, *more):
    return Measured(BIN / "fmexec", *arguments, *more)


def inference_seconds(run):
    """The minimum inference time that fmexec printed."""
    match = re.search(r"inference\s.*?min ([0-9.]+) ms", run.output)
    if not match:
        raise SystemExit(f"no inference time in fmexec's output:\n{run.output}")
    return float(match.group(1)) / 1e3


def tiny_model():
    """A network of one launch: what an OpenCL process costs before any weights come."""
    import onnx
    from onnx import TensorProto, helper
    path = OUT / "tiny.onnx"
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])], "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=7), path)
    return path


def random_input():
    """An input of ViT for ONNX Runtime."""
    import numpy
    path = OUT / "vit.in.npz"
    values = numpy.random.default_rng(1).standard_normal((1, 3, 224, 224)).astype(numpy.float32)
    numpy.savez(path, **{"input:image": values})
    return path


def rows():
    vit = OUT / "vit.onnx"
    fmplan("fill", "--model", ROOT / "models/vit.onnx", "--seed", 1, "-o", vit)
    planned, default = prepare("vit", vit)  # as ./fm demo plans it
    _, buffers = prepare("vit-buffer", vit, "--placement", "buffer")
    _, images = prepare("vit-image", vit, "--placement", "image2d")
    _, streamed = prepare("vit-streamed", vit, "--placement", "buffer", "--policy", "always-next")
    _, bare = prepare("tiny", tiny_model(), "--placement", "buffer")
    yield "plan of ViT-B/16", f"{planned.seconds:.2f} s", "≤ 2 s"

    fmexec(buffers)  # fills the program cache
    run = fmexec(buffers, "--warmup", 1, "--repeat", 3)
    yield "inference on PoCL, buffers", f"{inference_seconds(run):.2f} s", "≤ 4 s"
    run = fmexec(images, "--repeat", 1)
    yield "inference on PoCL, images", f"{inference_seconds(run):.2f} s", "≤ 60 s"

    fmexec(bare), fmexec(streamed)
    process = fmexec(bare).peak
    preload, stream = fmexec(buffers).peak, fmexec(streamed).peak
    ort = Measured(sys.executable, ROOT / "bench/ort_run.py", vit, random_input(), OUT / "ort.npy").peak
    yield "peak RSS, bare OpenCL process (one tiny launch)", f"{process / MIB:.0f} MiB", ""
    yield "peak RSS, preloaded", f"{preload / MIB:.0f} MiB", ""
    yield "peak RSS, streamed (always-next)", f"{stream / MIB:.0f} MiB", "below ONNX Runtime"
    yield "peak RSS, ONNX Runtime", f"{ort / MIB:.0f} MiB", ""
    yield ("streamed beyond bare / preloaded beyond bare",
           f"{(stream - process) / (preload - process):.2f}", "≤ 0.5")

    trace = OUT / "vit.trace"
    fmexec(default)
    plain, recorded = fmexec(default), fmexec(default, "--record", trace)
    yield "recording", f"{recorded.seconds - plain.seconds:.1f} s", "≤ 60 s"
    yield "vit.trace", f"{trace.stat().st_size / 1e6:.2f} MB", "≤ 5 MB"
    simulated = Measured(BIN / "fmsim", "--config", CONFIG, "--trace", trace)
    summary = simulated.output.strip("\n").replace(str(trace), "out/vit.trace")
    replace_in_readme("fmsim", "```\n" + summary + "\n```\n")
    yield "fmsim on vit.trace", f"{simulated.seconds:.0f} s", "≤ 120 s"
    yield "peak RSS, fmsim", f"{simulated.peak / MIB:.0f} MiB", "≤ 1024 MiB"


def replace_in_readme(section, text):
    """Puts `text` between the markers of a section of README.md."""
    begin, end = f"<!-- {section}: written by ./fm bench -->\n", f"<!-- /{section} -->"
    head, rest = README.read_text().split(begin)
    README.write_text(head + begin + text + end + rest.split(end)[1])


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    lines = ["| what (ViT-B/16, fp16 storage, 2 cores) | measured | bar |", "|---|---|---|"]
    for row in rows():
        print("  ".join(row), flush=True)
        lines.append("| " + " | ".join(row) + " |")
    replace_in_readme("bench", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
