#!/usr/bin/env python3
"""Runs the tests of the ONNX project through fmplan and fmexec: ./fm onnx-suite.

Each model is planned with float storage in buffers, run on an OpenCL device with the stored inputs, and its outputs are
compared with the stored ones. Prints passed, failed and refused by operator. A refusal (exit status 2 of a tool) must
name an operator of the model; everything else that is not equal is a failure, and the exit status is then 4.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cases  # noqa: E402
import report  # noqa: E402
import verdict  # noqa: E402
from verdict import FAILED, PASSED, Verdict  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin"))


class Refusal(Exception):
    """Carries the verdict of a tool that did not end with 0."""


class Runner:
    def __init__(self, cache, timeout, options=()):
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "POCL_CACHE_DIR": str(cache / "pocl")}
        self.timeout = timeout
        self.options = list(options)

    def tool(self, case, name, *words):
        try:
            done = subprocess.run([str(BIN / name), *map(str, words)], capture_output=True, text=True,
                                  timeout=self.timeout, env=self.environment)
        except subprocess.TimeoutExpired:
            raise Refusal(Verdict(FAILED, f"{name} did not end within {self.timeout} s")) from None
        if done.returncode != 0:
            raise Refusal(verdict.of_exit(name, done.returncode, done.stderr or done.stdout, case.operators()))

    def run_data_set(self, case, data, folder):
        graph = case.model.graph
        inputs = cases.arrays(data, "input", graph.input)
        expected = cases.arrays(data, "output", graph.output)
        fixed = {name: inputs[name] for name in case.parameter_inputs() if inputs.get(name) is not None}
        shapes = [word for name, array in inputs.items() if array is not None and name not in fixed
                  and has_open_dimensions(graph, name)
                  for word in ("--shape", f"{name}=" + ",".join(map(str, array.shape)))]
        values = [word for name, array in fixed.items() for word in ("--value", cases.value_flag(name, array))]
        plan, weights, given, outputs = (folder / name for name in ("plan.yaml", "model.fmw", "in.npz", "out.npz"))
        self.tool(case, "fmplan", "--model", case.model_file, "--config", "pocl-host", "--placement", "buffer",
                  "--storage", "f32", *shapes, *values, *self.options, "-o", plan)
        self.tool(case, "fmplan", "pack", "--plan", plan, "--model", case.model_file, "-o", weights)
        np.savez(given, **{f"input:{name}": array for name, array in inputs.items()
                           if array is not None and name not in fixed and array.dtype != object})
        self.tool(case, "fmexec", "--plan", plan, "--weights", weights, "--inputs", given, "--outputs", outputs,
                  "-o", folder / "report.txt")
        with np.load(outputs) as found:
            for name, array in expected.items():
                stored = found[f"output:{name}"] if f"output:{name}" in found else None
                why = verdict.difference(name, array, stored)
                if why:
                    raise Refusal(Verdict(FAILED, why))

    def run(self, case):
        try:
            for data in case.data_sets():
                with tempfile.TemporaryDirectory(prefix="flashmem-onnx-") as folder:
                    self.run_data_set(case, data, pathlib.Path(folder))
        except Refusal as ended:
            return ended.args[0]
        return Verdict(PASSED)


def has_open_dimensions(graph, name):
    """An input whose shape the model leaves open, in whole or in part."""
    for value in graph.input:
        if value.name == name and value.type.HasField("tensor_type"):
            return any(not dimension.HasField("dim_value") for dimension in value.type.tensor_type.shape.dim)
    return False


def arguments():
    parser = argparse.ArgumentParser(prog="./fm onnx-suite", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="tests at a time (default 2)")
    parser.add_argument("--filter", default="", help="only tests whose name contains this")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for each process (default 60)")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "out/onnx-suite-cache",
                        help="folder of compiled kernels, kept for the next run")
    parser.add_argument("--json", type=pathlib.Path, help="write every verdict here")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/onnx-suite.md")
    parser.add_argument("--verbose", action="store_true", help="print every test that did not pass, and why")
    parser.add_argument("plan_options", nargs="*", help="after --: more options for fmplan")
    return parser.parse_args()


def main():
    options = arguments()
    if not cases.DATA.is_dir():
        sys.exit(f"{cases.DATA} is missing: install Debian's libonnx-testdata (./fm setup onnx-suite)")
    selected = cases.all_cases(options.filter)
    runner = Runner(options.cache.resolve(), options.timeout, options.plan_options)
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(zip(selected, pool.map(runner.run, selected)))
    seconds = time.monotonic() - began
    print(report.table(results))
    print(report.summary(results), f"in {seconds:.0f} s")
    for case, result in results:
        if result.status == FAILED or (options.verbose and result.status != PASSED):
            print(f"{result.status} {case.name}: {result.reason}")
    if options.json:
        options.json.write_text(json.dumps(report.as_json(results, seconds), indent=1) + "\n")
    if options.write_docs:
        report.write_docs(ROOT / "docs/onnx-suite.md", results)
    sys.exit(4 if any(result.status == FAILED for _, result in results) else 0)


if __name__ == "__main__":
    main()
