"""docs/correlation.md: tables and the scatter plot."""

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot  # noqa: E402

from agreement import LONG_NS, agreement, long_ones  # noqa: E402
from cases import NETWORKS  # noqa: E402
from markdown_page import table  # noqa: E402

# Okabe and Ito's palette (https://jfly.uni-koeln.de/color/).
COLOURS = {"conv": "#0072B2", "matmul": "#E69F00", "depthwise": "#56B4E9", "attention": "#CC79A7",
           "layer_norm": "#009E73", "binary": "#D55E00"}
OTHERS = "#8C8C8C"
PLACES = {"buffer": "buffers", "image2d": "images"}
MARKS = {"buffer": "o", "image2d": "^"}


def percent(share):
    return f"{100 * share:.0f} %"


def agreement_row(name, launches):
    found = agreement(launches)
    if found is None:
        return [name, str(len(launches)), *["–"] * 6]
    return [name, str(found.launches), f"{found.rank_correlation:.3f}", percent(found.median_error),
            percent(found.mean_error), f"{found.slope:.2f}", f"{found.ratio:.2f}", percent(found.spread)]


AGREEMENT = ["launches", "number", "rank correlation", "median error", "MAPE", "slope", "simulated over measured",
             "spread of runs"]


def groups_of(launches):
    """(name, launches) of everything, then by placement and case."""
    yield "all", launches
    yield "**above 1 ms**", long_ones(launches)
    for placement, place in PLACES.items():
        placed = [launch for launch in launches if launch.placement == placement]
        if not placed:
            continue
        yield f"{place}: all", placed
        yield f"{place}: above 1 ms", long_ones(placed)
        for name in NETWORKS:
            if chosen := [launch for launch in placed if launch.case == name]:
                yield f"{place}: {name}", chosen
        if chosen := [launch for launch in placed if launch.case not in NETWORKS]:
            yield f"{place}: random layers", chosen


def agreement_table(launches):
    return list(table(AGREEMENT, [agreement_row(*group) for group in groups_of(launches)]))


def kernel_table(launches):
    """By kernel: where the model of the device is weak."""
    rows = []
    for placement, place in PLACES.items():
        kernels = {launch.kernel for launch in launches if launch.placement == placement}
        for kernel in sorted(kernels):
            chosen = [launch for launch in launches if (launch.placement, launch.kernel) == (placement, kernel)]
            ratios = sorted(launch.simulated / launch.measured for launch in chosen)
            total = sum(launch.measured for launch in chosen) / 1e6
            rows.append([kernel, place, str(len(chosen)), f"{total:.1f} ms", f"{ratios[len(ratios) // 2]:.2f}",
                         f"{ratios[0]:.2f} to {ratios[-1]:.2f}"])
    return list(table(["kernel", "in", "launches", "measured, in all", "simulated over measured, median", "range"], rows))


def scatter(launches, path):
    """Simulated over measured time, every launch a mark."""
    with pyplot.rc_context({"svg.hashsalt": "flashmem", "font.size": 9}):
        figure, axes = pyplot.subplots(figsize=(6.4, 5.6))
        for kernel, colour in [*COLOURS.items(), ("others", OTHERS)]:
            for placement, mark in MARKS.items():
                chosen = [launch for launch in launches if launch.placement == placement
                          and (launch.kernel == kernel or kernel == "others" and launch.kernel not in COLOURS)]
                if chosen:
                    axes.scatter([launch.measured / 1e6 for launch in chosen],
                                 [launch.simulated / 1e6 for launch in chosen], s=14, marker=mark, color=colour,
                                 alpha=0.6, linewidths=0, label=f"{kernel}, {PLACES[placement]}")
        ends = [min(min(launch.measured, launch.simulated) for launch in launches) / 1e6,
                max(max(launch.measured, launch.simulated) for launch in launches) / 1e6]
        axes.plot(ends, ends, color="black", linewidth=0.8)
        for factor in (0.7, 1.3):
            axes.plot(ends, [factor * end for end in ends], color="black", linewidth=0.6, linestyle=":")
        axes.axvline(LONG_NS / 1e6, color=OTHERS, linewidth=0.6)
        axes.set(xscale="log", yscale="log", xlabel="measured, ms", ylabel="simulated, ms")
        axes.legend(fontsize=7, frameon=False)
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
