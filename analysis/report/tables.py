"""The report's tables as HTML. Every number carries its exact value in `data-value`."""

import html
import json

from pictures import UNKNOWN_BOUND
from quantities import bytes_text, count_text, energy_text, large_text, percent_text, time_text


def text(value):
    return html.escape(str(value))


def number(value, shown):
    """A cell with a number, the exact one in `data-value`."""
    return f'<td class="n" data-value="{json.dumps(value)}">{text(shown)}</td>'


def word(value):
    return f"<td>{text(value)}</td>"


def bar(fraction, shown=None):
    """A cell with a bar from 0 to 1."""
    width = 100 * min(max(fraction, 0), 1)
    return (f'<td class="bar" data-value="{json.dumps(fraction)}"><span class="meter">'
            f'<span style="width:{width:.2f}%"></span></span>'
            f'{text(percent_text(fraction) if shown is None else shown)}</td>')


def table(name, heads, rows):
    head = "".join(f'<th scope="col">{text(title)}</th>' for title in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>\n" for row in rows)
    return (f'<div class="scroll"><table id="{name}"><thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{body}</tbody></table></div>")


def folded(summary, content):
    return f"<details><summary>{text(summary)}</summary>\n{content}\n</details>"


def duration(launch):
    return launch["end_ns"] - launch["start_ns"]


def grouped(launches, key):
    """[(value of `key`, its launches)], those that took longest first."""
    groups = {}
    for launch in launches:
        groups.setdefault(launch[key], []).append(launch)
    return sorted(groups.items(), key=lambda item: -sum(map(duration, item[1])))


def time_by(launches, key, title):
    """How many launches and how much of their time fell to each value of `key`."""
    whole = sum(map(duration, launches)) or 1
    rows = []
    for value, group in grouped(launches, key):
        spent = sum(map(duration, group))
        rows.append([word(value or UNKNOWN_BOUND), number(len(group), len(group)),
                     number(spent, time_text(spent)), bar(spent / whole)])
    return table(f"time-by-{key}", [title, "launches", "time", "share"], rows)


def simulated_cells(launch):
    """Energy, mean power, roofline position: a measured launch has none."""
    energy, roofline = launch.get("energy"), launch.get("roofline")
    cells = [word(""), word("")]
    if energy:
        cells = [number(energy["total_nj"], energy_text(energy["total_nj"])),
                 number(energy["average_power_mw"], f"{large_text(energy['average_power_mw'] / 1e3)} W")]
    if not roofline:
        return cells + [word(""), word("")]
    share = roofline["achieved_gflops"] / roofline["attainable_gflops"]
    return cells + [bar(share), word(roofline["bound"])]


def launches_table(launches):
    rows = []
    for launch in launches:
        spent = duration(launch)
        rate = launch["macs"] / spent if spent else 0  # MAC a nanosecond
        rows.append([
            word(launch["id"]), word(launch["operation"]), word(launch["kernel"]),
            number(launch["start_ns"], time_text(launch["start_ns"])),
            number(spent, time_text(spent)), word(launch["bound"] or UNKNOWN_BOUND),
            number(launch["macs"], large_text(launch["macs"])),
            number(rate, f"{large_text(rate * 1e9)}MAC/s" if rate else ""),
            number(launch["weight_bytes"], bytes_text(launch["weight_bytes"])),
            *simulated_cells(launch)])
    return table("launch-table", ["launch", "operation", "kernel", "start", "duration", "bound",
                                  "MACs", "rate", "weights", "energy", "power", "of its roof",
                                  "roof"], rows)


def models_table(models):
    """The models of a queue, each from nothing to its outputs."""
    rows = [[word(model["name"]), *(number(model[key], time_text(model[key]))
                                    for key in ("start_ns", "end_ns", "integrated_ns")),
             number(model["peak_bytes"], bytes_text(model["peak_bytes"]))] for model in models]
    return table("models", ["model", "first kernel starts", "last kernel ends", "integrated",
                            "peak memory"], rows)


def overlap_table(lanes, whole):
    """How long each lane was busy, and how much of that the GPU's launches hid."""
    rows = []
    for lane, busy, beside in lanes:
        hidden = [word(""), word("")] if lane == "gpu" else [
            number(beside, time_text(beside)), bar(beside / busy if busy else 0)]
        rows.append([word(lane), number(busy, time_text(busy)), bar(busy / whole if whole else 0), *hidden])
    return table("overlap", ["lane", "busy", "of the run", "of it beside launches", "share of its time"], rows)


def peaks_table(peaks):
    return table("peaks", ["unit", "achieved of peak"],
                 [[word(unit), bar(share)] for unit, share in peaks.items()])


# Counters that together are all requests of which `...hits` were served.
ALL_OF = {"hits": (("lookups",), ("requests",)),
          "row_hits": (("row_hits", "row_misses", "row_conflicts"),)}


def hit_rates(counters):
    """[(what, hits, lookups)] of every counter of hits that has one of lookups."""
    rates = []
    for name, counter in counters.items():
        for ending, totals in ALL_OF.items():
            stem = name.removesuffix(ending)
            for total in totals if stem != name else ():
                parts = [counters[stem + part]["value"] for part in total if stem + part in counters]
                if len(parts) == len(total) and sum(parts) > 0:
                    what = name.removesuffix("hits").rstrip("_.")
                    rates.append((what, counter["value"], sum(parts)))
    return rates


def hit_rates_table(counters):
    rows = [[word(what), number(hits, count_text(hits)), number(lookups, count_text(lookups)),
             bar(hits / lookups)] for what, hits, lookups in hit_rates(counters)]
    return table("hit-rates", ["of", "hits", "lookups", "hit rate"], rows) if rows else ""


def energy_table(energy):
    total = energy["total_nj"] or 1
    parts = sorted(energy["by_component"].items(), key=lambda item: -item[1])
    rows = [[word(name), number(value, energy_text(value)), bar(value / total)]
            for name, value in parts]
    return table("energy", ["component", "energy", "share"], rows)


def counters_table(counters):
    rows = [[word(name), number(c["value"], count_text(c["value"])), word(c["unit"]),
             word(c["description"])] for name, c in counters.items()]
    return table("counters", ["counter", "value", "unit", "meaning"], rows)


def checks_table(checks):
    """The laws, broken ones first."""
    rows = []
    for check in sorted(checks, key=lambda check: check["holds"]):
        verdict = "holds" if check["holds"] else "BROKEN"
        mark = "good" if check["holds"] else "bad"
        rows.append([word(check["law"]), number(check["left"], count_text(check["left"])),
                     number(check["right"], count_text(check["right"])),
                     f'<td class="{mark}">{verdict}</td>'])
    return table("checks", ["law", "left", "right", ""], rows)


def config_entries(config, path=""):
    """[(path, value, source, citation)] of a nested config, in its order."""
    entries = []
    for key, value in config.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, dict) and "value" not in value:
            entries += config_entries(value, here)
        elif isinstance(value, dict):
            entries.append((here, value["value"], value.get("source", ""), value.get("cite", "")))
        else:
            entries.append((here, value, "", ""))
    return entries


def config_table(config):
    rows = []
    for path, value, source, citation in config_entries(config):
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        rows.append([word(path), word(shown), word(source), word(citation)])
    return table("config", ["parameter", "value", "source", "citation"], rows)
