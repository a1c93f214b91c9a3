"""What the recorder layer costs a program, and what it sees of programs of others; writes the tables of
docs/recorders.md: ./fm recorder-layer

The cost: pairs of runs with and without the layer, in turn, the order within a pair by chance. Times are of the
launches alone, by the program's own clock and as CPU time of its process. Other work on the computer only adds to
them, so lower quartiles are compared; the interval holds their ratio with 95 % confidence (by resampling pairs).
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/recorders.md"
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from markdown_page import write_marked  # noqa: E402
from tests.end_to_end import pipeline  # noqa: E402
from tests.end_to_end.test_recorder_layer import PYOPENCL_PROGRAM, TINYGRAD_PROGRAM  # noqa: E402

LAYER = pipeline.BIN / "libfmtrace_layer.so"
SAMPLE = pipeline.BIN / "opencl_sample"
LOADS = {"kernels that do next to nothing": (2000, 1), "kernels of a network": (800, 100)}  # launches, rounds

PROGRAMS = {
    "clpeak 1.1.2, launches": ("clpeak", "--kernel-latency"),
    "CLBlast 1.5.3, tuner of xdot": ("clblast_tuner_xdot", "-n", "200000", "-runs", "2"),
    "CLBlast 1.5.3, tuner of xgemm_direct": (
        "clblast_tuner_xgemm_direct", "-m", "64", "-n", "64", "-k", "64", "-runs", "1", "-fraction", "500"),
    "pyopencl 2026.1.4": (sys.executable, "-c", PYOPENCL_PROGRAM),
    "tinygrad 0.14.0, a small network thrice": (sys.executable, "-c", TINYGRAD_PROGRAM),
}


def run(load, trace):
    """(seconds, CPU seconds) of the launches"""
    settings = {"OPENCL_LAYERS": str(LAYER), "FM_TRACE_FILE": str(trace)} if trace else {}
    done = subprocess.run([str(SAMPLE), "load", *map(str, load)], env={**os.environ, **settings}, check=True,
                          capture_output=True, text=True, timeout=60)
    wall, cpu = map(float, done.stdout.split())
    return wall, cpu


def paired(load, pairs, folder):
    """Of each pair: ((seconds, CPU seconds) without, the same with)."""
    trace = folder / "load.trace"
    run(load, trace)
    results = []
    for _ in range(pairs):
        order = [None, trace]
        random.shuffle(order)
        both = {with_trace is not None: run(load, with_trace) for with_trace in order}
        results.append((both[False], both[True]))
    return results, trace.stat().st_size


def lower_quartile(values):
    return statistics.quantiles(values, n=4)[0]


def cost_percent(pairs):
    return 100 * lower_quartile([with_it for _, with_it in pairs]) / lower_quartile([alone for alone, _ in pairs]) - 100


def cost_text(pairs):
    resampled = sorted(cost_percent(random.choices(pairs, k=len(pairs))) for _ in range(2000))
    return f"{cost_percent(pairs):+.1f} % ({resampled[50]:+.1f} to {resampled[-51]:+.1f})"


def rows(pairs):
    yield "program", "launches", "a launch", "time with the layer", "CPU time", "a launch more, CPU", "trace, a launch"
    for name, load in LOADS.items():
        with tempfile.TemporaryDirectory() as folder:
            results, trace_bytes = paired(load, pairs, pathlib.Path(folder))
        launches = load[0]
        wall, cpu = ([(without[i], with_it[i]) for without, with_it in results] for i in range(2))
        alone = lower_quartile([seconds for seconds, _ in wall])
        more = lower_quartile([with_it for _, with_it in cpu]) - lower_quartile([seconds for seconds, _ in cpu])
        yield (name, str(launches), f"{1e6 * alone / launches:.0f} µs",
               cost_text(wall), cost_text(cpu), f"{1e6 * more / launches:.1f} µs",
               f"{trace_bytes / launches:.0f} B")


def program_rows(folder):
    yield "program", "buffers", "images", "peak", "to device", "from device", "maps", "launches", "timed", "kernels", \
        "trace", "replay: launches, laws that hold"
    for name, command in PROGRAMS.items():
        if shutil.which(command[0]) is None:
            print(f"{command[0]} is not installed: left out", file=sys.stderr)
            continue
        print(f"recording {name}", file=sys.stderr)
        trace = folder / "app.trace"
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120, env={
            **os.environ, "DEV": "CL", "OPENCL_LAYERS": str(LAYER), "FM_TRACE_FILE": str(trace)})
        info = json.loads(pipeline.tool("fmtrace", "info", trace, "--json").stdout)
        result = json.loads(pipeline.tool("fmsim", "--config", "mali-g715", "--trace", trace, "--json").stdout)
        kinds, moved, kernels = info["host"]["by_kind"], info["host"]["bytes_transferred"], info["foreign_kernels"]
        holding = sum(check["holds"] for check in result["checks"])
        yield (name, str(info["objects"]["buffers"]), str(info["objects"]["images"]),
               mib(info["objects"]["peak_bytes"]), mib(moved["to_device"]), mib(moved["from_device"]),
               str(kinds.get("map", 0)), str(kinds["launch"]), str(sum(kernel["timed"] for kernel in kernels)),
               str(len(kernels)), f"{info['bytes'] / 1024:.0f} KiB",
               f"{len(result['launches'])}, {holding} of {len(result['checks'])}")


def mib(count):
    return f"{count / 2**20:.2f} MiB"


def table(lines):
    text = [f"| {' | '.join(line)} |" for line in lines]
    text.insert(1, "|---" * (text[0].count("|") - 1) + "|")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=41)
    parser.add_argument("--print", action="store_true", help="print the table, leave the page as it is")
    options = parser.parse_args()
    print(f"measuring {options.pairs} pairs of runs for each of {len(LOADS)} programs", file=sys.stderr)
    texts = {"overhead": table(rows(options.pairs))}
    with tempfile.TemporaryDirectory() as folder:
        texts["programs"] = table(program_rows(pathlib.Path(folder)))
    print("\n\n".join(texts.values()))
    if not options.print:
        page = PAGE.read_text()
        for mark, text in texts.items():
            page = write_marked(page, mark, text)
        PAGE.write_text(page)


if __name__ == "__main__":
    main()
