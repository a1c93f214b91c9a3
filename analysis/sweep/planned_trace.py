"""The trace of a model planned for a phone: composed from recorded launches; only missing ones are recorded."""

import pathlib

import yaml

from atomic_file import write_whole
from point import file_digest, plan_words
from simulator_tools import Refused, digest_of
from parameter_values import split


def _assumed(path, value):
    """A value as a config file gives it."""
    section, key = path.split(".", 1)
    text = yaml.safe_load(value) if value.startswith("[") else value
    return section, key, {"value": text, "source": "assumed", "cite": "a sweep's parameter"}


def _base(config):
    """What `base:` names: a name of configs/, or the file."""
    return str(pathlib.Path(config).resolve()) if "/" in config else config


def phone_file(config, settings, effective):
    """The text of a config file with values replaced, for fmplan; curves as fmsim has scaled them."""
    content = {"schema": 1, "name": pathlib.Path(config).stem, "description": "a point of a sweep",
               "base": _base(config)}
    for path, value in settings.items():
        curve = effective.values[path]
        section, key, entry = _assumed(path, curve if curve.startswith("[") and split(value) else value)
        content.setdefault(section, {})[key] = entry
    return yaml.safe_dump(content, sort_keys=False)


class PlannedTrace:
    """A trace for one model in one sweep's folder."""

    def __init__(self, tools, keys, folder, point):
        self.tools, self.keys, self.folder, self.point = tools, keys, folder, point
        self.model = f"{point.workload.name}.{digest_of(pathlib.Path(point.workload.file).read_bytes())}"

    def phone(self):
        """What fmplan plans for: the config itself, or a file with the replaced values."""
        config, settings = self.point.config, self.point.planned_for
        effective = self.keys.config(config, settings)
        if isinstance(effective, Refused):
            raise effective
        if not settings:
            return config
        text = phone_file(config, settings, effective)
        path = self.folder.path / f"plans/{pathlib.Path(config).stem}.{digest_of(text)}.config.yaml"
        if not path.exists():
            write_whole(path, text)
        return path

    def plan(self):
        plan, of_model = self.point.plan, self.point.workload.options
        phone = self.keys.text(self.point.config, self.point.planned_for)
        key = digest_of(self.tools.digest("fmplan"), phone, *plan_words(plan, file_digest), *of_model)
        path = self.folder.path / f"plans/{self.model}.{key}.plan.yaml"
        if not path.exists():
            self.tools.output("fmplan", "--model", self.point.workload.file, "--config", self.phone(),
                              *plan_words(plan), *of_model, "-o", path)
        return path

    def recordings(self):
        return sorted((self.folder.path / "recordings").glob(f"{self.model}.{self.tools.digest('fmexec')}.*.trace"))

    def compose(self, plan, trace):
        """Whether the recordings have all launches of the plan."""
        found = self.recordings()
        if not found:
            return False
        try:
            self.tools.output("fmtrace", "compose", "--plan", plan, "--traces", *found, "-o", trace)
        except Refused as refused:
            if "access programs of this plan" not in str(refused):
                raise
            return False
        return True

    def record(self, plan):
        number = digest_of(plan.read_bytes())
        target = self.folder.path / f"recordings/{self.model}.{self.tools.digest('fmexec')}.{number}.trace"
        self.tools.output("fmexec", "--plan", plan, "--record", target)

    def trace(self):
        plan = self.plan()
        trace = self.folder.path / f"traces/{self.model}.{digest_of(plan.read_bytes())}.trace"
        if trace.exists() or self.compose(plan, trace):
            return trace
        with self.folder.turn(self.model):
            if not self.compose(plan, trace):
                self.record(plan)
                if not self.compose(plan, trace):
                    raise Refused(f"{plan}: its launches cannot be recorded on this computer")
        return trace


def planned_trace(tools, keys, folder, point):
    return PlannedTrace(tools, keys, folder, point).trace()
