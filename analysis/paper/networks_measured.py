"""Runs of the networks on this computer's OpenCL device, beside ONNX Runtime."""

import json
import os
import pathlib
import subprocess
import sys

import numpy

from command_line import ROOT, NotKept, digest_of, save_json

HERE = pathlib.Path(__file__).parent
sys.path.append(str(ROOT / "bench"))

from page_cache import cached_bytes, drop_from_cache  # noqa: E402

RUNS = 3


def errors(reference, outputs):
    """{output: norm of the difference to the reference's norm}"""
    expected, found = numpy.load(reference), numpy.load(outputs)
    names = [name for name in expected.files if name.startswith("output:")]
    norm = lambda array: float(numpy.linalg.norm(array.astype(numpy.float64)))
    return {name.removeprefix("output:"): norm(found[name] - expected[name]) / norm(expected[name]) for name in names}


def process_bytes(counters):
    """max(VmHWM, VmRSS + VmSwap)"""
    value = {name: counters["process." + name]["value"] for name in ("peak_resident", "anonymous", "file", "swapped")}
    return max(value["peak_resident"], value["anonymous"] + value["file"] + value["swapped"])


class Measured:
    """Networks with one kind of plan (networks.yaml: preloaded or streamed)."""

    def __init__(self, study, name, kind):
        self.study, self.tolerance = study, kind["tolerance"]
        self.policy = {"name": name, "options": kind["options"]}

    def point(self, network):
        plan, facts = self.study.plan(network, self.policy, self.study.measured_on)
        key = digest_of(plan.read_bytes(), self.study.tools.digest("fmexec"), pathlib.Path(__file__).read_bytes())
        point = self.study.folder / f"points/{self.study.stem(network, self.policy, self.study.measured_on)}.{key}.json"
        if not point.exists():
            if self.study.tools.only_kept:
                raise NotKept("not measured yet")
            save_json(point, {**self.run(network), "launches": facts["launches"]["kernels"]})
        return json.loads(point.read_text())

    def reference(self, network, model):
        """(file, seconds of ONNX Runtime, its memory)"""
        path = self.study.folder / f"models/{network['name']}.reference.npz"
        done = subprocess.run([sys.executable, HERE / "networks_reference.py", model, path, str(os.cpu_count()), str(RUNS)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{network['name']}: ONNX Runtime failed\n{done.stderr}")
        return path, json.loads(done.stdout)

    def run(self, network):
        plan, weights = self.study.packed_plan(network, self.policy, self.study.measured_on)
        reference, runtime = self.reference(network, self.study.filled(network))
        outputs, result = (self.study.folder / f"models/{network['name']}.{end}" for end in ("outputs.npz", "json"))
        command = ["--plan", plan, "--weights", weights, "--inputs", reference, "--outputs", outputs, "--json", "-o", result]
        self.study.tools.measure("fmexec", *command, "--repeat", RUNS)  # builds the programs, too
        times = json.loads(result.read_text())["latency"]
        drop_from_cache(weights)
        self.study.tools.measure("fmexec", *command)
        cold = json.loads(result.read_text())
        facts = {"errors": errors(reference, outputs), "runtime": runtime, "exec_ms": times["exec_ns"] / 1e6,
                 "integrated_ms": cold["latency"]["integrated_ns"] / 1e6,
                 "process_bytes": process_bytes(cold["counters"]), "weights_file_bytes": os.path.getsize(weights),
                 "cached_bytes": cached_bytes(weights)}
        for path in (weights, reference, outputs, result):
            pathlib.Path(path).unlink()
        if not max(facts["errors"].values()) <= self.tolerance:  # NaN, too
            sys.exit(f"{network['name']} differs from ONNX Runtime: {facts['errors']}")
        return facts
