"""What cold_start.py measures: a network's files and the programs that run it."""

import json
import pathlib
import re
import subprocess
import sys
import time

import numpy

from memory_limit import run_in_group
from page_cache import drop_from_cache

ROOT = pathlib.Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench"
# Network -> the share of its weights that `optimal --budget {share}` may hold beside the activations.
MODELS = {"vit": 0.10, "resnet50": 0.13, "gpt-neo-small": 0.15}
WEIGHT_CLASSES = ("preloaded", "um_in_flight", "tm_in_flight", "staging")


def call(*command, **options):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\nended with {done.returncode}\n{done.stderr}")
    return done.stdout


class Model:
    """A network's files: full ONNX, reference, input alone, MNN's form, plans and packed weights."""

    def __init__(self, name, options):
        self.name, self.bin, self.out = name, options.bin, options.out
        self.onnx = self.made(f"{name}.onnx", lambda path: call(
            self.bin / "fmplan", "fill", "--model", ROOT / f"models/{name}.onnx", "--seed", 1, "-o", path))
        self.reference = self.made(f"{name}.ref.npz", lambda path: call(
            sys.executable, ROOT / "tests/reference/ort_reference.py", "--model", self.onnx, "--seed", 1,
            "-o", path))
        self.inputs = self.made(f"{name}.in.npz", self.write_inputs)

    def made(self, name, make):
        path = self.out / name
        if not path.exists():
            make(path)
        return path

    def write_inputs(self, path):
        reference = numpy.load(self.reference)
        numpy.savez(path, **{key: reference[key] for key in reference.files if key.startswith("input:")})

    def mnn(self, python):
        return self.made(f"{self.name}.mnn", lambda path: call(
            pathlib.Path(python).parent / "mnnconvert", "-f", "ONNX", "--modelFile", self.onnx,
            "--MNNModel", path, "--fp16"))

    def planned(self, policy, options):
        """(plan, packed weights); `policy` may carry planner options: "optimal --budget {0.12}"."""
        stem = f"{self.name}.{re.sub('[^a-z0-9.]+', '_', policy)}"
        plan = self.out / f"{stem}.plan.yaml"
        fmplan = [self.bin / "fmplan", "--model", self.onnx, "--config", options.config,
                  *options.plan_options.split(), "-o", plan]
        share = re.search(r"{([0-9.]+)}", policy)
        if share:  # bytes: all activations and this share of the weights
            facts = json.loads(call(*fmplan, "--policy", "preload", "--json"))
            budget = (facts["memory"]["activation_bytes"] +
                      float(share[1]) * facts["weights"]["preloaded_bytes"])
            policy = policy.replace(share[0], f"{budget:.0f}B")
        call(*fmplan, "--policy", *policy.split())
        weights = self.out / f"{stem}.fmw"
        call(self.bin / "fmplan", "pack", "--plan", plan, "--model", self.onnx, "-o", weights)
        return plan, weights

    def error_of(self, output):
        """(relative error of an output, the bar it must pass)."""
        reference = numpy.load(self.reference)
        (key,) = [name for name in reference.files if name.startswith("output:")]
        wanted = reference[key].astype(numpy.float64)
        found = numpy.load(output)
        found = found if isinstance(found, numpy.ndarray) else found[found.files[0]]
        error = numpy.linalg.norm(found.reshape(wanted.shape) - wanted) / numpy.linalg.norm(wanted)
        return error, 1.5 * float(reference[key.replace("output:", "half_error:")])


