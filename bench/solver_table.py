#!/usr/bin/env python3
"""How well and how fast `fmplan solve` solves LC-OPG for the paper's networks: a Markdown table.

The problems are written anew by models/sizes/write_problems.py. `paper` is what the paper's solver
needed and proved (table 4 of arXiv 2602.15379: CP-SAT on 128 threads, 150 s limit).

Example:
  bench/solver_table.py --scale 1 --scale 0.3 GPTN-2.7B Llama2-13B
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAPER = {"GPTN-S": "45.0 s, optimal", "GPTN-1.3B": "121.0 s, feasible",
         "GPTN-2.7B": "121.0 s, feasible", "ViT-8B": "121.4 s, feasible",
         "Llama2-13B": "124.8 s, feasible", "Llama2-70B": "136.4 s, feasible"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", help="names of the paper's tables (default: all)")
    parser.add_argument("--scale", action="append", type=float,
                        help="multiplies the layers' capacities (default 1); may be given several times")
    parser.add_argument("--fmplan", default=ROOT / "build/release/bin/fmplan", type=pathlib.Path)
    parser.add_argument("--prove", type=float, metavar="SECONDS",
                        help="go on until proven best, at most so long")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    flags = ["--prove", "--time-limit", str(arguments.prove)] if arguments.prove else []
    print("| network | capacities | layers | weights | chunks in W | distance | objective | bound "
          "| gap | status | seconds | paper |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for scale in arguments.scale or [1.0]:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([ROOT / "models/sizes/write_problems.py", "-o", folder, "--scale",
                            str(scale), *arguments.networks], check=True)
            for path in sorted(pathlib.Path(folder).glob("*.yaml")):
                run = subprocess.run([arguments.fmplan, "solve", path, "--json", *flags],
                                     capture_output=True, text=True, check=True)
                plan = json.loads(run.stdout)
                print(f"| {plan['problem']} | x {scale:g} | {plan['layers']} "
                      f"| {len(plan['weights'])} | {plan['preloaded_chunks']} | {plan['distance']} "
                      f"| {plan['objective']:.1f} | {plan['lower_bound']:.1f} "
                      f"| {100 * plan['gap']:.2f} % | {plan['status']} | {plan['seconds']:.2f} "
                      f"| {PAPER.get(plan['problem'], '')} |", flush=True)


if __name__ == "__main__":
    main()
