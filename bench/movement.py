"""Operators left and bytes moved, with and without elimination of movement operators, for each network
at hand; writes the table of docs/layout.md: ./fm movement

`ONNX`: nodes of the model, without those that depend on constants only. `fused`: operators of the graph
after the passes, movement operators included. `launches`: kernels that run. Moved: launches that only
bring data from one place to another, and the bytes that they read and write.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin"))
PAGE = ROOT / "docs/layout.md"
sys.path[:0] = [str(ROOT), str(ROOT / "tests/reference")]

from half_storage import constant_names  # noqa: E402
from markdown_page import write_marked  # noqa: E402
from tests.end_to_end import pipeline  # noqa: E402

PLACEMENTS = ("image2d", "buffer")
SIMULATED = ("vit",)


def fmplan(*arguments):
    done = subprocess.run([BIN / "fmplan", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stdout


def onnx_operators(path):
    graph = onnx.load(path, load_external_data=False).graph
    constants = constant_names(graph)
    return sum(node.output[0] not in constants for node in graph.node)


def fused_operators(path, shape):
    """{layout class: operators} and their sum under `all`."""
    lines = fmplan("operators", "--model", path, *shape).splitlines()
    return {name: int(count) for name, count in (line.rsplit(" ", 1) for line in lines)}


def summary(path, shape, config, placement, *options):
    with tempfile.TemporaryDirectory() as folder:
        return json.loads(fmplan("--model", path, *shape, "--config", config, "--placement", placement,
                                 "--json", "-o", pathlib.Path(folder) / "plan.yaml", *options))


def moved(plan):
    movement = plan["movement"]
    return f"{movement['launches']} / {movement['bytes'] / 2**20:.2f} MiB"


def rows(config):
    yield ("network", "ONNX", "fused", "ILD-Variable", "placement", "launches before", "moved before",
           "launches after", "moved after", "index functions")
    for name, (source, shape) in pipeline.MODELS.items():
        path = ROOT / source
        fused = fused_operators(path, shape)
        for placement in PLACEMENTS:
            before = summary(path, shape, config, placement, "--no-elimination")
            after = summary(path, shape, config, placement)
            yield (name, onnx_operators(path), fused["all"], fused.get("ILD-Variable", 0), placement,
                   before["launches"]["kernels"], moved(before), after["launches"]["kernels"],
                   moved(after), after["movement"]["index_functions"])


def table(config):
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows(config)]
    lines.insert(1, "|" + "---|" * lines[0].count(" | ") + "---|")
    return "\n".join(lines)


def simulated(config):
    """Milliseconds of execution and of start-up (context, programs), before and after."""
    lines = ["| network | execution before | after | start-up before | after |", "|---|---|---|---|---|"]
    for name in SIMULATED:
        latency = [pipeline.Run(name, *options, config=config).simulated("--sample", "auto")["latency"]
                   for options in (("--no-elimination",), ())]
        cells = [f"{run[key] / 1e6:.1f} ms" for key in ("exec_ns", "startup_ns") for run in latency]
        lines.append(f"| {' | '.join([name, *cells])} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", default="adreno-750")
    parser.add_argument("--print", action="store_true", help="print the table, leave the page as it is")
    parser.add_argument("--simulate", action="store_true",
                        help="also record and simulate (minutes)")
    options = parser.parse_args()
    texts = {"table": table(options.config)}
    if options.simulate:
        texts["simulated"] = simulated(options.config)
    print("\n\n".join(texts.values()))
    if not options.print:
        page = PAGE.read_text()
        for mark, text in texts.items():
            page = write_marked(page, mark, text)
        PAGE.write_text(page)


if __name__ == "__main__":
    main()
