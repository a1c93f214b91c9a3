"""Cold starts side by side: fmexec under each policy, ONNX Runtime and MNN, on this computer.

Every measurement is a whole process, from its start to its output on disk, with the model's files
dropped from the page cache before it (posix_fadvise) and compiled programs cached. Contestants take
turns within a round, so that all see the same machine. Outputs are compared with ONNX Runtime's.

MNN (PyPI `MNN`) is measured where --mnn-python names an interpreter that has it. Writes
docs/cold-start.md and OUT/cold_start.json.
"""

import argparse
import json
import mmap
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy

from tiny_network import save_tiny_network

ROOT = pathlib.Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench"
MODELS = ("vit", "resnet50", "gpt-neo-small")
WEIGHT_CLASSES = ("preloaded", "um_in_flight", "tm_in_flight", "staging")
ALLOWED = 1.15
MIB = 1 << 20


def call(*command, **options):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\nended with {done.returncode}\n{done.stderr}")
    return done.stdout


def drop_from_cache(path):
    """Gives the file's clean pages back, so that the next reader goes to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def disk_rate(path):
    """Bytes a second of direct reads of 1 MiB, one after the other."""
    memory = mmap.mmap(-1, MIB)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    begin, total = time.perf_counter(), 0
    try:
        while (got := os.readv(descriptor, [memory])) == MIB:
            total += got
    finally:
        os.close(descriptor)
    return total / (time.perf_counter() - begin)


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

    def run(self):
        """Seconds from start to output."""
        self.output.unlink(missing_ok=True)
        for file in self.files:
            drop_from_cache(file)
        begin = time.perf_counter()
        done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begin
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(self.command)}\n{done.stdout}{done.stderr}")
        self.error, bar = self.model.error_of(self.output)
        if self.must_match and self.error > bar:
            raise SystemExit(f"{self.label}: output differs by {self.error:.2e}, the bar is {bar:.2e}")
        self.printed = done.stdout
        return seconds

    def facts(self):
        return {"peak_resident": int(self.printed.split()[-1])}


class Fmexec(Contestant):
    must_match = True

    def __init__(self, model, policy, options):
        self.plan, self.weights = model.planned(policy, options)
        self.report = model.out / "report.json"
        output = model.out / "out.npz"
        super().__init__(model, f"fmexec {policy}", [self.weights, self.plan], [
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


def python_contestant(model, label, python, script, file):
    output = model.out / "out.npy"
    return Contestant(model, label, [file],
                      [python, BENCH / script, file, model.inputs, output], output)


def contestants_of(model, options):
    found = [Fmexec(model, policy, options) for policy in options.policies]
    found.append(python_contestant(model, "ONNX Runtime", sys.executable, "ort_run.py", model.onnx))
    if options.mnn_python:
        found.append(python_contestant(model, "MNN", options.mnn_python, "mnn_run.py",
                                       model.mnn(options.mnn_python)))
    return found


def bare_process(options):
    """Runs fmexec on a network of one launch; returns a function: (seconds, peak resident bytes) of that."""
    model, plan, weights, report = (options.out / f"tiny.{end}"
                                    for end in ("onnx", "plan.yaml", "fmw", "json"))
    save_tiny_network(model)
    call(options.bin / "fmplan", "--model", model, "--config", options.config, "-o", plan)
    call(options.bin / "fmplan", "pack", "--plan", plan, "--model", model, "-o", weights)

    def run():
        begin = time.perf_counter()
        call(options.bin / "fmexec", "--plan", plan, "--weights", weights, "--json", "-o", report)
        seconds = time.perf_counter() - begin
        return seconds, int(json.loads(report.read_text())["counters"]["process.peak_resident"]["value"])

    run()  # fills the program cache
    return run


def measure(models, options):
    """[{model, contestant, seconds: [..], facts of the fastest run}], the disk's rate, a bare process."""
    contestants = [one for model in models for one in contestants_of(model, options)]
    for one in contestants:
        one.run()  # fills the program cache
    rows = [{"model": one.model.name, "contestant": one.label, "seconds": []} for one in contestants]
    rates, bare, starts = [], bare_process(options), []
    for _ in range(options.rounds):
        for one, row in zip(contestants, rows):
            row["seconds"].append(one.run())
            if row["seconds"][-1] == min(row["seconds"]):
                row.update(one.facts(), error=one.error)
        rates.append(disk_rate(models[-1].onnx))
        starts.append(bare())
    for one, row in zip(contestants, rows):
        if isinstance(one, Fmexec):
            row["weights_bytes"] = weight_bytes(one.plan)
            row["warm_exec_s"] = warm_execution(one)
    return {"rows": rows, "disk_bytes_per_s": statistics.median(rates),
            "bare_s": min(starts)[0], "bare_peak_resident": min(starts)[1]}


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


