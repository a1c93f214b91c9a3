"""fmsweep STUDY.yaml: runs a study and writes its table."""

import argparse
import pathlib

from folder import Folder
from local_launcher import LocalLauncher
from options import add_running, cores
from simulator_tools import ROOT, SweepTools
from slurm_launcher import SlurmLauncher
from study import read_study
from sweep import INTERRUPTED, Sweep, refuse_without_results, run_or_say, summary

VERSION = "fmsweep 0.1.0"


def parse(words):
    parser = argparse.ArgumentParser(
        prog="fmsweep", description="Runs a study: phones x workloads x parameters, into one table. Finished points "
        "are not run again.", epilog="Example: fmsweep study.yaml --jobs 2 -o out/l2. Other commands: fmsweep "
        "sensitivity | pareto | point; each has --help. A study's keys: docs/sweeps.md")
    parser.add_argument("study", type=pathlib.Path, metavar="STUDY.yaml")
    add_running(parser)
    parser.add_argument("--launcher", choices=["local", "slurm"], default="local",
                        help="local: processes here; slurm: job arrays (default %(default)s)")
    parser.add_argument("--sbatch", action="append", default=[], metavar="OPTION",
                        help="with --launcher slurm: an option of sbatch (--sbatch=--time=30); may be repeated")
    parser.add_argument("--only-kept", action="store_true", help="run nothing, write the table of finished points")
    parser.add_argument("--version", action="version", version=VERSION)
    options = parser.parse_args(words)
    if options.sbatch and options.launcher != "slurm":
        parser.error("--sbatch goes with --launcher slurm")
    return options


def launcher_of(options):
    if options.launcher == "slurm":
        return SlurmLauncher(options.jobs, options.sbatch)
    return LocalLauncher(options.jobs or cores())


def main(words):
    options = parse(words)
    study = read_study(options.study)
    launcher = launcher_of(options)
    folder = Folder(options.output or ROOT / "out/sweep" / options.study.stem)
    with folder.alone():
        sweep = Sweep(study, SweepTools(options.bin), folder, options.jobs or cores())
        ran = None
        if not options.only_kept:
            ran = run_or_say(sweep, words, launcher)
            if ran is None:
                return INTERRUPTED
        names, lines = sweep.write_table()
    for line in summary(names, lines, ran, folder.path):
        print(line)
    if ran is not None:
        refuse_without_results(options.study, names, lines)
    return 0
