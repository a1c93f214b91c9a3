#!/usr/bin/env python3
"""Slowdowns of launches that carry weights in real plans: as predicted from a profile, and as simulated. A
Markdown table, a row for each config and policy.

The network is planned, recorded and simulated twice: preloaded, which gives bare times in place, and by the
policy. `beside`: how much longer launches that carry nothing take in the second run, the disk and others' streams
beside them.

Example:
  bench/slowdown_accuracy.py --model models/vit.onnx --config adreno-750 --profile out/adreno-750.profile.yaml
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin"))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--config", required=True, action="append", help="may be given several times")
    parser.add_argument("--profile", required=True, action="append", help="one a config, in the same order")
    parser.add_argument("--learn-from", action="append", default=[], help="passed on to fmplan")
    parser.add_argument("--policy", action="append", choices=["lc-opg", "optimal"])
    parser.add_argument("--budget", help="of optimal, e.g. 25MiB")
    parser.add_argument("--placement", default="auto", help="passed on to fmplan; of `auto` optimal may make buffers, "
                        "into which nothing is streamed")
    parser.add_argument("--launches", type=pathlib.Path, metavar="FILE", help="also write every launch as JSON")
    arguments = parser.parse_args()
    if len(arguments.config) != len(arguments.profile):
        parser.error("as many --profile as --config")
    return arguments


def run(tool, *words):
    done = subprocess.run([BIN / tool, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{tool} {' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def planned_and_simulated(folder, model, config, sample, *options):
    """(what fmplan says of its plan, {launch: nanoseconds})"""
    plan, weights = folder / "plan.yaml", folder / "weights.fmw"
    trace, result = folder / "run.trace", folder / "result.json"
    summary = json.loads(run("fmplan", "--model", model, "--config", config, *options, "--json", "-o", plan))
    run("fmplan", "pack", "--plan", plan, "--model", model, "-o", weights)
    run("fmexec", "--plan", plan, "--weights", weights, "--record", trace)
    run("fmsim", "--config", config, "--trace", trace, "--sample", sample, "--json", "-o", result)
    launches = json.loads(result.read_text())["launches"]
    return summary, {launch["id"]: launch["end_ns"] - launch["start_ns"] for launch in launches}


def compared(carrying, bare, slowed):
    """Each carrying launch with its slowdown, predicted and simulated."""
    rows = []
    for one in carrying:
        name = one["launch"]
        if name not in bare or name not in slowed:
            continue
        rows.append({**one, "simulated_bare_ns": bare[name], "simulated_ns": slowed[name],
                     "predicted": one["slowed_ns"] / one["bare_ns"], "simulated": slowed[name] / bare[name]})
    return rows


def share(values):
    values = list(values)
    return f"{100 * sum(values) / len(values):.1f} %" if values else "-"


def table_row(config, policy, rows, beside):
    errors = sorted(abs(row["predicted"] / row["simulated"] - 1) for row in rows)
    worst = max((row["simulated"] - 1 - row["allowed"] for row in rows), default=0)
    p90 = errors[len(errors) * 9 // 10] if errors else 0
    return (f"| {config} | {policy} | {len(rows)} | {sum(row['streamed_bytes'] for row in rows) / 2**20:.1f} MiB "
            f"| {100 * statistics.fmean(errors or [0]):.1f} % | {100 * statistics.median(errors or [0]):.1f} % "
            f"| {100 * p90:.1f} % | {share(error <= 0.1 for error in errors)} "
            f"| {share(row['simulated'] - 1 <= row['allowed'] for row in rows)} | {100 * worst:+.1f} % "
            f"| {100 * (statistics.fmean(beside) - 1 if beside else 0):.1f} % |")


def main():
    arguments = parse_arguments()
    kept = []
    print("| config | policy | carrying launches | streamed | error, mean | median | p90 | within 10 % "
          "| within class threshold | furthest beyond it | beside |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for config, profile in zip(arguments.config, arguments.profile):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            placed = ["--placement", arguments.placement]
            _, bare = planned_and_simulated(folder, arguments.model, config, "auto", "--policy", "preload", *placed)
            for policy in arguments.policy or ["lc-opg", "optimal"]:
                more = ["--budget", arguments.budget] if arguments.budget and policy == "optimal" else []
                for other in arguments.learn_from:
                    more += ["--learn-from", other]
                summary, slowed = planned_and_simulated(folder, arguments.model, config, "full", "--policy", policy,
                                                        "--profile", profile, *placed, *more)
                rows = compared(summary["overlap"]["carrying"], bare, slowed)
                carry = {row["launch"] for row in rows}
                beside = [slowed[launch] / bare[launch] for launch in bare if launch in slowed and launch not in carry]
                print(table_row(config, policy, rows, beside), flush=True)
                kept += [{"config": config, "policy": policy, **row} for row in rows]
    if arguments.launches:
        arguments.launches.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
