"""The report's pictures as plotly figures. Colours: Okabe and Ito's palette, told apart by any eye
(https://jfly.uni-koeln.de/color/)."""

from html import escape

import plotly.graph_objects as go

from quantities import bytes_text, large_text, percent_text, time_text
from result_file import MEMORY_CLASSES
from thinning import join_events, thin_samples

ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, RED, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#8C8C8C"

CLASS_COLOURS = dict(zip(MEMORY_CLASSES, (BLUE, ORANGE, SKY, GREEN, YELLOW, GREY)))
CLASS_NAMES = {
    "preloaded": "preloaded weights", "um_in_flight": "unified memory, in flight",
    "tm_in_flight": "texture memory, in flight", "activations": "activations",
    "staging": "staging ring", "driver": "driver"}
BOUND_COLOURS = {
    "disk": RED, "dram": BLUE, "l2": SKY, "load_store": "#8FBC3F", "texture": PURPLE,
    "local": GREEN, "alu": ORANGE, "latency": YELLOW, "launch": GREY, "measured": "#B0A080",
    "": "#5C6B7A"}
BOUND_PATTERNS = {"load_store": "/", "local": "\\", "measured": "x"}  # whose colours are nearest to others
LANE_COLOURS = {"disk": RED, "copy": PURPLE, "gpu": BLUE, "host": GREEN, "reader": ORANGE}
UNKNOWN_BOUND = "not known"

MOST_SAMPLES = 4000
MOST_EVENTS = 4000  # a lane


def time_scale(nanoseconds):
    """The unit of a time axis that reaches `nanoseconds`: (its name, nanoseconds in one)."""
    for name, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= 2 * size:
            return name, size
    return "ns", 1


def byte_scale(count):
    for name, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= 2 * size:
            return name, size
    return "B", 1


def _axis(title):
    return dict(title=dict(text=title, standoff=8, font=dict(size=13)), zeroline=False,
                automargin=True)


def empty_figure(height, x_title, y_title):
    """An empty figure; the page gives text and lines their colours."""
    return go.Figure(layout=dict(
        template="none", height=height, paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
        font=dict(family="system-ui, sans-serif", size=13),
        margin=dict(l=70, r=16, t=60, b=48), hovermode="closest",
        modebar=dict(bgcolor="rgba(0,0,0,0)"),
        legend=dict(orientation="h", y=1.01, yanchor="bottom", x=0, traceorder="normal"),
        xaxis=_axis(x_title), yaxis=_axis(y_title)))


def end_of(result):
    """The last time anything of the result names, at least the integrated latency."""
    times = [result["latency"]["integrated_ns"]]
    for key in ("timeline", "launches"):
        times += [item["end_ns"] for item in result[key]]
    return max([*times, *(s["time_ns"] for s in result["memory"]["over_time"])])


def add_budget(figure, budget, end, byte_size):
    """A line at what memory may be used, from 0 to `end`, in the axes' units."""
    if budget:
        figure.add_scatter(x=[0, end], y=[budget / byte_size] * 2, name=f"budget {bytes_text(budget)}", mode="lines",
                           line=dict(color=RED, width=2, dash="dash"), hoverinfo="skip", meta="budget")


def memory_figure(result, budget=None):
    """Resident bytes by class over time, stacked, or None when there are no samples."""
    samples = result["memory"]["over_time"]
    if not samples:
        return None
    drawn = thin_samples(samples, lambda s: sum(s[c] for c in MEMORY_CLASSES), MOST_SAMPLES)
    end = end_of(result)
    drawn = [*drawn, {**drawn[-1], "time_ns": end}] if drawn[-1]["time_ns"] < end else drawn
    unit, size = time_scale(end)
    byte_unit, byte_size = byte_scale(result["memory"]["peak_bytes"])
    figure = empty_figure(380, f"time ({unit})", f"resident memory ({byte_unit})")
    times = [sample["time_ns"] / size for sample in drawn]
    for name in MEMORY_CLASSES:
        values = [sample[name] for sample in drawn]
        if not any(values):
            continue
        figure.add_scatter(
            x=times, y=[value / byte_size for value in values], name=CLASS_NAMES[name],
            stackgroup="all",
            line=dict(width=0.5, color=CLASS_COLOURS[name], shape="hv"),
            fillcolor=CLASS_COLOURS[name], text=[bytes_text(value) for value in values],
            hovertemplate="%{fullData.name}: %{text}<extra></extra>", meta=name)
    add_budget(figure, budget, end / size, byte_size)
    figure.update_layout(hovermode="x unified", xaxis=dict(range=[0, end / size]))
    return figure


