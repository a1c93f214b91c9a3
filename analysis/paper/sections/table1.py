"""Table 1: what another framework, MNN, needs to start, as published, beside preloading here."""

from likeness import likeness_text
from markdown_page import table
from section import Gathered, Section

MB = 1e6

INTRODUCTION = """\

## Table 1: MNN as published, and preloading here

**MNN is not simulated**: neither its kernels nor what it does to weights at start-up is published. Its transforms have no
counterpart: they rewrite weights into the layout of its kernels on the phone, and `fmplan pack` writes ours in that layout
beforehand. Here: `{policy}`, whose load is all before the first launch, start-up (context and programs, during which reading begins)
included.
"""


def make(work):
    policy = work.study["smartmem"]
    names = [network["name"] for network in work.study["networks"] if network["published"] in work.published["mnn"]]
    gathered = Gathered()
    for network in work.networks(names):
        gathered.add((network["published"], work.device, policy), work.points.point, network, work.policy(policy), work.device)
    return gathered


def cells(network, theirs, point):
    init = point["integrated_ms"] - point["exec_ms"]
    return [network, f"{theirs['load_ms']} + {theirs['transform_ms']}", f"{init:.0f} + 0", f"{point['startup_ms']:.0f}",
            str(theirs["infer_ms"]), f"{point['exec_ms']:.0f}", str(theirs["peak_mb"]), f"{point['peak_bytes'] / MB:.0f}",
            str(theirs["average_mb"]), f"{point['average_bytes'] / MB:.0f}"]


def lines(found, study, published):
    yield INTRODUCTION.format(policy=study["smartmem"])
    yield from table(["network", "MNN: load + transform ms", "here", "of it start-up", "MNN: infer ms", "here", "MNN: peak MB", "here",
                      "MNN: average MB", "here"],
                     [cells(network, published["mnn"][network], point) for (network, *_), point in found.items()])
    yield ""
    beside = [(published["mnn"][network], point) for (network, *_), point in found.items()]
    for what, pairs in (("Execution", [(point["exec_ms"], theirs["infer_ms"]) for theirs, point in beside]),
                        ("Peak memory", [(point["peak_bytes"] / MB, theirs["peak_mb"]) for theirs, point in beside]),
                        ("Average memory", [(point["average_bytes"] / MB, theirs["average_mb"]) for theirs, point in beside])):
        yield f"- {what} beside MNN's: {likeness_text(pairs)}."


SECTION = Section("table1", make, lines)
