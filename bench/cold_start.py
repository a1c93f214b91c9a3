"""Cold starts side by side: fmexec under each policy, ONNX Runtime and MNN, on this computer.

Every measurement is a whole process, from its start to its output on disk, with the model's files
dropped from the page cache before it (posix_fadvise) and compiled programs cached. Contestants take
turns within a round, so that all see the same machine. Outputs are compared with ONNX Runtime's.
Then each runs once in a control group that holds it to a part of the weights (memory_limit.py).

MNN (PyPI `MNN`) is measured where --mnn-python names an interpreter that has it. Writes
docs/cold-start.md and OUT/cold_start.json.
"""

import argparse
import json
import mmap
import os
import pathlib
import statistics
import time

from cold_contestants import (MODELS, ROOT, Fmexec, Model, call, contestants_of, mnn_backends, warm_execution,
                              weight_bytes)
from cold_start_page import page
from memory_limit import NotAvailable, run_in_group
from tiny_network import save_tiny_network

LIMIT = 0.6  # of the weights, for the runs under a memory limit
MIB = 1 << 20


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


def autogroup():
    """Nice value of this session's scheduling group; none where the kernel does not group by session."""
    file = pathlib.Path("/proc/self/autogroup")
    return int(file.read_text().split()[-1]) if file.exists() else None


class BareProcess:
    """fmexec on a network of one launch: what a process takes before any weights come."""

    def __init__(self, options):
        model, plan, weights, self.report = (options.out / f"tiny.{end}"
                                             for end in ("onnx", "plan.yaml", "fmw", "json"))
        save_tiny_network(model)
        call(options.bin / "fmplan", "--model", model, "--config", options.config, "-o", plan)
        call(options.bin / "fmplan", "pack", "--plan", plan, "--model", model, "-o", weights)
        self.command = [options.bin / "fmexec", "--plan", plan, "--weights", weights, "--json", "-o",
                        self.report]
        self.run()  # fills the program cache

    def run(self):
        """(seconds, of them to context and program, peak resident bytes)"""
        begin = time.perf_counter()
        call(*self.command)
        seconds = time.perf_counter() - begin
        report = json.loads(self.report.read_text())
        return (seconds, report["latency"]["startup_ns"] / 1e9,
                int(report["counters"]["process.peak_resident"]["value"]))


def measure(contestants, bare, options):
    """Rows with the seconds of every round and the facts of the fastest, the disk's rate, a bare process."""
    for one in contestants:
        one.run()  # fills the program cache
    rows = [{"model": one.model.name, "contestant": one.label, "seconds": []} for one in contestants]
    result = {"rows": rows, "rounds": options.rounds, "cores": os.cpu_count(), "load": [os.getloadavg()[0]],
              "autogroup": autogroup(),
              "mnn_backends": options.mnn_backends}
    rates, starts = [], []
    for _ in range(options.rounds):
        for one, row in zip(contestants, rows):
            row["seconds"].append(one.run())
            if row["seconds"][-1] == min(row["seconds"]):
                row.update(one.facts(), error=one.error)
            if isinstance(one, Fmexec):
                row["warm_exec_s"] = min(warm_execution(one), row.get("warm_exec_s", float("inf")))
                row["weights_bytes"] = weight_bytes(one.plan)
        rates.append(disk_rate(contestants[-1].model.onnx))
        starts.append(bare.run())
        result["load"].append(os.getloadavg()[0])
    return {**result, "disk_bytes_per_s": statistics.median(rates), "bare_s": min(starts)[0],
            "bare_startup_s": min(starts)[1], "bare_peak_resident": min(starts)[2]}


def measure_limited(contestants, bare):
    """Each contestant once within LIMIT of its model's weights; where it does not finish, again with a bare
    process's need on top."""
    try:
        need = run_in_group(bare.command).peak
    except NotAvailable as reason:
        return {"not_available": str(reason)}
    weights = {one.model.name: weight_bytes(one.plan) for one in contestants if isinstance(one, Fmexec)}
    rows = []
    for one in contestants:
        limit = int(LIMIT * weights[one.model.name])
        rows.append(one.run_within(limit))
        if rows[-1]["status"] != 0 and need is not None:
            rows.append(one.run_within(limit + need))
    return {"rows": rows, "share": LIMIT, "bare_peak": need}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--policies", default="preload;always-next;optimal --budget {share}",
                        help='separated by ";", each a policy and its options, preload first: "optimal --budget '
                             '{0.12}" may hold 0.12 of the weights beside all activations, {share} what the '
                             "network's own share is")
    parser.add_argument("--config", default="pocl-host")
    parser.add_argument("--plan-options", default="--placement buffer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mnn-python", help="an interpreter with MNN and numpy")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/cold_start")
    options = parser.parse_args()
    options.models = options.models.split(",")
    options.policies = [policy.strip() for policy in options.policies.split(";")]
    options.mnn_backends = mnn_backends(options.mnn_python) if options.mnn_python else []
    return options


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    models = [Model(name, options) for name in options.models]
    contestants = [one for model in models for one in contestants_of(model, options)]
    bare = BareProcess(options)
    result = measure(contestants, bare, options)
    result["limited"] = measure_limited(contestants, bare)
    (options.out / "cold_start.json").write_text(json.dumps(result, indent=1))
    text = page(result)
    (ROOT / "docs/cold-start.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
