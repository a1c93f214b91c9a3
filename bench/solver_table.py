#!/usr/bin/env python3
"""How well and how fast `fmplan solve` solves the planner's two problems for the paper's networks:
Markdown tables.

LC-OPG (docs/lc-opg.md): the problems are written anew by models/sizes/write_problems.py. `paper` is
what the paper's solver needed and proved (table 4 of arXiv 2602.15379: CP-SAT on 128 threads, 150 s
limit). Timed problems (docs/overlap.md), of models/sizes/write_timed_problems.py: seconds are of the
solver, which runs on one core; `of floor` is the latency over the largest of disk, compute and what
their order forces.

Example:
  bench/solver_table.py --table lc-opg --scale 1 --scale 0.3 GPTN-2.7B Llama2-13B
  bench/solver_table.py --table timed --write
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

from markdown_page import write_marked

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/overlap.md"
PAPER = {"GPTN-S": "45.0 s, optimal", "GPTN-1.3B": "121.0 s, feasible",
         "GPTN-2.7B": "121.0 s, feasible", "ViT-8B": "121.4 s, feasible",
         "Llama2-13B": "124.8 s, feasible", "Llama2-70B": "136.4 s, feasible"}
DISKS = ("4GB/s", "1.5GB/s")
# Whole claims: ring, of the room for weights, and launches enqueued ahead; the best is shown, as the
# policy tries several.
SETTINGS = (("0.25", "0"), ("0.5", "1"), ("0.25", "3"), ("0.75", "3"))


def parse_arguments():
    parser = argparse.ArgumentParser(description=" ".join(__doc__.split(":")[0].split()))
    parser.add_argument("networks", nargs="*", help="names of the paper's tables (default: all)")
    parser.add_argument("--table", choices=("lc-opg", "timed"), help="one of the two (default: both)")
    parser.add_argument("--scale", action="append", type=float,
                        help="LC-OPG: multiplies the layers' capacities (default 1); may be given several "
                             "times")
    parser.add_argument("--fmplan", default=ROOT / "build/release/bin/fmplan", type=pathlib.Path)
    parser.add_argument("--prove", type=float, metavar="SECONDS",
                        help="LC-OPG: go on until proven best, at most so long")
    parser.add_argument("--write", action="store_true",
                        help=f"the timed table into {PAGE.relative_to(ROOT)} too")
    return parser.parse_args()


def plans(arguments, writer, writer_flags, flags=()):
    """What fmplan solve says about each network's problem; nothing where the budget is too small."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "models/sizes" / writer, "-o", folder, *writer_flags,
                        *arguments.networks], check=True)
        for path in sorted(pathlib.Path(folder).glob("*.yaml")):
            run = subprocess.run([arguments.fmplan, "solve", path, "--json", *flags],
                                 capture_output=True, text=True)
            if "is below the minimum" in run.stderr:
                continue
            if run.returncode != 0:
                raise SystemExit(run.stderr)
            yield json.loads(run.stdout)


def print_lc_opg(arguments):
    flags = ["--prove", "--time-limit", str(arguments.prove)] if arguments.prove else []
    print("| network | capacities | layers | weights | chunks in W | distance | objective | bound "
          "| gap | status | seconds | paper |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for scale in arguments.scale or [1.0]:
        for plan in plans(arguments, "write_problems.py", ["--scale", str(scale)], flags):
            print(f"| {plan['problem']} | x {scale:g} | {plan['layers']} "
                  f"| {len(plan['weights'])} | {plan['preloaded_chunks']} | {plan['distance']} "
                  f"| {plan['objective']:.1f} | {plan['lower_bound']:.1f} "
                  f"| {100 * plan['gap']:.2f} % | {plan['status']} | {plan['seconds']:.2f} "
                  f"| {PAPER.get(plan['problem'], '')} |", flush=True)


def chunkwise_plans(arguments, disk):
    flags = ["--disk-bandwidth", disk]
    for plan in plans(arguments, "write_timed_problems.py", flags):
        yield "by chunk", plan


def whole_plans(arguments, disk):
    best = {}
    for ring, ahead in SETTINGS:
        flags = ["--claims", "whole", "--disk-bandwidth", disk, "--ring", ring, "--ahead", ahead]
        for plan in plans(arguments, "write_timed_problems.py", flags):
            name = plan["problem"]
            if name not in best or plan["latency_ns"] < best[name][1]["latency_ns"]:
                best[name] = (f"whole, ring {ring}, {ahead} ahead", plan)
    for name in sorted(best):
        yield best[name]


def timed_rows(arguments):
    yield ("| network | disk | claims | launches | weights | latency, ms | bound, ms | bound of | gap "
           "| seconds | of floor |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for all_plans in (chunkwise_plans, whole_plans):
        for disk in DISKS:
            for claims, plan in all_plans(arguments, disk):
                yield (f"| {plan['problem']} | {disk} | {claims} | {len(plan['launches'])} "
                       f"| {plan['weights']} | {plan['latency_ns'] * 1e-6:.2f} "
                       f"| {plan['lower_bound_ns'] * 1e-6:.2f} | {plan['bound_of']} "
                       f"| {100 * plan['gap']:.2f} % | {plan['seconds']:.2f} "
                       f"| {plan['over_floor']:.3f} |")


def print_timed(arguments):
    rows = []
    for row in timed_rows(arguments):
        print(row, flush=True)
        rows.append(row)
    if not arguments.write:
        return
    PAGE.write_text(write_marked(PAGE.read_text(), "timed", "\n".join(rows)))


def main():
    arguments = parse_arguments()
    if arguments.table != "timed":
        print_lc_opg(arguments)
    if arguments.table != "lc-opg":
        print_timed(arguments)


if __name__ == "__main__":
    main()
