"""Makes the points of the study, one network x policy x device each, and keeps those that are done.

A point's key is the digest of all it depends on: the plan, the device's config, the tools. Launches
are recorded once a network: other plans' traces are composed from them (fmtrace compose), and only
what none has is recorded anew.
"""

import contextlib
import fcntl
import json
import os
import pathlib

import yaml

from command_line import ROOT, Refused, config_path, digest_of, save_json
from measures import measures

PRELOAD = {"name": "preload", "options": ["--policy", "preload"]}
PRELOAD_BUFFERS = {"name": "preload-buffers", "options": [*PRELOAD["options"], "--placement", "buffer-weights"]}
RUNS_HERE = 5


def load_yaml(path):
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class Study:
    def __init__(self, tools, folder, study):
        self.tools, self.folder = tools, folder
        self.measured_on, self.measured_options = study.get("measured_on"), study.get("measured_options", [])
        self.profiled = study.get("profiled", {})
        for name in ("plans", "recorded", "points", "models", "results", "profiles", "locks"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def stem(self, network, policy, config):
        return f"{network['name']}.{policy['name']}.{config_path(config).stem}"

    def point(self, network, policy, config):
        """The measures of one point. Raises Refused when fmplan has no such policy or plan."""
        return (self.measured if config == self.measured_on else self.simulated)(network, policy, config)

    # ---- plans
    def plan(self, network, policy, config):
        """(plan file, facts of making it). Raises Refused when fmplan has no such policy."""
        model = ROOT / network["model"]
        options = [*policy["options"], *self.budget(network, policy, config)]
        if config == self.measured_on:
            options += self.measured_options
        parts = [model.read_bytes(), *map(str, options), self.tools.config_text(config)]
        if policy.get("timed"):
            times = self.launch_times(network, config)
            parts += [file.read_bytes() for file in times if isinstance(file, pathlib.Path)]
            options += times
        path, made = self.planned(self.stem(network, policy, config), parts,
                                  ["--model", model, "--config", config_path(config), *options])
        return path, {"seconds": made["seconds"], "options": list(map(str, options)), **made["printed"]}

    def planned(self, stem, parts, words):
        """(plan file, {seconds, printed: fmplan's JSON}), kept by the digest of fmplan and `parts`: all that the plan depends on."""
        path = self.folder / f"plans/{stem}.{digest_of(*parts, self.tools.digest('fmplan'))}.yaml"
        made = path.with_suffix(".json")
        if not made.exists():
            seconds, printed = self.tools.run("fmplan", *words, "--json", "-o", path)
            save_json(made, {"seconds": seconds, "printed": json.loads(printed)})
        return path, json.loads(made.read_text())

    def budget(self, network, policy, config):
        """The option for a policy that may hold a share of the weights beside all activations."""
        if "weights_budget" not in policy:
            return []
        _, facts = self.plan(network, PRELOAD, config)
        weights = facts["weights"]["preloaded_bytes"]
        share = round(policy["weights_budget"] * weights)
        return ["--budget", f"{facts['memory']['activation_bytes'] + share}B"]

    def launch_times(self, network, config):
        """fmplan's options: a profile on the device that the study names, elsewhere the run under `preload`."""
        device = self.profiled.get(network["name"])
        if config == device:
            return ["--profile", self.profile(network, config)]
        times = ["--profile", self.preload_result(network, config)]
        if device and config != self.measured_on:
            times += ["--learn-from", self.profile(network, device)]
        return times

    def profile(self, network, config):
        """The network's launches with streams inside, their weights in images and in buffers."""
        plans = [self.plan(network, policy, config)[0] for policy in (PRELOAD, PRELOAD_BUFFERS)]
        key = digest_of(*(plan.read_bytes() for plan in plans), self.tools.config_text(config),
                        self.tools.digest("fmsim"))
        path = self.folder / f"profiles/{network['name']}.{config_path(config).stem}.{key}.yaml"
        if not path.exists():
            unfinished = path.with_suffix(".partial")  # fmplan goes on with it
            self.tools.measure("fmplan", "profile", "--on", f"sim:{config_path(config)}", "--plan", plans[0], "--plan",
                               plans[1], "--recordings", self.folder / "recorded", "--jobs", 2, "-o", unfinished)
            unfinished.replace(path)
        return path

    # ---- traces
    def filled(self, network):
        path = self.folder / f"models/{network['name']}.onnx"
        if not path.exists():
            self.tools.measure("fmplan", "fill", "--model", ROOT / network["model"], "--seed", 1, "-o", path)
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
        trace = self.folder / f"composed.{os.getpid()}.trace"
        for attempt in range(2):
            found = self.recordings(network)
            try:
                if found:
                    self.tools.measure("fmtrace", "compose", "--plan", plan, "--traces", *found, "-o", trace)
                    return trace
            except Refused:
                if attempt == 1:
                    raise
            self.record(network, policy, config, plan)
        raise Refused(f"{plan}: its launches cannot be recorded here")

    def record(self, network, policy, config, plan):
        version = self.tools.digest("fmexec")
        device = config_path(config).stem
        target = self.folder / f"recorded/{network['name']}.{version}.{policy['name']}.{device}.trace"
        self.tools.measure("fmexec", "--plan", plan, "--record", target)

    # ---- points
    def key(self, network, policy, config):
        """(digest of all the point depends on, plan, facts of the plan)"""
        plan, facts = self.plan(network, policy, config)
        if config == self.measured_on:
            return digest_of(plan.read_bytes(), self.tools.digest("fmexec")), plan, facts
        return self.simulation_key(plan, config), plan, facts

    def simulation_key(self, plan, config, settings=(), options=()):
        digests = [self.tools.digest(name) for name in ("fmsim", "fmtrace", "fmexec")]
        return digest_of(plan.read_bytes(), self.tools.config_text(config, settings), *digests, *options)

    def simulation(self, network, policy, config, plan, settings=(), options=()):
        """The file result.json of a plan's run; `settings`: --set PATH=VALUE, `options`: others of fmsim."""
        result = self.result_of(network, config, self.simulation_key(plan, config, settings, options))

        def run(unfinished):
            trace = self.trace(network, policy, config, plan)
            self.tools.measure("fmsim", "--config", config_path(config), *settings, "--trace", trace, "--sample", "auto", *options,
                               "--json", "-o", unfinished)
            trace.unlink()

        return self.finished(result, run)

    def simulated(self, network, policy, config):
        """The measures of a point on a simulated device."""
        key, plan, facts = self.key(network, policy, config)
        return self.kept((network, policy, config), key, plan, facts,
                         lambda: self.simulation(network, policy, config, plan))

    def measured(self, network, policy, config):
        """The measures of a point on this computer's OpenCL device: programs cached, files not; the median run."""
        key, plan, facts = self.key(network, policy, config)

        def run(result):
            packed, weights = self.packed_plan(network, policy, config)
            arguments = ("--plan", packed, "--weights", weights, "--json", "-o", result)
            self.tools.measure("fmexec", *arguments)  # fills the program cache
            runs = []
            for _ in range(RUNS_HERE):
                self.tools.measure("fmexec", *arguments)
                runs.append(result.read_text())
            runs.sort(key=lambda text: json.loads(text)["latency"]["integrated_ns"])
            result.write_text(runs[RUNS_HERE // 2])
            pathlib.Path(weights).unlink()

        result = self.result_of(network, config, key)
        return self.kept((network, policy, config), key, plan, facts, lambda: self.finished(result, run))

    def result_of(self, network, config, key):
        """Of any policy that makes this plan."""
        return self.folder / f"results/{network['name']}.{config_path(config).stem}.{key}.json"

    def result(self, network, policy, config):
        """result.json of the run."""
        self.point(network, policy, config)
        return self.result_of(network, config, self.key(network, policy, config)[0])

    def preload_result(self, network, config):
        """That of the run under `preload`, from which fmplan takes launch times."""
        return self.result(network, PRELOAD, config)

    def finished(self, result, run):
        """The file, written whole by run(unfinished file) where it is not there yet."""
        if result.exists():
            return result
        self.tools.need_to_measure()
        with self.turn(result.stem):
            if not result.exists():
                unfinished = self.folder / f"result.{os.getpid()}.json"
                run(unfinished)
                unfinished.replace(result)
        return result

    @contextlib.contextmanager
    def turn(self, name):
        """One process at a time makes what has this name; the others then find it."""
        with open(self.folder / f"locks/{name}", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def kept(self, where, key, plan, facts, make_result):
        ours = digest_of((pathlib.Path(__file__).parent / "measures.py").read_bytes())
        point = self.folder / f"points/{self.stem(*where)}.{key}.{ours}.json"
        if not point.exists():
            save_json(point, measures(json.loads(make_result().read_text()), load_yaml(plan), facts))
        return json.loads(point.read_text())
