"""Table 6: parameters, multiply-accumulates and layers of the networks, counted in models/."""

import pathlib
import sys

from command_line import ROOT
from likeness import likeness_text
from markdown_page import table
from points import PRELOAD
from section import Section, Gathered

sys.path += [str(ROOT / "models"), str(ROOT / "tests/reference")]

from describe import PUBLISHED as SKELETONS  # noqa: E402
from describe import describe  # noqa: E402

INTRODUCTION = """\

## Table 6: the networks

Counted in `models/` by `models/describe.py`, which knows nothing of the planner; launches: what fmplan makes of the nodes. The paper
counts the operators of its own lowered graphs, the nodes here are the exporter's ([models/README.md](../models/README.md) says where
a network differs).
"""


def counted(path, tied):
    """`tied`: elements of a matrix that two operators share, which the paper counts twice."""
    totals = describe(str(path.relative_to(ROOT)), ())[1]
    return {"parameters": totals["weight_elements"] + tied, "macs": totals["macs"], "nodes": totals["data_nodes"]}


def facts_of(work, network):
    path = ROOT / network["model"]
    tied = SKELETONS[network["name"]][1]
    counts = work.kept(f"{network['name']}.totals", [path.read_bytes(), tied, pathlib.Path(__file__).read_bytes()],
                       lambda: counted(path, tied))
    return {**counts, "launches": work.points.plan(network, PRELOAD, work.device)[1]["launches"]["kernels"]}


def make(work):
    gathered = Gathered()
    for network in work.networks([network["name"] for network in work.study["networks"]]):
        gathered.add((network["published"], work.device, "counts"), facts_of, work, network)
    return gathered


def lines(found, study, published):
    yield INTRODUCTION
    quantities = (("parameters", "parameters_million", 1e6), ("macs", "macs_giga", 1e9), ("nodes", "layers", 1))
    rows, pairs = [], {kind: [] for kind, *_ in quantities}
    for (network, *_), facts in found.items():
        cells = []
        for kind, paper, scale in quantities:
            theirs = published[paper][network]
            pairs[kind].append((facts[kind] / scale, theirs))
            cells += [str(theirs), f"{facts[kind] / scale:.{0 if scale == 1 else 1}f}"]
        rows.append([network, *cells, str(facts["launches"])])
    yield from table(["network", "M parameters, paper", "here", "GMAC, paper", "here", "layers, paper", "nodes here", "launches"], rows)
    yield ""
    for what, kind in (("Parameters", "parameters"), ("Multiply-accumulates", "macs"), ("Nodes beside the paper's layers", "nodes")):
        yield f"- {what}: {likeness_text(pairs[kind])}."


SECTION = Section("table6", make, lines)
