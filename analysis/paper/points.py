"""Makes the points of the study, one network x policy x device each, and keeps those that are done.

A point's key is the digest of all it depends on: the plan, the device's config, the tools. Launches
are recorded once a network: other plans' traces are composed from them (fmtrace compose), and only
what none has is recorded anew.
"""

import json

import yaml

from measures import measures
from tools import ROOT, Refused, config_text, digest_of, save_json


def load_yaml(path):
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class Study:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        for name in ("plans", "recorded", "points", "models"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    # ---- plans
    def plan(self, network, policy, config):
        """(plan file, facts of making it). Raises Refused when fmplan has no such policy."""
        model = ROOT / network["model"]
        key = digest_of(model.read_bytes(), policy["options"], config_text(config), self.tools.digest("fmplan"))
        path = self.folder / f"plans/{network['name']}.{policy['name']}.{config}.{key}.yaml"
        facts = path.with_suffix(".json")
        if not facts.exists():
            seconds = self.tools.run("fmplan", "--model", model, "--config", config, *policy["options"],
                                     "-o", path)
            save_json(facts, {"seconds": seconds, "solver": solver_of(path)})
        return path, json.loads(facts.read_text())

    # ---- traces
    def filled(self, network):
        path = self.folder / f"models/{network['name']}.onnx"
        if not path.exists():
            self.tools.run("fmplan", "fill", "--model", ROOT / network["model"], "--seed", 1, "-o", path)
        return path

    def packed_plan(self, network, policy, config):
        """(plan, weights) of the filled network: the skeleton's plan names another file's digest."""
        stem = self.folder / f"models/{network['name']}.{policy['name']}.{config}"
        plan, weights = f"{stem}.plan.yaml", f"{stem}.fmw"
        model = self.filled(network)
        self.tools.run("fmplan", "--model", model, "--config", config, *policy["options"], "-o", plan)
        self.tools.run("fmplan", "pack", "--plan", plan, "--model", model, "-o", weights)
        return plan, weights

    def recordings(self, network):
        version = self.tools.digest("fmexec")
        return sorted(self.folder.glob(f"recorded/{network['name']}.{version}.*.trace"))

    def trace(self, network, policy, config, plan):
        """The plan's trace, composed; records the launches that are missing first."""
        trace = self.folder / "composed.trace"
        for attempt in range(2):
            found = self.recordings(network)
            try:
                if found:
                    self.tools.run("fmtrace", "compose", "--plan", plan, "--traces", *found, "-o", trace)
                    return trace
            except Refused:
                if attempt == 1:
                    raise
            self.record(network, policy, config)
        raise Refused(f"{plan}: its launches cannot be recorded here")

    def record(self, network, policy, config):
        plan, weights = self.packed_plan(network, policy, config)
        version = self.tools.digest("fmexec")
        target = self.folder / f"recorded/{network['name']}.{version}.{policy['name']}.{config}.trace"
        self.tools.run("fmexec", "--plan", plan, "--weights", weights, "--record", target)

    # ---- points
    def simulated(self, network, policy, config):
        """The measures of a point on a simulated device."""
        plan, facts = self.plan(network, policy, config)
        key = digest_of(plan.read_bytes(), config_text(config), self.tools.digest("fmsim"),
                        self.tools.digest("fmtrace"), self.tools.digest("fmexec"))
        return self.kept(f"{network['name']}.{policy['name']}.{config}.{key}", plan, facts, lambda result: (
            self.tools.run("fmsim", "--config", config, "--trace",
                           self.trace(network, policy, config, plan), "--sample", "auto", "--json", "-o",
                           result)))

    def measured(self, network, policy, config):
        """The measures of a point on this computer's OpenCL device: programs cached, files not."""
        plan, facts = self.plan(network, policy, config)
        key = digest_of(plan.read_bytes(), self.tools.digest("fmexec"))

        def run(result):
            packed, weights = self.packed_plan(network, policy, config)
            arguments = ("--plan", packed, "--weights", weights, "--json", "-o", result)
            self.tools.run("fmexec", *arguments)  # fills the program cache
            self.tools.run("fmexec", *arguments)

        return self.kept(f"{network['name']}.{policy['name']}.{config}.{key}", plan, facts, run)

    def kept(self, name, plan, facts, make):
        point = self.folder / f"points/{name}.json"
        if not point.exists():
            result = self.folder / "result.json"
            make(result)
            save_json(point, measures(json.loads(result.read_text()), load_yaml(plan), facts))
        # Solver times are of this run's plan, whoever simulated it.
        return {**json.loads(point.read_text()), "plan_s": facts["seconds"]}


def solver_of(plan):
    """What a plan says of its solver, when it does."""
    document = load_yaml(plan)
    return document.get("solver")
