"""What a work-group costs in the recording build, in units of what it costs in the run: a table of docs/trace.md.

fmexec runs and records a network under libfmtrace_layer.so, which times every kernel it enqueues: those of the runs,
and those of the recording build, a queue a distinct launch. A work-group's time is that of its launch over the launch's
work-groups; of the runs the median counts. A queue's first batch is left out where there are others, since PoCL loads
a kernel within its first launch.

  .venv/bin/python bench/recording_cost.py          # some minutes; writes the table
"""

import argparse
import collections
import pathlib
import re
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/trace.md"
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from markdown_page import write_marked  # noqa: E402
from tests.end_to_end import pipeline  # noqa: E402

LAYER = pipeline.BIN / "libfmtrace_layer.so"
BAR = 10
NETWORKS = {"vit": ["buffer"], "resnet50": ["buffer", "image2d"], "ocr-cls": ["buffer"]}
LAUNCH = re.compile(r"launch (K\d+) (\w+) (\d+)x(\d+)x(\d+) in groups of (\d+)x(\d+)x(\d+), (\d+) ns measured, "
                    r"queue (\d+)")

Kernel = collections.namedtuple("Kernel", "name groups nanoseconds queue")


def product(numbers):
    result = 1
    for number in numbers:
        result *= int(number)
    return result


def kernels_of(trace):
    """What the layer saw enqueued, in order."""
    said = pipeline.tool("fmtrace", "dump", trace).stdout
    return [Kernel(m[2], product(m.groups()[2:5]) // product(m.groups()[5:8]), int(m[9]), int(m[10]))
            for m in LAUNCH.finditer(said)]


def programs_of(trace):
    """By launch in the order of the run: the number of its access program."""
    said = pipeline.tool("fmtrace", "dump", trace).stdout
    return [int(m[1]) for m in re.finditer(r"launch L\S+ .*?program (\d+)", said)]


def costs(network, placement, repeat=3):
    """[(kernel, nanoseconds a group in the run, the same recorded, groups recorded)] of the distinct launches."""
    run = pipeline.Run(network, "--placement", placement)
    with tempfile.TemporaryDirectory(prefix="flashmem-cost-") as folder:
        seen, recorded = pathlib.Path(folder, "seen.trace"), pathlib.Path(folder, "run.trace")
        for _ in range(2):  # the first fills PoCL's cache
            pipeline.tool("fmexec", "--plan", run.plan, "--weights", run.weights, "--repeat", repeat, "--record",
                          recorded, env={"OPENCL_LAYERS": str(LAYER), "FM_TRACE_FILE": str(seen)})
        kernels, programs = kernels_of(seen), programs_of(recorded)
    plain, batches = kernels[:repeat * len(programs)], collections.defaultdict(list)
    for kernel in kernels[len(plain):]:
        batches[kernel.queue].append(kernel)
    assert len(batches) == len(set(programs)), "a queue a distinct launch was expected"
    result = []
    for program, queue in enumerate(sorted(batches), 1):
        of_program = [i for i, number in enumerate(programs) if number == program]
        times = [statistics.median(plain[run * len(programs) + i].nanoseconds for run in range(repeat))
                 for i in of_program]
        counted = batches[queue][1:] or batches[queue]
        assert plain[of_program[0]].name == counted[0].name
        groups = sum(batch.groups for batch in counted)
        result.append((counted[0].name, statistics.median(times) / plain[of_program[0]].groups,
                       sum(batch.nanoseconds for batch in counted) / groups, groups))
    return result


def ratio(rows):
    """Of the recorded groups' time to what the same groups take in the run."""
    in_run = sum(plain * groups for _, plain, _, groups in rows)
    return sum(recorded * groups for _, _, recorded, groups in rows) / in_run


def table(measured):
    lines = [f"| network | recorded launches | work-groups | recording / run (bar: {BAR} x) | by kernel |",
             "|---|---|---|---|---|"]
    for name, rows in measured.items():
        kernels = collections.defaultdict(list)
        for row in rows:
            kernels[row[0]].append(row)
        worst = sorted(((ratio(of_kernel), kernel) for kernel, of_kernel in kernels.items()), reverse=True)
        lines.append(f"| {name} | {len(rows)} | {sum(row[3] for row in rows)} | **{ratio(rows):.1f} x** | "
                     + ", ".join(f"{kernel} {value:.1f} x" for value, kernel in worst) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", action="append", choices=NETWORKS, help="only this (prints, writes no page)")
    arguments = parser.parse_args()
    measured = {}
    for network in arguments.network or NETWORKS:
        for placement in NETWORKS[network]:
            print(f"{network}, {placement} ..", file=sys.stderr)
            measured[f"{network}, {'images' if placement == 'image2d' else 'buffers'}"] = costs(network, placement)
    text = table(measured)
    print(text)
    if not arguments.network:
        PAGE.write_text(write_marked(PAGE.read_text(), "recording", text))


if __name__ == "__main__":
    main()
