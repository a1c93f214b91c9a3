"""Options that the commands share."""

import argparse
import os
import pathlib

from simulator_tools import ROOT

BIN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin"))
MOST_JOBS = 256


def cores():
    return len(os.sched_getaffinity(0))


def jobs(text):
    if not text.isdigit() or not 1 <= int(text) <= MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{text}: needs 1 to {MOST_JOBS}")
    return int(text)


def add_running(parser):
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FOLDER",
                        help="where rows and tables go (default out/sweep/STUDY)")
    parser.add_argument("--jobs", type=jobs, metavar="N",
                        help=f"points side by side (default: the cores here, {cores()}; with Slurm what it gives)")
    add_bin(parser)


def add_bin(parser):
    parser.add_argument("--bin", type=pathlib.Path, default=BIN, metavar="FOLDER",
                        help="of fmsim and the other tools (default build/release/bin)")
