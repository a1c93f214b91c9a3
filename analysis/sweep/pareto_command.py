"""fmsweep pareto: the rows of a sweep's table that no other row beats."""

import argparse
import pathlib

from pareto import OBJECTIVES, pareto


def parse(words):
    parser = argparse.ArgumentParser(
        prog="fmsweep pareto", description="Marks the rows that no other row of their workload beats, and prints them. "
        "Less is better in every objective.", epilog="Example: fmsweep pareto out/sweep/l2 --objective latency_ns "
        "--objective energy_nj")
    parser.add_argument("table", type=pathlib.Path, metavar="FOLDER|TABLE.csv", help="of a sweep")
    parser.add_argument("--objective", action="append", metavar="COLUMN",
                        help=f"may be repeated (default {', '.join(OBJECTIVES)})")
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FILE",
                        help="the table with its column `undominated` (default pareto.csv beside the table)")
    return parser.parse_args(words)


def main(words):
    options = parse(words)
    for line in pareto(options.table, options.objective or OBJECTIVES, options.output):
        print(line)
    return 0
