"""A study as it is asked for: which phones, what runs on them, and which parameters move."""

import dataclasses
import pathlib

from grid import PLAN, combinations, parameters
from problems import StudyError
from simulator_tools import ROOT
from study_files import file_of
from yaml_nodes import read_yaml

KEYS = ("configs", "traces", "models", "plan", "set", "grid", "list", "sample", "options")
MODEL_KEYS = ("name", "model", "options")
SAMPLES = ("auto", "full")
# Options of fmsim that change what a run is, and how many values they take; the sweep itself sets the others.
SIMULATOR_OPTIONS = {"--perfect": 1, "--repeat": 1, "--capacities": 1}


@dataclasses.dataclass(frozen=True)
class Config:
    """A name in configs/ or a file."""
    given: str
    where: str

    @property
    def name(self):
        return pathlib.Path(self.given).stem


@dataclasses.dataclass(frozen=True)
class Workload:
    """A recorded trace, or a model that is planned."""
    name: str
    file: str
    where: str
    planned: bool = False
    options: tuple = ()  # of fmplan, for this model


@dataclasses.dataclass
class Study:
    file: pathlib.Path
    configs: list
    workloads: list
    plan: list = dataclasses.field(default_factory=list)  # Parameters of all plans
    fixed: list = dataclasses.field(default_factory=list)  # Parameters of all points
    combinations: list = dataclasses.field(default_factory=lambda: [[]])  # of lists of Parameter
    sample: str = "auto"
    options: list = dataclasses.field(default_factory=list)  # of fmsim

    @property
    def planned(self):
        return any(workload.planned for workload in self.workloads)

    @property
    def paths(self):
        """What is swept, in the order in which it is first named."""
        return list(dict.fromkeys(one.path for chosen in self.combinations for one in chosen))


def known_configs():
    return sorted(path.stem for path in (ROOT / "configs").glob("*.yaml"))


def _config(node):
    text = node.text()
    if "/" in text or text.endswith(".yaml"):
        return Config(file_of(node, "config"), node.where())
    if text not in known_configs():
        node.fail(f"no config {text} in configs/; known are {', '.join(known_configs())}")
    return Config(text, node.where())


def _trace(node):
    file = file_of(node, "trace")
    return Workload(pathlib.Path(file).stem, file, node.where())


def _words(node):
    return [word.text() for word in node.list("options")]


def _model(node):
    keys = node.items(MODEL_KEYS) if node.is_mapping() else {"model": node}
    if "model" not in keys:
        node.fail("a model needs its file; give model: FILE.onnx")
    file = file_of(keys["model"], "model")
    return Workload(keys["name"].text() if "name" in keys else pathlib.Path(file).stem, file, node.where(), True,
                    tuple(_words(keys["options"])) if "options" in keys else ())


def _refuse_same_names(found, what, remedy):
    for number, item in enumerate(found):
        if item.name in (before.name for before in found[:number]):
            raise StudyError(f"{item.where}: {what} {item.name} is there twice: duplicated points; {remedy}")


def _workloads(root, keys):
    if ("traces" in keys) == ("models" in keys):
        root.fail("a study has either traces: (recorded) or models: (planned for each point); give one of the two")
    read, key = (_trace, "traces") if "traces" in keys else (_model, "models")
    found = [read(node) for node in keys[key].listed(key)]
    _refuse_same_names(found, key[:-1], "remove one, or rename it")
    return found


def _configs(root, keys):
    if "configs" not in keys:
        root.fail("a study needs configs: the phones, like configs: [mali-g715]")
    found = [_config(node) for node in keys["configs"].listed("configs")]
    _refuse_same_names(found, "config", "remove one, or rename it")
    return found


def _simulator_options(node):
    words = _words(node)
    rest = list(words)
    while rest:
        count = SIMULATOR_OPTIONS.get(rest[0])
        if count is None or len(rest) <= count:
            node.fail(f"option {rest[0]}: options of fmsim that a study may give, each followed by its value, are "
                      f"{', '.join(SIMULATOR_OPTIONS)}")
        rest = rest[1 + count:]
    return words


def _set(keys, planned):
    fixed = parameters(keys["set"], planned) if "set" in keys else []
    for one in fixed:
        if one.plan_option:
            raise StudyError(f"{one.where}: {one.path} does not go into set:; give it under plan:")
    return fixed


def _sample(keys):
    sample = keys["sample"].text() if "sample" in keys else "auto"
    if sample not in SAMPLES:
        keys["sample"].fail(f"sample {sample}: it is {' or '.join(SAMPLES)}")
    return sample


def read_study(path):
    """The Study in a file. Raises StudyError."""
    root = read_yaml(path)
    keys = root.items(KEYS)
    configs, workloads = _configs(root, keys), _workloads(root, keys)
    planned = workloads[0].planned
    plan = parameters(keys["plan"], planned, PLAN) if "plan" in keys else []
    fixed = _set(keys, planned)
    return Study(pathlib.Path(path), configs, workloads, plan, fixed,
                 combinations(keys, planned, {"plan": plan, "set": fixed}), _sample(keys),
                 _simulator_options(keys["options"]) if "options" in keys else [])
