"""Figures 7 (what each part adds) and 8 (memory against latency), as on docs/evidence.md."""

from command_line import ROOT
from evidence_studies import MIB, breakdown_lines, chosen, ready_ms, trade_off_lines
from pictures import BLUE, GREEN, ORANGE, empty_figure
from points import load_yaml
from section import Gathered, Section

STUDIES = load_yaml(ROOT / "analysis/paper/evidence.yaml")

INTRODUCTION = """\

## Figures 7 and 8: what each part adds, and memory against latency

`opg`: the paper's problem, its transforms as copies; then with adaptive fusion; then inside rewritten kernels. How much a launch may
carry is estimated here ([evidence.md](evidence.md): profiled). Figure 8: `optimal` with all activations and a share of the weights.
"""


def study_of(network, device):
    parts, trade = STUDIES["breakdown"]["steps"], STUDIES["trade_off"]["policies"]
    return {"networks": [network], "configs": [device],
            "policies": [policy for policy in STUDIES["policies"] if policy["name"] in {*parts, *trade}]}


def make(work):
    gathered = Gathered()
    for network in work.networks(work.study["breakdown"]):
        points, missing = work.collect(study_of(network, work.device))
        gathered.found[network["published"]] = points.get(network["name"], {})
        gathered.missing.update(missing)
    return gathered


def lines(found, study, published):
    yield INTRODUCTION
    for network, points in found.items():
        parts = [*breakdown_lines(STUDIES["breakdown"], points, published["breakdown"]), *trade_off_lines(STUDIES["trade_off"], points)]
        if parts:
            yield f"\n### {network}"
            yield from parts


def pictures(found, study, published):
    figure = empty_figure(380, "weights at the peak (MiB)", "from loaded programs to the output (ms)")
    drawn = False
    for (network, points), colour in zip(found.items(), (BLUE, ORANGE, GREEN)):
        by_policy = chosen(study["device"], STUDIES["trade_off"]["policies"], points)
        ordered = sorted(by_policy.items(), key=lambda pair: pair[1]["weights_peak_bytes"])
        drawn = drawn or bool(ordered)
        figure.add_scatter(x=[point["weights_peak_bytes"] / MIB for _, point in ordered], y=[ready_ms(point) for _, point in ordered],
                           text=[policy for policy, _ in ordered], name=network, mode="lines+markers", line=dict(color=colour),
                           hovertemplate="%{text}: %{y:.1f} ms with %{x:.0f} MiB")
    return [("memory-against-latency", figure, "Figure 8: memory against latency, simulated")] if drawn else []


SECTION = Section("figures7and8", make, lines, pictures)
