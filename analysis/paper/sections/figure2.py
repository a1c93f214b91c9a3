"""Figure 2: how launches of each kind slow down with the bytes streamed inside them."""

import json

from command_line import digest_of
from likeness import geometric_mean
from markdown_page import table
from measures import in_bytes
from pictures import BLUE, GREEN, GREY, ORANGE, PURPLE, empty_figure
from points import load_yaml
from section import Gathered, Section

OPERATORS = {"MatMul": ("matmul",), "Attention": ("attention",), "ElementWise": ("unary", "binary"), "LayerNorm": ("layer_norm",),
             "SoftMax": ("softmax",)}
COLOURS = dict(zip(OPERATORS, (BLUE, GREEN, ORANGE, PURPLE, GREY)))
RATIOS = (0.5, 1, 1.5, 2)  # of streamed bytes to a launch's input, as in the paper
LINES = (1.2, 1.3)  # which the paper marks
LEAST_INPUT = 64 << 10  # bytes: what `fmplan profile` streams at least; a ratio to less says nothing
UNFUSED = {"name": "preload-unfused", "options": ["--policy", "preload", "--fusion", "none"]}

INTRODUCTION = """\

## Figure 2: slowdown by streamed data

Launches of {networks} (nothing fused) on the simulated {phone}, alone, with weights of others streamed inside (`fmplan profile --on
sim:{device}`): times the bare launch, when as many bytes as the ratio of its input are streamed; between what was simulated along a
straight line, beyond it (~) along the last one. Geometric mean of distinct launches with 64 KiB of input or more, weights included.
**LayerNorm and SoftMax have no kernel that streams**: the paper allows them no slowdown (0 %), so none was written; what stands for
them is a copy beside the launch, at the device's `host.launch_overhead` and `host.copy_bandwidth`.
"""


# ---- launches
def operator_of(launch):
    return next((operator for operator, kernels in OPERATORS.items() if launch.get("kernel") in kernels), None)


def read_tensors(launch):
    return [argument["read"] for argument in launch["arguments"] if "read" in argument]


def distinct_launches(plan):
    """{id: (operator, bytes of its input)} of the launches that differ in more than their place and are not tiny."""
    tensors = {tensor["id"]: tensor for tensor in plan["tensors"]}
    seen, chosen = set(), {}
    for launch in plan["launches"]:
        operator = operator_of(launch) if launch["kind"] == "kernel" else None
        if operator is None:
            continue
        inputs = [tensors[name] for name in read_tensors(launch)]
        signature = json.dumps([launch["kernel"], launch.get("parameters"), launch["global"], launch["local"],
                                [tensor["shape"] for tensor in inputs]])
        input_bytes = sum(in_bytes(tensor["bytes"]) for tensor in inputs)
        if signature not in seen and input_bytes >= LEAST_INPUT:
            seen.add(signature)
            chosen[launch["id"]] = (operator, input_bytes)
    return chosen


# ---- curves
def slowdown_at(curve, streamed):
    """(times the bare launch, whether beyond what was simulated). `curve`: [(bytes, ns)], from the bare launch's (0, ns) on."""
    (before, fast), (after, slow) = next((pair for pair in zip(curve, curve[1:]) if streamed <= pair[1][0]), curve[-2:])
    time = fast + (slow - fast) * (streamed - before) / (after - before)
    return time / curve[0][1], streamed > curve[-1][0]


def crossing(curve, times):
    """Bytes at which the launch first takes so many times as long, along the same lines; None where it never does."""
    wanted = times * curve[0][1]
    for (before, fast), (after, slow) in zip(curve, curve[1:]):
        if fast <= wanted <= slow and slow > fast:
            return before + (after - before) * (wanted - fast) / (slow - fast)
    (before, fast), (after, slow) = curve[-2:]
    return after + (after - before) * (wanted - slow) / (slow - fast) if slow > fast and wanted > slow else None


def copied_curve(time_ns, input_bytes, overhead_ns, bytes_per_ns):
    """The launch and a copy of its own beside it."""
    streamed = max(RATIOS) * input_bytes
    return [(0, time_ns), (1, time_ns + overhead_ns), (streamed, time_ns + overhead_ns + streamed / bytes_per_ns)]


# ---- making
def profiled(work, plan, launch):
    """The launch's entry of a profile of its own."""
    key = digest_of(plan.read_bytes(), launch, work.tools.config_text(work.device), work.tools.digest("fmsim"),
                    work.tools.digest("fmplan"))
    path = work.points.folder / f"profiles/{launch}.{key}.yaml"
    if not path.exists():
        unfinished = path.with_suffix(".partial")
        work.tools.measure("fmplan", "profile", "--on", f"sim:{work.device}", "--plan", plan, "--launch", launch,
                           "--recordings", work.points.folder / "recorded", "-o", unfinished)
        unfinished.replace(path)
    return load_yaml(path)["entries"][0]


