#!/usr/bin/env python3
"""How far `fmsim --sample auto` is from `--sample full`: a table, one row a trace and device.

Runs fmsim both ways (the full results are kept in --keep and not made again), compares time,
energy and every counter above 1 % of its kind (the same part of the machine, the same unit), and
prints Markdown. Exit status 4 when an error is larger than the bound that auto printed, or a
conservation law is broken.

Example:
  bench/sampling_accuracy.py --config mali-g715 --config adreno-750 vit.trace resnet50.trace
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    parser.add_argument("--config", action="append", required=True)
    parser.add_argument("--fmsim", default=ROOT / "build/release/bin/fmsim", type=pathlib.Path)
    parser.add_argument("--keep", default=pathlib.Path("."), type=pathlib.Path,
                        help="where the results go")
    parser.add_argument("--list", type=int, default=0, metavar="N",
                        help="also list the N counters furthest off, on standard error")
    return parser.parse_args()


def simulate(fmsim, config, trace, mode, output):
    """The result and how long it took to make, None when it was there already."""
    if mode == "full" and output.exists():
        return json.loads(output.read_text()), None
    start = time.monotonic()
    subprocess.run([fmsim, "--config", config, "--trace", trace, "--sample", mode, "--json", "-o",
                    output], check=True, stderr=subprocess.DEVNULL)
    return json.loads(output.read_text()), time.monotonic() - start


def counter_errors(full, sampled):
    """(relative error, name), largest first, of counters above 1 % of the largest of their kind."""
    def kind(name):
        return name.split(".")[0], full[name]["unit"]

    largest = {}
    for name, counter in full.items():
        largest[kind(name)] = max(largest.get(kind(name), 0), counter["value"])
    errors = []
    for name, counter in full.items():
        if counter["value"] > 0.01 * largest[kind(name)]:
            errors.append((sampled[name]["value"] / counter["value"] - 1, name))
    return sorted(errors, key=lambda error: -abs(error[0]))


def relative(full, sampled, *path):
    for key in path:
        full, sampled = full[key], sampled[key]
    return sampled / full - 1 if full else 0.0


def seconds(wall):
    return "-" if wall is None else f"{wall:.1f} s"


def main():
    arguments = parse_arguments()
    print("| trace | device | full | auto | execution | integrated | bound | energy "
          "| counters over 5 % | furthest counter |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---|")
    failed = False
    for config in arguments.config:
        for trace in arguments.traces:
            name = f"{trace.stem}.{config}"
            full, full_wall = simulate(arguments.fmsim, config, trace, "full",
                                       arguments.keep / f"{name}.full.json")
            sampled, wall = simulate(arguments.fmsim, config, trace, "auto",
                                     arguments.keep / f"{name}.auto.json")
            execution = relative(full, sampled, "latency", "exec_ns")
            integrated = relative(full, sampled, "latency", "integrated_ns")
            energy = relative(full, sampled, "energy", "total_nj")
            bound = sampled["sampling"]["error_bound"]
            errors = counter_errors(full["counters"], sampled["counters"])
            over = sum(abs(error) > 0.05 for error, _ in errors)
            print(f"| {trace.stem} | {config} | {seconds(full_wall)} | {seconds(wall)} "
                  f"| {execution:+.2%} | {integrated:+.2%} | {bound:.2%} | {energy:+.2%} "
                  f"| {over} of {len(errors)} | {errors[0][1]} {errors[0][0]:+.1%} |", flush=True)
            for error, counter in errors[:arguments.list]:
                print(f"    {error:+.1%} {counter}", file=sys.stderr)
            failed |= max(abs(execution), abs(integrated)) > bound
            failed |= not all(check["holds"] for check in sampled["checks"])
    return 4 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
