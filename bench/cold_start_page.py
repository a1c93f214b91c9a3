"""docs/cold-start.md from what cold_start.py measured."""

import statistics

from markdown_page import table

ALLOWED = 1.15  # times the larger of disk and execution
MIB = 1 << 20

EXPLANATION = """\
Each row: the fastest (median) of {rounds} whole processes, start to output on disk, model files dropped from the page cache,
programs cached; the programs took turns. Load average at the start and after each round: {load}, of {cores}
cores{session}.
Error: relative, against ONNX Runtime's output for the same input; fmexec must stay within 1.5 times that of an emulation of
fp16 storage. Bar: {allowed} times the larger of the weights' bytes at the disk's rate ({rate:.2f} GB/s, direct reads of 1 MiB)
and the preloaded plan's warm execution (the fastest in one process), plus the start-up: a bare fmexec of one tiny launch
({bare:.3f} s, peak RSS {bare_peak:.0f} MiB), with this network's time to context and programs in place of the tiny one's
({bare_startup:.3f} s). Peak of weights: preloaded + in flight + staging, as fmexec accounts them. The last column is how much
of the weights' size the whole process takes beyond a bare one: activations, inputs and outputs included. MNN as its wheel
from PyPI: {mnn}."""

SESSION = ": other work ran too, but these programs' scheduling group was at nice {autogroup}, so it had to wait"

LIMITED = """\
Each program once in a control group of Linux that holds it to {share} of the network's weights as fmexec packs them (halves),
without swap. Pages of files count in the group that reads them first and are given back near the limit; those of OpenCL's
compiler library were in the page cache before. A bare fmexec of one tiny launch takes {bare}. Where a program does not finish,
the row below it adds that to the limit."""


def cold_rows(result):
    execution, preloaded, startup = {}, {}, {}  # by model; of the first policy: preload
    for row in result["rows"]:
        model = row["model"]
        if "warm_exec_s" in row:
            execution.setdefault(model, row["warm_exec_s"])
            preloaded.setdefault(model, min(row["seconds"]))
            startup[model] = min(row["startup_s"], startup.get(model, row["startup_s"]))
    for row in result["rows"]:
        seconds = min(row["seconds"])
        cells = [row["model"], row["contestant"], f"{seconds:.2f} s ({statistics.median(row['seconds']):.2f} s)",
                 f"{row['error']:.1e}"]
        resident = f"{row['peak_resident'] / MIB:.0f} MiB"
        if "weights_bytes" in row:
            weights = row["weights_bytes"]
            work = max(weights / result["disk_bytes_per_s"], execution[row["model"]])
            bar = (ALLOWED * work + result["bare_s"] - result["bare_startup_s"] + startup[row["model"]])
            beyond = (row["peak_resident"] - result["bare_peak_resident"]) / weights
            cells += [f"{bar:.2f} s", "yes" if seconds <= bar else "no",
                      f"{seconds / preloaded[row['model']]:.2f}", resident,
                      f"{row['peak_weights'] / MIB:.1f} MiB", f"{row['peak_weights'] / weights:.3f}",
                      f"{beyond:.2f}"]
        else:
            cells += ["", "", f"{seconds / preloaded[row['model']]:.2f}", resident, "", "", ""]
        yield cells


def limited_rows(limited):
    for row in limited["rows"]:
        outcome = ("finished" if row["status"] == 0 else
                   "killed for its memory" if row["killed"] else f"ended with {row['status']}")
        finished = row["status"] == 0
        peak = "" if row["peak"] is None else f"{row['peak'] / MIB:.1f} MiB"
        yield [row["model"], row["contestant"], f"{row['limit'] / MIB:.1f} MiB", outcome,
               f"{row['error']:.1e}" if finished else "", f"{row['seconds']:.2f} s" if finished else "", peak]


def limited_section(limited):
    yield "## Under a memory limit"
    yield ""
    if "not_available" in limited:
        yield f"Not measured: {limited['not_available']}."
        return
    yield from table(("model", "program", "limit", "outcome", "error", "start to output", "peak in the group"),
                     limited_rows(limited))
    yield ""
    bare = limited["bare_peak"]
    yield LIMITED.format(share=limited["share"],
                         bare="an amount this kernel does not say" if bare is None else f"{bare / MIB:.1f} MiB")


def page(result):
    """The measurement as Markdown."""
    backends = result["mnn_backends"]
    mnn = ("not measured" if not backends else
           "its CPU backend; it has no OpenCL backend" if "OPENCL" not in backends else "both its backends")
    lines = ["# Cold start on PoCL", "", "Written by `bench/cold_start.py`.", ""]
    lines += table(("model", "program", "start to output", "error", "bar", "in it", "of preload", "peak RSS",
                    "peak of weights", "of weights", "peak RSS beyond bare, of weights"), cold_rows(result))
    autogroup = result["autogroup"]
    lines += ["", EXPLANATION.format(
        rounds=result["rounds"], load=", ".join(f"{load:.1f}" for load in result["load"]),
        session=SESSION.format(autogroup=autogroup) if autogroup else "", cores=result["cores"],
        allowed=ALLOWED, rate=result["disk_bytes_per_s"] / 1e9, bare=result["bare_s"],
        bare_startup=result["bare_startup_s"], bare_peak=result["bare_peak_resident"] / MIB, mnn=mnn), ""]
    lines += limited_section(result["limited"])
    return "\n".join(lines) + "\n"
