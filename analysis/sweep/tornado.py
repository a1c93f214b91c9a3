"""The picture of a sensitivity study: a bar a parameter, from its lower to its higher value's effect."""

import io

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot  # noqa: E402
from variations import short  # noqa: E402

# Okabe and Ito's palette (https://jfly.uni-koeln.de/color/).
LOWER, HIGHER = "#0072B2", "#E69F00"
MOST_BARS = 25


def tornado(ranked, measure, title):
    """SVG, as bytes; the same ones each time."""
    shown = ranked[:MOST_BARS][::-1]
    with matplotlib.rc_context({"svg.hashsalt": "fmsweep"}):
        figure, axes = pyplot.subplots(figsize=(9, 1.4 + 0.32 * len(shown)))
        for side, colour, name in (("low_change", LOWER, "lower value"), ("high_change", HIGHER, "higher value")):
            axes.barh(range(len(shown)), [100 * (getattr(one, side) or 0) for one in shown], color=colour, label=name,
                      height=0.7)
        axes.set_yticks(range(len(shown)), [_label(one.variation) for one in shown], fontsize=8)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_xlabel(f"change of {measure} (%)")
        axes.set_title(title, fontsize=10)
        axes.legend(fontsize=8)
        figure.tight_layout()
        drawn = io.BytesIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return drawn.getvalue()


def _label(variation):
    return f"{variation.path}  {short(variation.low)} | {short(variation.high)}"
