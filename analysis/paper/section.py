"""What a section of docs/paper.md is made of, and what it has at hand to be made."""

import dataclasses
import json
import pathlib
import sys
from collections.abc import Callable

from command_line import NotKept, Refused, Tools, digest_of, save_json
from points import Study
from study_points import collect_with, selected

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "sweep"))

from effective_config import EffectiveConfig  # noqa: E402


class Gathered:
    """What a section found, and why the rest is missing; keys are tuples (network, device, what)."""

    def __init__(self, found=None, missing=None):
        self.found, self.missing = found or {}, missing or {}

    def add(self, key, make, *arguments):
        """Keeps the facts that make(*arguments) gives, or why there are none."""
        try:
            self.found[key] = make(*arguments)
        except (NotKept, Refused) as absent:
            self.missing[key] = str(absent).removeprefix("fmplan: error: ")


@dataclasses.dataclass(frozen=True)
class Section:
    name: str  # in --sections
    make: Callable  # (Work) -> Gathered: simulates what is not kept
    lines: Callable  # (what it found, study, published) -> its lines of Markdown
    pictures: Callable = lambda found, study, published: ()  # -> [(id, figure, caption)] for the HTML page


class Work:
    """A study, its points, and which networks the command line asks for."""

    def __init__(self, study, published, options, only_kept):
        self.study, self.published, self.options = study, published, options
        self.device = study["device"]
        self.points = Study(Tools(options.bin, only_kept), options.out, study)
        self.tools = self.points.tools

    def networks(self, names):
        """The study's networks of these names, as far as they are asked for on the sections' device."""
        if not selected([self.device], self.options.configs):
            return []
        known = {network["name"]: network for network in self.study["networks"]}
        return selected([known[name] for name in names], self.options.networks, lambda network: network["name"])

    def policy(self, name):
        return next(policy for policy in self.study["policies"] if policy["name"] == name)

    def collect(self, study):
        """study_points.collect() of another study's networks, devices and policies."""
        return collect_with(self.points, study, self.options)

    def config(self, settings=()):
        """The device's values; `settings`: --set PATH=VALUE of fmsim."""
        return EffectiveConfig(self.tools.config_text(self.device, tuple(settings)))

    def run(self, network, name, plan, settings=(), options=(), config=None):
        """result.json of a plan on the device; `name`: what its recording is called."""
        return json.loads(self.points.simulation(network, {"name": name}, config or self.device, plan, tuple(settings),
                                                 tuple(options)).read_text())

    def kept(self, stem, parts, make):
        """make()'s facts, kept by the digest of `parts`."""
        folder = self.points.folder / "facts"
        folder.mkdir(exist_ok=True)
        path = folder / f"{stem}.{digest_of(*parts)}.json"
        if not path.exists():
            save_json(path, make())
        return json.loads(path.read_text())
