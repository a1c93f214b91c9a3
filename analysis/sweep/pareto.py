"""fmsweep pareto: which rows of a table no other row is better than in everything."""

import csv

from atomic_file import write_whole
from parameter_values import whole
from problems import StudyError
from simulator_tools import UNIT_TEXTS
from tidy_table import aligned, csv_bytes

OBJECTIVES = ["latency_ns", "peak_memory_bytes", "energy_nj", "area_proxy_bytes"]
MARK = "undominated"


def read_table(path):
    """(names of columns, rows as dictionaries)"""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            return list(reader.fieldnames or []), list(reader)
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror}; give the -o FOLDER of a sweep that has ended") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path}: no table of a sweep ({error}); give the -o FOLDER of a sweep") from error


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def dominates(one, other):
    """At least as good in everything and better in something; less is better."""
    return one != other and all(a <= b for a, b in zip(one, other))


def undominated(rows, objectives):
    """Of each row: True, False, or None where it has no result. Rows of one workload compare with each other."""
    values = [tuple(number(row[name]) for name in objectives) for row in rows]
    complete = [None not in found for found in values]
    by_workload = {}
    for row, found, known in zip(rows, values, complete):
        if known:
            by_workload.setdefault(row["workload"], set()).add(found)
    return [not any(dominates(other, found) for other in by_workload[row["workload"]]) if known else None
            for row, found, known in zip(rows, values, complete)]


def _check(path, names, objectives):
    for name in ("workload", *objectives):
        if name not in names:
            numbers = [column for column in names if column.rsplit("_", 1)[-1] in ("ns", "bytes", "nj")]
            raise StudyError(f"{path}:1: no column {name}; columns to compare are {', '.join(numbers) or 'missing'}")


def parameters_of(names):
    """The swept columns: those between the workload and the first measure."""
    return names[names.index("workload") + 1:names.index("latency_ns")] if "latency_ns" in names else []


def _cell(name, value):
    text = UNIT_TEXTS.get(name.rsplit("_", 1)[-1])
    return text(whole(float(value))) if text and number(value) is not None else value


def pareto(folder, objectives, output):
    """Writes the table with its mark and gives the lines to print."""
    path = folder / "table.csv" if folder.is_dir() else folder
    names, rows = read_table(path)
    _check(path, names, objectives)
    marks = undominated(rows, objectives)
    if not any(marks):
        raise StudyError(f"{path}: no row has {', '.join(objectives)}; run the sweep first")
    output = output or path.with_name("pareto.csv")
    words = {True: "yes", False: "no", None: ""}
    names = [name for name in names if name != MARK]
    write_whole(output, csv_bytes([*names, MARK], [[*(row[name] for name in names), words[mark]]
                                                   for row, mark in zip(rows, marks)]))
    shown = ["config", "workload", *parameters_of(names), *objectives]
    kept = sorted((row for row, mark in zip(rows, marks) if mark),
                  key=lambda row: (row["workload"], number(row[objectives[0]])))
    yield from aligned(shown, [[_cell(name, row[name]) for name in shown] for row in kept])
    yield f"{len(kept)} of {sum(mark is not None for mark in marks)} rows are undominated in {', '.join(objectives)}"
    yield str(output)