def facts_of(work, plan, launch, operator, input_bytes):
    entry = profiled(work, plan, launch)
    curve = [(0, entry["time_ns"]), *((point["streamed_bytes"], point["time_ns"]) for point in entry["points"])]
    if len(curve) == 1:
        config = work.config()
        curve = copied_curve(entry["time_ns"], input_bytes, config.number("host.launch_overhead"),
                             config.number("host.copy_bandwidth") / 1e9)
    return {"operator": operator, "input_bytes": input_bytes, "curve": sorted(curve), "streams": bool(entry["points"])}


def make(work):
    gathered = Gathered()
    known = set()
    for network in work.networks(work.study["figure2"]):
        plan, _ = work.points.plan(network, UNFUSED, work.device)
        launches = distinct_launches(load_yaml(plan))
        for launch, (operator, size) in launches.items():
            if operator not in known:  # the first network that has the operator shows it
                gathered.add((network["published"], work.device, f"{operator} {launch}"), facts_of, work, plan, launch, operator, size)
        known |= {operator for operator, _ in launches.values()}
    return gathered


# ---- printing
def by_operator(found):
    """{operator: its launches}, in the paper's order."""
    groups = {operator: [facts for facts in found.values() if facts["operator"] == operator] for operator in OPERATORS}
    return {operator: launches for operator, launches in groups.items() if launches}


def mean_slowdown(launches, ratio):
    """(geometric mean, whether any is beyond what was simulated)"""
    each = [slowdown_at(launch["curve"], ratio * launch["input_bytes"]) for launch in launches]
    return geometric_mean([max(times, 1e-9) for times, _ in each]), any(beyond for _, beyond in each)


def slowdown_text(launches, ratio):
    times, beyond = mean_slowdown(launches, ratio)
    return f"{'~' if beyond else ''}{times:.2f}"


def ratio_text(ratio):
    return "at once" if ratio < 0.005 else f"{ratio:.2f}"


def crossing_text(launches, line):
    """The ratios at which launches cross the line: the least and the most of them."""
    bytes_at = [crossing(launch["curve"], line) for launch in launches]
    ratios = [at / launch["input_bytes"] for at, launch in zip(bytes_at, launches) if at is not None]
    if len(ratios) < len(launches):
        return "never" if not ratios else f"{ratio_text(min(ratios))} or never"
    return " to ".join(dict.fromkeys([ratio_text(min(ratios)), ratio_text(max(ratios))]))


def order_line(groups):
    """Whether the paper's order is that of the launches here."""
    times = {operator: mean_slowdown(launches, 1)[0] for operator, launches in groups.items()}
    order = sorted(times, key=times.get)
    text = f"\nAt a ratio of 1, slowest growth first: {', '.join(f'{operator} {times[operator]:.2f}' for operator in order)}. "
    text += "The paper prints no values, only that MatMul grows slowest, SoftMax and LayerNorm fastest: "
    if not {"MatMul", "LayerNorm", "SoftMax"} <= times.keys():
        return text + "not all of them were simulated."
    slowest, fastest = order[0] == "MatMul", set(order[-2:]) == {"LayerNorm", "SoftMax"}
    if slowest and fastest:
        return text + "that order is reproduced, copies standing for the two fastest."
    return text + (f"MatMul {'does' if slowest else f'does not ({order[0]} does)'}; "
                   f"the two that grow fastest are {'those' if fastest else ' and '.join(order[-2:])} here.")


def lines(found, study, published):
    networks = list(dict.fromkeys(network for network, *_ in found))
    yield INTRODUCTION.format(networks=" and ".join(networks) or "none", phone=study["phones"][study["device"]], device=study["device"])
    groups = by_operator(found)
    rows = [[operator, str(len(launches)), "inside" if launches[0]["streams"] else "beside",
             *(slowdown_text(launches, ratio) for ratio in RATIOS), *(crossing_text(launches, line) for line in LINES)]
            for operator, launches in groups.items()]
    yield from table(["operator", "launches", "streamed", *(f"ratio {ratio}" for ratio in RATIOS), "20 % at", "30 % at"], rows)
    if groups:
        yield order_line(groups)


def pictures(found, study, published):
    groups = by_operator(found)
    if not groups:
        return []
    figure = empty_figure(380, "streamed bytes over the launch's input", "times the bare launch")
    ratios = [0, *RATIOS]
    for operator, launches in groups.items():
        figure.add_scatter(x=ratios, y=[mean_slowdown(launches, ratio)[0] for ratio in ratios], name=operator, mode="lines+markers",
                           line=dict(color=COLOURS[operator], dash=None if launches[0]["streams"] else "dash"))
    for line in LINES:
        figure.add_hline(y=line, line=dict(color=GREY, dash="dot", width=1))
    return [("slowdown-by-streams", figure, "Figure 2, simulated: dashed where a copy beside the launch stands for streams inside it")]


SECTION = Section("figure2", make, lines, pictures)
