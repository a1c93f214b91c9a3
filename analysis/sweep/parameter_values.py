"""Values of a config as columns of a table: "512KiB" is 524288 in l2.size_bytes."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from config_quantities import UNITS, measured, split, whole  # noqa: E402, F401 for the modules here


def column_of(path, values):
    """(name, cells) of a parameter's column: numbers with the unit in the name where all values are numbers of
    one unit, else the texts."""
    numbers = [measured(value) for value in values]
    units = {number[1] for number in numbers if number is not None}
    if not values or None in numbers or len(units) > 1:
        return path, [str(value) for value in values]
    unit = units.pop()
    return (f"{path}_{unit}" if unit else path), [number for number, _ in numbers]
