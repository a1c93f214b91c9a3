"""Puts several results side by side on one page."""

import json

import comparison
import tables
from comparison_pictures import launches_against_first, memory_over_each_other
from document import document, pair, picture, searchable, section
from page import bound_of, device_of, floor_of
from quantities import (bytes_text, change_text, count_text, energy_text, percent_text, three_digits, time_text)
from tables import duration, folded, number, text, word

MOST_SHOWN = 15  # rows of a table that stand open; all are in a folded one


def _missing_or(value, show):
    return word("—") if value is None else number(value, show(value))


def _values_and_changes(values, show):
    """Cells: each run's value, then how the others differ from the first."""
    changes = [comparison.change(values[0], value) for value in values[1:]]
    return [*(_missing_or(value, show) for value in values),
            *(_missing_or(value, change_text) for value in changes)]


def differences_table(name, what, labels, rows, show):
    """Rows (key, value of each run) with the changes against the first run."""
    heads = [what, *labels, *(f"{label} against {labels[0]}" for label in labels[1:])]
    return tables.table(name, heads, [[word(key), *_values_and_changes(values, show)] for key, values in rows])


def _listed(name, what, labels, rows, show, summary):
    """The first rows open, all of them folded."""
    shown = differences_table(name, what, labels, rows[:MOST_SHOWN], show)
    if len(rows) <= MOST_SHOWN:
        return shown
    everything = differences_table(f"all-{name}", what, labels, rows, show)
    return shown + searchable(f"all-{name}", "all of them", folded(summary, everything))


def comparison_card(name, title, labels, values, show):
    """Each run's value, and how it differs from the first's."""
    changes = [word(""), *(_missing_or(comparison.change(values[0], value), change_text) for value in values[1:])]
    rows = [[word(label), _missing_or(value, show), changed]
            for label, value, changed in zip(labels, values, changes)]
    return (f'<div class="card" id="card-{name}" data-value="{text(json.dumps(values))}"><h3>{text(title)}</h3>'
            f'{tables.table(f"runs-{name}", ["run", title, "change"], rows)}</div>')


def _distance_from_floor(result):
    floor = floor_of(result)[1]
    return result["latency"]["integrated_ns"] / floor if floor > 0 else None


def cards(labels, results):
    metrics = [
        ("integrated", "Integrated latency", lambda r: r["latency"]["integrated_ns"], time_text),
        ("exec", "Execution", lambda r: r["latency"]["exec_ns"], time_text),
        ("floor", "Distance from floor", _distance_from_floor, lambda value: f"{three_digits(value)} ×"),
        ("memory", "Peak memory", lambda r: r["memory"]["peak_bytes"], bytes_text),
        ("energy", "Energy", lambda r: r["energy"]["total_nj"] or None, energy_text)]
    made = []
    for name, title, of, show in metrics:
        values = [of(result) for result in results]
        if any(value is not None for value in values):
            made.append(comparison_card(name, title, labels, values, show))
    return f'<div class="cards wide">{"".join(made)}</div>'


def bound_text(result):
    found = bound_of(result)
    return f"{found[0]}, {percent_text(found[1])}" if found else tables.UNKNOWN_BOUND


def runs_section(labels, results):
    rows = [[word(label), word(device_of(result)), word(result["trace"]["file"]), word(result["tool"]),
             word(bound_text(result)), word(result["sampling"]["mode"]),
             number(result["sampling"]["error_bound"], percent_text(result["sampling"]["error_bound"]))]
            for label, result in zip(labels, results)]
    notes = "".join(f'<p class="note">{text(note)}</p>' for note in comparison.notes_of(labels, results))
    return section("Runs", tables.table("runs", ["run", "device", "trace", "written by", "bound", "sampling",
                                                 "error at most"], rows), notes)


def launches_section(labels, results):
    matched = comparison.matched_launches(results)
    rows = [(f"{row[0]['id']} {row[0]['operation']}: " + ", ".join(
        dict.fromkeys(launch["bound"] or tables.UNKNOWN_BOUND for launch in row)),
        [duration(launch) for launch in row]) for row in comparison.by_difference(matched)]
    by_bound = [(bound or tables.UNKNOWN_BOUND, values) for bound, values in comparison.time_by_bound(results)]
    return section(
        "Launches",
        picture("launches", launches_against_first(labels, results, matched),
                "Each launch's time in the first run and in the others; on the line nothing changed"),
        differences_table("time-by-bound", "bound by", labels, by_bound, time_text) if by_bound else "",
        _listed("launch-table", "launch: bound by", labels, rows, time_text,
                f"All {len(rows)} launches that are in every run, largest difference first") if rows else "")


def counters_section(labels, results):
    rows = comparison.counters_by_difference(results)
    units = {name: counter["unit"] for result in results for name, counter in result["counters"].items()}
    shown = [(f"{name} ({units[name]})", values) for name, values in rows]
    return section("Counters, largest difference first", _listed(
        "counters", "counter", labels, shown, count_text, f"All {len(rows)} counters that differ")
        if rows else "")


def config_section(labels, results):
    """The entries that differ: open when few, else folded."""
    rows = [[word(path), *(word("—" if value is None else value if isinstance(value, str) else
                                json.dumps(value, ensure_ascii=False)) for value in values)]
            for path, values in comparison.config_differences(results)]
    listed = tables.table("config", ["parameter", *labels], rows)
    return section("Configuration: what differs",
                   "<p>The configurations are equal.</p>" if not rows else
                   listed if len(rows) <= MOST_SHOWN else folded(f"{len(rows)} entries differ", listed))


def comparison_page_of(labels, results, generator, budget=None):
    def table_of(name, what, rows, show):
        known = [row for row in rows if any(row[1])]
        return differences_table(name, what, labels, known, show) if known else ""

    heading = f"{len(results)} runs beside each other"
    body = "\n".join(filter(None, [
        cards(labels, results),
        runs_section(labels, results),
        config_section(labels, results),
        section("Memory over time",
                picture("memory", memory_over_each_other(labels, results, budget), "All resident memory of each run"),
                table_of("memory-by-class", "peak of", comparison.side_by_side(
                    [result["memory"]["by_class"] for result in results]), bytes_text)),
        launches_section(labels, results),
        section("Utilisation", pair(
            table_of("peaks", "achieved of peak", comparison.side_by_side([r["peaks"] for r in results]),
                     percent_text),
            table_of("hit-rates", "hit rate of", comparison.hit_rates_by_level(results), percent_text))),
        section("Energy", table_of("energy", "component", comparison.side_by_side(
            [result["energy"]["by_component"] for result in results]), energy_text)),
        counters_section(labels, results)]))
    return document(heading, heading, " · ".join(labels), body, generator)