def _launch_hover(launch):
    bound = launch["bound"] or UNKNOWN_BOUND
    lines = [f"<b>{escape(launch['id'])}</b> {escape(launch['operation'])}", escape(launch["kernel"]),
             f"{time_text(launch['end_ns'] - launch['start_ns'])}, bound: {bound}",
             f"{large_text(launch['macs'])} MAC, weights {bytes_text(launch['weight_bytes'])}"]
    stalls = sorted(launch["stalls"].items(), key=lambda item: -item[1])[:4]
    lines += [f"{percent_text(share)} {cause}" for cause, share in stalls if share > 0]
    return "<br>".join(line for line in lines if line)


def launches_figure(result):
    """One bar a launch, in order, as high as it took, coloured by what bounded it."""
    launches = result["launches"]
    if not launches:
        return None
    unit, size = time_scale(max(launch["end_ns"] - launch["start_ns"] for launch in launches))
    figure = empty_figure(380, "launch, in order of execution", f"duration ({unit})")
    for bound, colour in BOUND_COLOURS.items():
        mine = [(i, launch) for i, launch in enumerate(launches) if launch["bound"] == bound]
        if not mine:
            continue
        figure.add_bar(
            x=[index for index, _ in mine],
            y=[(launch["end_ns"] - launch["start_ns"]) / size for _, launch in mine],
            name=bound or UNKNOWN_BOUND, meta=bound, width=0.85,
            marker=dict(color=colour, line=dict(width=0),
                        pattern=dict(shape=BOUND_PATTERNS.get(bound, ""), fillmode="overlay", size=5,
                                     fgcolor="#333333")),
            customdata=[launch["id"] for _, launch in mine],
            hovertext=[_launch_hover(launch) for _, launch in mine],
            hovertemplate="%{hovertext}<extra></extra>")
    step = max(1, len(launches) // 12)
    figure.update_layout(barmode="overlay", xaxis=dict(
        tickvals=list(range(0, len(launches), step)),
        ticktext=[launch["id"] for launch in launches[::step]]))
    return figure


def timeline_figure(result):
    """Lanes of what was busy when, or None when nothing was recorded."""
    lanes = {}
    for event in result["timeline"]:
        lanes.setdefault(event["lane"], []).append(event)
    if not lanes:
        return None
    order = [lane for lane in LANE_COLOURS if lane in lanes]
    order += [lane for lane in lanes if lane not in LANE_COLOURS]
    end = end_of(result)
    unit, size = time_scale(end)
    figure = empty_figure(108 + 48 * len(order), f"time ({unit})", "")
    for lane in order:
        colour = LANE_COLOURS.get(lane, GREY)
        gap = end / MOST_EVENTS if len(lanes[lane]) > MOST_EVENTS else 0
        bars = join_events(lanes[lane], gap)
        names = [n[0] if len(n) == 1 else f"{len(n)} from {n[0]} to {n[-1]}" for _, _, n in bars]
        figure.add_bar(
            orientation="h", y=[lane] * len(bars), base=[start / size for start, _, _ in bars],
            x=[(stop - start) / size for start, stop, _ in bars], name=lane, showlegend=False,
            marker=dict(color=colour, line=dict(width=1, color=colour)),  # visible however short
            hovertext=[f"<b>{escape(name)}</b><br>{time_text(start)} to {time_text(stop)} "
                       f"({time_text(stop - start)})"
                       for name, (start, stop, _) in zip(names, bars)],
            hovertemplate="%{hovertext}<extra></extra>")
    figure.update_layout(barmode="overlay", bargap=0.35, xaxis=dict(range=[0, end / size]),
                         yaxis=dict(autorange="reversed"))
    return figure