def table(result):
    """The measurement as Markdown."""
    rate = result["disk_bytes_per_s"]
    yield ("| model | program | start to output | error | bar | in it | peak RSS | peak of weights | "
           "of weights | peak RSS beyond bare, of weights |")
    yield "|---|---|---|---|---|---|---|---|---|---|"
    execution = {}
    for row in result["rows"]:
        if "warm_exec_s" in row:
            execution.setdefault(row["model"], row["warm_exec_s"])  # the first policy: preload
    for row in result["rows"]:
        seconds = min(row["seconds"])
        cells = [row["model"], row["contestant"], f"{seconds:.2f} s", f"{row['error']:.1e}"]
        if "weights_bytes" in row:
            work = max(row["weights_bytes"] / rate, execution[row["model"]])
            bar = ALLOWED * work + result["bare_s"]
            share = row["peak_weights"] / row["weights_bytes"]
            beyond = (row["peak_resident"] - result["bare_peak_resident"]) / row["weights_bytes"]
            cells += [f"{bar:.2f} s", "yes" if seconds <= bar else "no", f"{row['peak_resident'] / MIB:.0f} MiB",
                      f"{row['peak_weights'] / MIB:.1f} MiB", f"{share:.3f}",
                      f"{beyond:.2f}"]
        else:
            cells += ["", "", f"{row['peak_resident'] / MIB:.0f} MiB", "", "", ""]
        yield "| " + " | ".join(cells) + " |"


EXPLANATION = """\
Each row is the fastest of {rounds} whole processes, start to output on disk, model files dropped from the page cache, programs
cached; the programs took turns. Error: relative, against ONNX Runtime's output for the same input; fmexec must stay within
1.5 times that of an emulation of fp16 storage. Bar: {allowed} times the larger of the weights' bytes at the disk's rate
({rate:.2f} GB/s, direct reads of 1 MiB) and the preloaded plan's warm execution, plus a bare fmexec of one tiny launch
({bare:.2f} s, peak RSS {bare_peak:.0f} MiB). Peak of weights: preloaded + in flight + staging, as fmexec accounts them. No memory limit is
set: PoCL refuses to start under a small `RLIMIT_DATA` ("Not enough memory to run on this device"), its compiler library alone
maps more address space (`RLIMIT_AS`) than these models have weights, and a control group needs privileges or a user manager.
The last column says instead how much of the weights' size the whole process takes beyond a bare one: activations, inputs and
outputs included.
"""


def write_page(result, options):
    page = ROOT / "docs/cold-start.md"
    lines = ["# Cold start on PoCL", "", "Written by `bench/cold_start.py`.", "", *table(result), "",
             EXPLANATION.format(rounds=options.rounds, rate=result["disk_bytes_per_s"] / 1e9,
                                bare=result["bare_s"], allowed=ALLOWED,
                                bare_peak=result["bare_peak_resident"] / MIB)]
    page.write_text("\n".join(lines))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--policies", default="preload;always-next",
                        help='separated by ";", each a policy and its options: "optimal --budget {0.12}" may '
                             "hold 0.12 of the weights beside all activations")
    parser.add_argument("--config", default="pocl-host")
    parser.add_argument("--plan-options", default="--placement buffer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mnn-python", help="an interpreter with MNN and numpy")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/cold_start")
    options = parser.parse_args()
    options.models = options.models.split(",")
    options.policies = [policy.strip() for policy in options.policies.split(";")]
    return options


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    result = measure([Model(name, options) for name in options.models], options)
    (options.out / "cold_start.json").write_text(json.dumps(result, indent=1))
    write_page(result, options)
    print("\n".join(table(result)))


if __name__ == "__main__":
    main()
