"""The combinations of parameters that a study asks for: entries of a list times a grid."""

import dataclasses
import itertools

from problems import StudyError
from study_files import file_of

PLAN = "plan."
MODES = ("auto", "fixed")
# Of fmplan: what a study may say under `plan:`, and sweep as plan.policy, plan.budget, ..
PLAN_OPTIONS = ("mode", "policy", "budget", "placement", "storage", "accumulate", "fusion", "slices", "minimize",
                "slowdown", "ring", "transforms", "m-peak", "lambda", "alpha", "solver-seconds", "profile", "learn-from")
# Of them what is a file, and how many of it a plan may have.
FILE_OPTIONS = {"profile": 1, "learn-from": None}
MOST_POINTS = 100_000


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A value that a point gives to a path."""
    path: str
    value: str  # as it is written
    where: str
    files: tuple = ()  # that the value names

    @property
    def plan_option(self):
        """Of fmplan, or None for a path of the config."""
        return self.path[len(PLAN):] if self.path.startswith(PLAN) else None


def parameter(path, node, planned):
    found = Parameter(path, node.text(), node.where())
    if found.plan_option is None:
        return found
    if not planned:
        node.fail(f"{path}: traces were planned when they were recorded; give models: instead of traces:")
    if found.plan_option not in PLAN_OPTIONS:
        node.fail(f"unknown path {path}; of plans {', '.join(PLAN + option for option in PLAN_OPTIONS)} can be swept")
    if found.plan_option == "mode" and found.value not in MODES:
        node.fail(f"{path} {found.value}: it is {' or '.join(MODES)}")
    if found.plan_option in FILE_OPTIONS:
        return dataclasses.replace(found, files=_files(path, node, FILE_OPTIONS[found.plan_option]))
    return found


def _files(path, node, most):
    named = node.listed("files")
    if most is not None and len(named) > most:
        node.fail(f"{path} is one file; give several to plan.learn-from")
    return tuple(file_of(one, path) for one in named)


def parameters(node, planned, prefix=""):
    """Of a mapping from paths to values."""
    return [parameter(prefix + path, value, planned) for path, value in node.items().items()]


def _axis(path, values, planned):
    axis = [parameter(path, value, planned) for value in values.list("values")]
    for number, value in enumerate(axis):
        if value.value in (before.value for before in axis[:number]):
            raise StudyError(f"{value.where}: {path} has {value.value} twice: duplicated points; remove one")
    return axis


def _axes(node, planned):
    axes = [_axis(path, values, planned) for path, values in node.items().items()]
    if not axes:
        node.fail("grid is empty; give paths with lists of values, like gpu.cores: [5, 7], or remove it")
    return axes


def _entries(node, planned):
    entries = [parameters(entry, planned) for entry in node.list("points")]
    seen = {}
    for entry in entries:
        values = frozenset((one.path, one.value) for one in entry)
        if not entry:
            node.fail("list has an empty point; give it paths with values, or remove it")
        if values in seen:
            raise StudyError(f"{entry[0].where}: the same point as in line {seen[values]}: duplicated points; "
                             "remove one")
        seen[values] = entry[0].where.rsplit(":", 1)[1]
    return entries


def _refuse_shared(first_name, first, second_name, second):
    """A path is moved by one part of a study only."""
    where = {one.path: one.where for one in first}
    for one in second:
        if one.path in where:
            raise StudyError(f"{one.where}: {one.path} is in {second_name}: and in {first_name}: ({where[one.path]}), "
                             "which contradict each other; keep it in one of them")


def combinations(keys, planned, fixed):
    """Lists of Parameter, one a point. `fixed`: {part of the study: its Parameters, of all points}."""
    axes = _axes(keys["grid"], planned) if "grid" in keys else []
    entries = _entries(keys["list"], planned) if "list" in keys else [[]]
    parts = {**fixed, "grid": list(itertools.chain(*axes)), "list": list(itertools.chain(*entries))}
    for first, second in itertools.combinations(parts, 2):
        _refuse_shared(first, parts[first], second, parts[second])
    count = len(entries)
    for axis in axes:
        count *= len(axis)
    if count > MOST_POINTS:
        keys["grid"].fail(f"{count} combinations; a sweep has at most {MOST_POINTS}: part the study")
    return [[*entry, *chosen] for entry in entries for chosen in itertools.product(*axes)]
