"""fmsweep sensitivity: each parameter by itself a few percent lower and higher, ranked by what that does."""

import concurrent.futures as futures
import dataclasses
import math

from grid import Parameter
from problems import StudyError
from simulator_tools import Refused
from variations import scaled, size_of, steps


@dataclasses.dataclass
class Variation:
    """A parameter's own value and the two that are tried; None where the config takes none."""
    path: str
    base: str
    low: str | None
    high: str | None


@dataclasses.dataclass
class Ranked:
    """What a variation did to a measure."""
    variation: Variation
    low_change: float | None  # relative to the base
    high_change: float | None
    elasticity: float  # percent of the measure by percent of the parameter


def chosen_paths(config, wanted, where):
    """Paths of the config that are numbers: all, or those `wanted`: paths, or the sections before a dot."""
    movable = [path for path, value in config.values.items() if scaled(value, 2) is not None and path != "dram.preset"]
    if not wanted:
        return movable
    found = []
    for name in wanted:
        matching = [path for path in movable if path == name or path.startswith(f"{name}.")]
        if not matching:
            known = "is a word or zero" if name in config.values else "does not exist"
            near = ", ".join(config.nearest(name)) or ", ".join(sorted({path.split(".")[0] for path in movable}))
            raise StudyError(f"{where}: parameter {name} {known}: no number to vary; nearest: {near}")
        found += matching
    return list(dict.fromkeys(found))


def _accepted(keys, config, fixed, path, factors, base):
    """The first moved value that fmsim takes."""
    for factor in factors:
        value = scaled(base, factor)
        if not isinstance(keys.config(config, {**fixed, path: value}), Refused):
            return value
    return None


def variations(keys, config, fixed, paths, percent, jobs):
    """A Variation of each path."""
    values = keys.config(config, fixed).values
    down, up = steps(percent)

    def vary(path):
        return Variation(path, values[path], *(_accepted(keys, config, fixed, path, factors, values[path])
                                               for factors in (down, up)))
    with futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(vary, paths))


def combinations_of(varied, where):
    """The base and each variation, as a study has them."""
    return [[], *([Parameter(one.path, value, where)] for one in varied for value in (one.low, one.high)
                  if value is not None)]


def _elasticity(base, moved):
    """`moved`: [(size of the parameter, measure)] of base, low and high; from the widest two."""
    (low_size, low), (high_size, high) = min(moved), max(moved)
    if low_size == high_size or min(low, high, base) <= 0:
        return 0.0
    return math.log(high / low) / math.log(high_size / low_size)


def rank(varied, base, measured):
    """[Ranked], the strongest first. `base`: the measure there; `measured`: {(path, value): measure}."""
    ranked = []
    for one in varied:
        changes, moved = [], [(size_of(one.base), base)]
        for value in (one.low, one.high):
            found = measured.get((one.path, value))
            changes.append(None if found is None or base == 0 else found / base - 1)
            if found is not None:
                moved.append((size_of(value), found))
        if len(moved) > 1:
            ranked.append(Ranked(one, *changes, _elasticity(base, moved)))
    return sorted(ranked, key=lambda one: (-abs(one.elasticity), one.variation.path))
