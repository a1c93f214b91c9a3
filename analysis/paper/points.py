"""Makes the points of the study, one network x policy x device each, and keeps those that are done.

A point's key is the digest of all it depends on: the plan, the device's config, the tools. Launches
are recorded once a network: other plans' traces are composed from them (fmtrace compose), and only
what none has is recorded anew.
"""

import json
import pathlib

import yaml

from command_line import ROOT, Refused, config_path, digest_of, save_json
from measures import measures


def load_yaml(path):
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class Study:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        for name in ("plans", "recorded", "points", "models"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def stem(self, network, policy, config):
        return f"{network['name']}.{policy['name']}.{config_path(config).stem}"

    # ---- plans
    def plan(self, network, policy, config):
        """(plan file, facts of making it). Raises Refused when fmplan has no such policy."""
        model = ROOT / network["model"]
        options = [*policy["options"], *self.budget(network, policy, config)]
        key = digest_of(model.read_bytes(), options, self.tools.config_text(config),
                        self.tools.digest("fmplan"))
        path = self.folder / f"plans/{self.stem(network, policy, config)}.{key}.yaml"
        facts = path.with_suffix(".json")
        if not facts.exists():
            seconds, printed = self.tools.run("fmplan", "--model", model, "--config",
                                              config_path(config), *options, "--json", "-o", path)
            save_json(facts, {"seconds": seconds, "options": options, **json.loads(printed)})
        return path, json.loads(facts.read_text())

    def budget(self, network, policy, config):
        """The option for a policy that may hold a share of the weights beside all activations."""
        if "weights_budget" not in policy:
            return []
        _, facts = self.plan(network, {"name": "preload", "options": ["--policy", "preload"]}, config)
        weights = facts["weights"]["preloaded_bytes"]
        share = round(policy["weights_budget"] * weights)
        return ["--budget", f"{facts['memory']['activation_bytes'] + share}B"]

    # ---- traces
    def filled(self, network):
        path = self.folder / f"models/{network['name']}.onnx"
        if not path.exists():
            self.tools.run("fmplan", "fill", "--model", ROOT / network["model"], "--seed", 1, "-o", path)
        return path

    def packed_plan(self, network, policy, config):
        """(plan, weights) of the filled network: the skeleton's plan names another file's digest."""
        _, facts = self.plan(network, policy, config)
        stem = self.folder / f"models/{self.stem(network, policy, config)}"
        plan, weights = f"{stem}.plan.yaml", f"{stem}.fmw"
        model = self.filled(network)
        self.tools.run("fmplan", "--model", model, "--config", config_path(config), *facts["options"],
                       "-o", plan)
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
        device = config_path(config).stem
        target = self.folder / f"recorded/{network['name']}.{version}.{policy['name']}.{device}.trace"
        self.tools.run("fmexec", "--plan", plan, "--weights", weights, "--record", target)
        pathlib.Path(weights).unlink()

    # ---- points
    def simulated(self, network, policy, config):
        """The measures of a point on a simulated device."""
        plan, facts = self.plan(network, policy, config)
        key = digest_of(plan.read_bytes(), self.tools.config_text(config), self.tools.digest("fmsim"),
                        self.tools.digest("fmtrace"), self.tools.digest("fmexec"))
        return self.kept(f"{self.stem(network, policy, config)}.{key}", plan, facts, lambda result: (
            self.tools.run("fmsim", "--config", config_path(config), "--trace",
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
            pathlib.Path(weights).unlink()

        return self.kept(f"{self.stem(network, policy, config)}.{key}", plan, facts, run)

    def kept(self, name, plan, facts, make):
        ours = digest_of((pathlib.Path(__file__).parent / "measures.py").read_bytes())
        point = self.folder / f"points/{name}.{ours}.json"
        if not point.exists():
            result = self.folder / "result.json"
            make(result)
            save_json(point, measures(json.loads(result.read_text()), load_yaml(plan), facts))
        return json.loads(point.read_text())
