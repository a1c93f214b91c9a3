"""A point: one run on one phone, as files can carry it, and the key of all it depends on."""

import dataclasses
import functools
import pathlib
import threading

from simulator_tools import Refused, digest_of
from effective_config import explained
from study import Workload

# Raised when the meaning of a row changes: rows of other versions are not read.
ROW_VERSION = 1
SIMULATING = ("fmsim",)
PLANNING = ("fmplan", "fmexec", "fmtrace")


@dataclasses.dataclass
class Point:
    config: str  # a name or a file
    settings: dict  # path: value, of the simulated phone
    workload: Workload
    plan: dict  # options of fmplan, of a model: a value, or a list of files
    planned_for: dict  # settings of the phone that the plan is made for
    sample: str
    options: list  # of fmsim

    @classmethod
    def of_json(cls, content):
        workload = content["workload"]
        return cls(**{**content, "workload": Workload(**{**workload, "options": tuple(workload["options"])})})

    def to_json(self):
        return dataclasses.asdict(self)


def points_of(study):
    """[(config, workload, Parameters, Point)] in the order of the table."""
    everywhere = {one.path: one.value for one in study.fixed}
    return [(config, workload, chosen, _point(study, everywhere, config, workload, chosen))
            for config in study.configs for workload in study.workloads for chosen in study.combinations]


def _point(study, everywhere, config, workload, chosen):
    settings = {**everywhere, **{one.path: one.value for one in chosen if not one.plan_option}}
    plan = {one.plan_option: list(one.files) or one.value for one in (*study.plan, *chosen) if one.plan_option}
    anew = plan.pop("mode", "auto") == "auto"
    return Point(config.given, settings, workload, plan if workload.planned else {},
                 (settings if anew else everywhere) if workload.planned else {}, study.sample, study.options)


def tools_of(planned):
    return (*SIMULATING, *PLANNING) if planned else SIMULATING


@functools.lru_cache(maxsize=None)
def file_digest(path):
    return digest_of(pathlib.Path(path).read_bytes())


def plan_words(plan, of_file=str):
    """fmplan's options for a plan; with file_digest what they decide, whatever the files are called."""
    given = [(name, [value] if isinstance(value, str) else map(of_file, value)) for name, value in sorted(plan.items())]
    return [word for name, values in given for value in values for word in (f"--{name}", value)]


class Keys:
    """Keys of points; each config is explained once."""

    def __init__(self, tools):
        self.tools, self._lock, self._explained = tools, threading.Lock(), {}

    def config(self, config, settings):
        """The effective config, or the Refused that fmsim ended with."""
        place = (config, tuple(sorted(settings.items())))
        with self._lock:
            known = self._explained.get(place)
        if known is None:
            try:
                known = explained(self.tools, config, settings)
            except Refused as refused:
                known = refused
            with self._lock:
                self._explained[place] = known
        return known

    def text(self, config, settings):
        """All that a config decides; of a refused one what was asked for."""
        found = self.config(config, settings)
        if isinstance(found, Refused):
            return f"{self.text(config, {}) if settings else ''}\n{sorted(settings.items())}\n{found}"
        return found.text()

    def key(self, point):
        """The digest of all the point depends on: contents, never names of files."""
        names = tools_of(point.workload.planned)
        parts = [ROW_VERSION, *self.tools.digests(names).values(), file_digest(point.workload.file),
                 self.text(point.config, point.settings), point.sample, *point.options]
        if point.workload.planned:
            parts += ["planned for", self.text(point.config, point.planned_for),
                      *plan_words(point.plan, file_digest), *point.workload.options]
        return digest_of(*parts)
