"""Pictures of several runs over each other. A run has a colour, a dash and a mark, so that no eye depends on
colour alone."""

from pictures import (BLUE, GREEN, GREY, MOST_SAMPLES, ORANGE, PURPLE, RED, SKY, add_budget, byte_scale, empty_figure,
                      end_of, time_scale)
from quantities import bytes_text, time_text
from result_file import MEMORY_CLASSES
from tables import duration, text
from thinning import thin_samples

COLOURS = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKS = ("circle", "diamond", "square", "triangle-up", "cross", "x")


def _of_run(styles, index):
    return styles[index % len(styles)]


def resident(sample):
    return sum(sample[name] for name in MEMORY_CLASSES)


def memory_over_each_other(labels, results, budget=None):
    """All resident bytes of each run over time, or None without samples."""
    if not any(result["memory"]["over_time"] for result in results):
        return None
    end = max(map(end_of, results))
    unit, size = time_scale(end)
    byte_unit, byte_size = byte_scale(max(result["memory"]["peak_bytes"] for result in results))
    figure = empty_figure(380, f"time ({unit})", f"resident memory ({byte_unit})")
    for index, (label, result) in enumerate(zip(labels, results)):
        samples = thin_samples(result["memory"]["over_time"], resident, MOST_SAMPLES)
        if not samples:
            continue
        samples = [*samples, {**samples[-1], "time_ns": end_of(result)}]
        figure.add_scatter(
            x=[sample["time_ns"] / size for sample in samples],
            y=[resident(sample) / byte_size for sample in samples], name=text(label), mode="lines",
            line=dict(width=2, color=_of_run(COLOURS, index), dash=_of_run(DASHES, index), shape="hv"),
            text=[bytes_text(resident(sample)) for sample in samples],
            hovertemplate="%{fullData.name}: %{text}<extra></extra>")
    add_budget(figure, budget, end / size, byte_size)
    figure.update_layout(hovermode="x unified", showlegend=True, xaxis=dict(range=[0, end / size]),
                         yaxis=dict(rangemode="tozero"))
    return figure


def launches_against_first(labels, results, matched):
    """Each launch's time in the first run and in the others: on the line they are equal. None where no
    launch is in all runs."""
    rows = [row for row in matched if all(row) and all(map(duration, row))]
    if not rows:
        return None
    longest = max(duration(launch) for row in rows for launch in row)
    shortest = min(duration(launch) for row in rows for launch in row)
    unit, size = time_scale(longest)
    figure = empty_figure(460, f"time in {text(labels[0])} ({unit})", f"time in the other run ({unit})")
    ends = [shortest / 1.2 / size, longest * 1.2 / size]
    figure.add_scatter(x=ends, y=ends, mode="lines", name="equal", hoverinfo="skip",
                       line=dict(color=GREY, width=1))
    for index, label in enumerate(labels[1:], start=1):
        figure.add_scatter(
            x=[duration(row[0]) / size for row in rows], y=[duration(row[index]) / size for row in rows],
            mode="markers", name=text(label), customdata=[row[0]["id"] for row in rows],
            marker=dict(color=_of_run(COLOURS, index), symbol=_of_run(MARKS, index), size=8, opacity=0.75),
            hovertext=[f"<b>{text(row[0]['id'])}</b> {text(row[0]['operation'])}<br>"
                       f"{time_text(duration(row[0]))}, {row[0]['bound']}<br>"
                       f"{time_text(duration(row[index]))}, {row[index]['bound']}" for row in rows],
            hovertemplate="%{hovertext}<extra></extra>")
    figure.update_layout(xaxis=dict(type="log", dtick="D2"), yaxis=dict(type="log", dtick="D2"), showlegend=True)
    return figure