class Contestant:
    """A program that takes a model's input to an output file."""

    must_match = False  # others' precision is theirs: it is only shown

    def __init__(self, model, label, files, command, output):
        self.model, self.label, self.files = model, label, files
        self.command, self.output = [str(word) for word in command], output

    def prepare(self):
        self.output.unlink(missing_ok=True)
        for file in self.files:
            drop_from_cache(file)

    def run(self):
        """Seconds from start to output."""
        self.prepare()
        begin = time.perf_counter()
        done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begin
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(self.command)}\n{done.stdout}{done.stderr}")
        self.check()
        self.printed = done.stdout
        return seconds

    def check(self):
        """Compares the output with the reference."""
        self.error, bar = self.model.error_of(self.output)
        if self.must_match and self.error > bar:
            raise SystemExit(f"{self.label}: output differs by {self.error:.2e}, the bar is {bar:.2e}")

    def run_within(self, limit):
        """What becomes of it within `limit` bytes of memory."""
        self.prepare()
        begin = time.perf_counter()
        done = run_in_group(self.command, limit)
        row = {"model": self.model.name, "contestant": self.label, "limit": limit, "peak": done.peak,
               "seconds": time.perf_counter() - begin, "status": done.status, "killed": done.killed}
        if done.status == 0:
            self.check()
            row["error"] = self.error
        return row

    def facts(self):
        return {"peak_resident": int(self.printed.split()[-1])}


class Fmexec(Contestant):
    must_match = True

    def __init__(self, model, policy, options):
        policy = policy.replace("{share}", f"{{{MODELS[model.name]:.2f}}}")
        self.plan, self.weights = model.planned(policy, options)
        self.report = model.out / "report.json"
        output = model.out / "out.npz"
        super().__init__(model, f"fmexec {policy.replace('--budget ', '')}", [self.weights, self.plan], [
            model.bin / "fmexec", "--plan", self.plan, "--weights", self.weights, "--inputs", model.inputs,
            "--outputs", output, "--json", "-o", self.report], output)

    def facts(self):
        report = json.loads(self.report.read_text())
        memory = report["memory"]
        return {
            "peak_resident": int(report["counters"]["process.peak_resident"]["value"]),
            "peak_weights": max(sum(sample[name] for name in WEIGHT_CLASSES)
                                for sample in memory["over_time"]),
            "by_class": memory["by_class"],
            "startup_s": report["latency"]["startup_ns"] / 1e9,
            "exec_s": report["latency"]["exec_ns"] / 1e9,
        }


def python_contestant(model, label, python, script, file, *options):
    output = model.out / "out.npy"
    return Contestant(model, label, [file],
                      [python, BENCH / script, file, model.inputs, output, *options], output)


def mnn_backends(python):
    """Those of CPU and OPENCL that this MNN was built with: for others it says that it takes the CPU."""
    probe = ("import MNN.nn, sys; MNN.nn.create_runtime_manager(({'backend': sys.argv[1], "
             "'precision': 'normal', 'numThread': 2},))")

    def has(backend):
        done = subprocess.run([python, "-c", probe, backend], capture_output=True, text=True, check=True)
        return "Can't Find" not in done.stdout + done.stderr

    return [backend for backend in ("CPU", "OPENCL") if has(backend)]


def contestants_of(model, options):
    found = [Fmexec(model, policy, options) for policy in options.policies]
    found.append(python_contestant(model, "ONNX Runtime", sys.executable, "ort_run.py", model.onnx))
    for backend in options.mnn_backends:
        found.append(python_contestant(model, f"MNN ({backend})", options.mnn_python, "mnn_run.py",
                                       model.mnn(options.mnn_python), "2", backend))
    return found


def weight_bytes(plan):
    """Bytes of all weights of a plan, wherever they stay."""
    import yaml
    document = yaml.load(plan.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    sizes = (weight["bytes"].split() for weight in document["weights"])
    return sum(int(number) * units[unit] for number, unit in sizes)


def warm_execution(one):
    """Seconds of the fastest of three executions in one process: what the launches take."""
    report = one.model.out / "warm.json"
    call(one.model.bin / "fmexec", "--plan", one.plan, "--weights", one.weights, "--inputs",
         one.model.inputs, "--warmup", 1, "--repeat", 3, "--json", "-o", report)
    return json.loads(report.read_text())["counters"]["runs.least_exec"]["value"] / 1e9
