"""The report as Markdown, for people, and as CSV, for programs: one row a fact, with its unit."""

import csv
import io

import comparison
import hierarchy
from page import device_of, floor_of
from quantities import bytes_text, change_text, count_text, energy_text, percent_text, three_digits, time_text
from tables import UNKNOWN_BOUND, duration

MOST_ROWS = 20  # of launches in Markdown


def facts_of(result):
    """(part, name, quantity, value, unit) of what the report shows."""
    for part, keys in (("latency", ("integrated", "startup", "init", "exec")), ("floor", ("disk", "compute", "dram"))):
        yield from ((part, "", key, result[part][f"{key}_ns"], "ns") for key in keys)
    memory, energy = result["memory"], result["energy"]
    yield "memory", "", "peak", memory["peak_bytes"], "bytes"
    yield "memory", "", "average", memory["average_bytes"], "bytes"
    yield from (("memory", name, "peak", value, "bytes") for name, value in memory["by_class"].items())
    yield "energy", "", "total", energy["total_nj"], "nJ"
    yield from (("energy", name, "total", value, "nJ") for name, value in energy["by_component"].items())
    yield "sampling", result["sampling"]["mode"], "error bound", result["sampling"]["error_bound"], "relative"
    yield from (("peaks", name, "achieved of peak", value, "relative") for name, value in result["peaks"].items())
    yield from (("hit rates", what, "hit rate", hits / lookups, "relative")
                for what, hits, lookups in comparison.hit_rates(result["counters"]))
    yield from (("hierarchy", f"{flow.source} of {flow.target}", f"{flow.kind}: {flow.counter}", flow.bytes, "bytes")
                for flow in hierarchy.flows_of(result))
    for launch in result["launches"]:
        name = launch["id"]
        yield "launches", name, "bound", launch["bound"] or UNKNOWN_BOUND, ""
        yield "launches", name, "duration", duration(launch), "ns"
        yield "launches", name, "start", launch["start_ns"], "ns"
        yield "launches", name, "macs", launch["macs"], "MAC"
        yield "launches", name, "weights", launch["weight_bytes"], "bytes"
        if "energy" in launch:
            yield "launches", name, "energy", launch["energy"]["total_nj"], "nJ"
    yield from (("counters", name, "value", counter["value"], counter["unit"])
                for name, counter in result["counters"].items())


def csv_of(labels, results):
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(["run", "part", "name", "quantity", "value", "unit"])
    for label, result in zip(labels, results):
        rows.writerows((label, *fact) for fact in facts_of(result))
    return written.getvalue()


def _cell(value):
    """Text as it is: nothing in it is markup of the table, of Markdown or of HTML."""
    shown = " ".join(str(value).split())
    for mark in "\\`*_<>[]|":
        shown = shown.replace(mark, "\\" + mark)
    return shown


def _table(heads, rows):
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in [heads, *rows]]
    ruler = "|---|" + "---:|" * (len(heads) - 1)
    return "\n".join([lines[0], ruler, *lines[1:]])


def _part(title, what, labels, rows, show):
    """A table of rows (key, value of each run), with changes where there are several runs."""
    rows = [row for row in rows if any(value is not None for value in row[1])]
    if not rows:
        return ""
    heads = [what, *labels, *(f"{label} against {labels[0]}" for label in labels[1:])]
    cells = [[key, *("—" if value is None else show(value) for value in values),
              *("—" if (changed := comparison.change(values[0], value)) is None else change_text(changed)
                for value in values[1:])] for key, values in rows]
    return f"## {title}\n\n{_table(heads, cells)}\n"


def _headline(labels, results):
    def of_all(name, of, show):
        return [name, *(show(of(result)) for result in results)]

    def floor(result):
        name, time = floor_of(result)
        return f"{three_digits(result['latency']['integrated_ns'] / time)} × ({name})" if time > 0 else "—"

    latency = [of_all(title, lambda result, key=key: result["latency"][key], time_text) for title, key in
               (("integrated latency", "integrated_ns"), ("start-up", "startup_ns"),
                ("until the first launch", "init_ns"), ("execution", "exec_ns"))]
    rows = [of_all("device", device_of, str), of_all("trace", lambda r: r["trace"]["file"], str),
            of_all("written by", lambda r: r["tool"], str), *latency, of_all("distance from floor", floor, str),
            of_all("peak memory", lambda r: r["memory"]["peak_bytes"], bytes_text),
            of_all("average memory", lambda r: r["memory"]["average_bytes"], bytes_text),
            of_all("energy", lambda r: r["energy"]["total_nj"], energy_text),
            of_all("error of sampling at most", lambda r: r["sampling"]["error_bound"], percent_text)]
    return _table(["", *labels], rows) + "\n"


def _launches(labels, results):
    matched = comparison.matched_launches(results)
    if len(results) > 1:
        rows, title = comparison.by_difference(matched), "Launches, largest difference first"
    else:
        rows, title = sorted(matched, key=lambda row: -duration(row[0])), "Longest launches"
    shown = [(f"{row[0]['id']} {row[0]['operation']}: "
              + ", ".join(dict.fromkeys(launch["bound"] or UNKNOWN_BOUND for launch in row)),
              [duration(launch) for launch in row]) for row in rows[:MOST_ROWS]]
    return _part(title, "launch: bound by", labels, shown, time_text)


def _counters(labels, results):
    rows = comparison.counters_by_difference(results) if len(results) > 1 else comparison.side_by_side(
        [{name: counter["value"] for name, counter in result["counters"].items()} for result in results])
    units = {name: counter["unit"] for result in results for name, counter in result["counters"].items()}
    title = "Counters, largest difference first" if len(results) > 1 else "Counters"
    return _part(title, "counter", labels, [(f"{name} ({units[name]})", values) for name, values in rows], count_text)


def markdown_of(labels, results):
    def by(of):
        return comparison.side_by_side([of(result) for result in results])

    def edges(result):
        return {f"{flow.source} of {flow.target}: {flow.kind}, {flow.counter}": flow.bytes
                for flow in hierarchy.flows_of(result)}

    broken = [f"- {label}: {_cell(check['law'])}: {count_text(check['left'])} is not {count_text(check['right'])}"
              for label, result in zip(labels, results) for check in result["checks"] if not check["holds"]]
    config = [[path, *("—" if value is None else value for value in values)]
              for path, values in comparison.config_differences(results)]
    bounds = [(bound or UNKNOWN_BOUND, values) for bound, values in comparison.time_by_bound(results)]
    parts = [
        f"# {_cell(', '.join(labels))}\n", _headline(labels, results),
        "\n".join(f"- {_cell(note)}" for note in comparison.notes_of(labels, results)),
        "## Broken conservation laws\n\n" + "\n".join(broken) + "\n" if broken else "",
        f"## Configuration: what differs\n\n{_table(['parameter', *labels], config)}\n" if config else "",
        _part("Memory, peak of each class", "class", labels, by(lambda r: r["memory"]["by_class"]), bytes_text),
        _part("What bounded the launches", "bound by", labels, bounds, time_text),
        _launches(labels, results),
        _part("Memory hierarchy", "edge", labels, by(edges), bytes_text),
        _part("Achieved of peak", "unit", labels, by(lambda r: r["peaks"]), percent_text),
        _part("Hit rates", "of", labels, comparison.hit_rates_by_level(results), percent_text),
        _part("Energy", "component", labels, by(lambda r: r["energy"]["by_component"]), energy_text),
        _counters(labels, results)]
    return "\n".join(part for part in parts if part)
