"""The table of a sweep: a row a point, in CSV and SQLite. Times that runs took are kept apart, so that the table is
the same however often the sweep was interrupted."""

import csv
import io
import sqlite3

from atomic_file import write_whole
from measure import MEASURES
from parameter_values import column_of

ISO_LATENCY = "iso-latency"
SCALED = "scaled by the square root of the capacities' ratio"  # fmsim --capacities scaled


def parameter_columns(paths, points, keys):
    """{column: cells} of what is swept; where a point does not move a path, what its config or plan has."""
    columns = {}
    for path in paths:
        name, cells = column_of(path, [_value(path, chosen, point, keys) for _, _, chosen, point in points])
        columns[name] = cells
    return columns


def _value(path, chosen, point, keys):
    for one in chosen:
        if one.path == path:
            return one.value
    config = keys.config(point.config, point.settings)
    return getattr(config, "values", {}).get(path, point.plan.get(path.removeprefix("plan."), ""))


def scaling(paths, options, config):
    """The law that latency and energy of a capacity were scaled by, where one is swept. `config`: the point's, before
    any setting; or why it is refused."""
    if not getattr(config, "capacities", set()).intersection(paths):
        return ""
    return SCALED if "scaled" in options else ISO_LATENCY


def table(paths, points, keys, rows):
    """(names of columns, rows). `rows`: of each point, in the same order, (key, row)."""
    parameters = parameter_columns(paths, points, keys)
    names = ["point", "config", "workload", *parameters, *MEASURES, "capacity_scaling", "status", "error"]
    lines = []
    for number, ((config, workload, _, point), (key, row)) in enumerate(zip(points, rows)):
        lines.append([key, config.name, workload.name, *(cells[number] for cells in parameters.values()),
                      *(row["measures"].get(name, "") for name in MEASURES), scaling(paths, point.options, keys.config(point.config, {})),
                      row["status"], row["error"]])
    return names, lines


TIMES = ["point", "seconds", "simulation_seconds"]


def times(rows):
    """How long each point took here."""
    return [[key, f"{row['seconds']:.3f}", f"{row['simulation_s']:.3f}"]
            for key, row in dict(rows).items() if "seconds" in row]


def aligned(head, rows):
    """Lines of a table for people, in columns."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in (head, *rows)]


def csv_bytes(names, lines):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(lines)
    return text.getvalue().encode()


def sqlite_bytes(tables):
    """A database of tables: {name: (columns, lines)}."""
    with sqlite3.connect(":memory:") as base:
        for name, (columns, lines) in tables.items():
            base.execute(f"create table {name} ({', '.join(_quoted(column) for column in columns)})")
            base.executemany(f"insert into {name} values ({', '.join('?' * len(columns))})",
                             [[None if cell == "" else cell for cell in line] for line in lines])
        base.commit()
        return base.serialize()


def _quoted(column):
    return '"' + column.replace('"', '""') + '"'


def write_tables(folder, names, lines, taken):
    write_whole(folder / "table.csv", csv_bytes(names, lines))
    write_whole(folder / "times.csv", csv_bytes(TIMES, taken))
    numbers = [[key, float(seconds), float(simulation)] for key, seconds, simulation in taken]
    write_whole(folder / "table.sqlite", sqlite_bytes({"points": (names, lines), "times": (TIMES, numbers)}))
