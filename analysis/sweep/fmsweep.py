"""What-if sweeps over simulated phones: ./fm sweep STUDY.yaml (docs/sweeps.md)"""

import argparse
import os
import pathlib
import shlex
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from simulator_tools import ROOT, USER_ERROR, SweepTools  # noqa: E402

from folder import OK, Folder  # noqa: E402
from point import Keys  # noqa: E402
from problems import Interrupted, StudyError  # noqa: E402
from run_point import run_point  # noqa: E402
from study import read_study  # noqa: E402
from sweep import Sweep, say, summary  # noqa: E402

VERSION = "fmsweep 0.1.0"
INTERRUPTED = 130
BIN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin"))


def jobs(text):
    number = int(text)
    if not 1 <= number <= 256:
        raise ValueError
    return number


def add_running(parser):
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FOLDER",
                        help="where rows and tables go (default out/sweep/STUDY)")
    parser.add_argument("--jobs", type=jobs, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="points that run side by side (default: %(default)s, the cores here)")
    add_bin(parser)


def add_bin(parser):
    parser.add_argument("--bin", type=pathlib.Path, default=BIN, metavar="FOLDER",
                        help="of fmsim and the other tools (default build/release/bin)")


def sweep_parser():
    parser = argparse.ArgumentParser(
        prog="fmsweep", description="Runs a study: phones x workloads x parameters, into one table. Finished points are "
        "not run again.", epilog="Example: fmsweep study.yaml --jobs 2 -o out/l2. Other commands: fmsweep point; each "
        "has --help. A study's keys: docs/sweeps.md")
    parser.add_argument("study", type=pathlib.Path, metavar="STUDY.yaml")
    add_running(parser)
    parser.add_argument("--only-kept", action="store_true", help="run nothing, write the table of finished points")
    parser.add_argument("--version", action="version", version=VERSION)
    return parser


def point_parser():
    parser = argparse.ArgumentParser(
        prog="fmsweep point", description="Runs one point of a sweep's folder and writes its row: what a launcher on "
        "other computers calls.", epilog="Example: fmsweep point out/sweep/l2 0123456789abcdef")
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("key", metavar="KEY", help="a name in FOLDER/points, without .json")
    add_bin(parser)
    return parser


def run_sweep(words):
    options = sweep_parser().parse_args(words)
    study = read_study(options.study)
    folder = Folder(options.output or ROOT / "out/sweep" / options.study.stem)
    with folder.alone():
        sweep = Sweep(study, SweepTools(options.bin), folder, options.jobs)
        try:
            ran = sweep.run() if not options.only_kept else None
        except (KeyboardInterrupt, Interrupted):
            sweep.write_table()
            finished = sum(row["status"] == OK for _, row in sweep.rows())
            say(f"interrupted: {finished} of {len(sweep.points)} points are done and kept; go on with: ./fm sweep "
                + shlex.join(words))
            return INTERRUPTED
        names, lines = sweep.write_table()
        for line in summary(names, lines, ran, folder.path):
            print(line)
    return refuse_without_results(options.study, names, lines) if ran else 0


def refuse_without_results(study, names, lines):
    """A study none of whose points has a result is wrong."""
    status, error = names.index("status"), names.index("error")
    if all(line[status] != OK for line in lines):
        raise StudyError(f"{study}: no point has a result; the first ended with: {lines[0][error]}")
    return 0


def run_one(words):
    options = point_parser().parse_args(words)
    tools = SweepTools(options.bin)
    if not (options.folder / "sweep.json").is_file():
        raise StudyError(f"{options.folder}: not the folder of a sweep; give the -o FOLDER of fmsweep STUDY.yaml")
    folder, keys = Folder(options.folder), Keys(tools)
    point = folder.point(options.key)
    if keys.key(point) != options.key:
        raise StudyError(f"{options.folder}/points/{options.key}.json: its trace, model, config or tools have changed "
                         "since; give the sweep's command again")
    row = run_point(tools, keys, folder, options.key, point)
    print(f"{options.key} {row['status']}" + (f": {row['error']}" if row["error"] else ""))
    return 0


COMMANDS = {"point": run_one}


def main(words):
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run, rest = (COMMANDS[words[0]], words[1:]) if words and words[0] in COMMANDS else (run_sweep, words)
    try:
        return run(rest)
    except StudyError as error:
        print(f"fmsweep: error: {error}", file=sys.stderr)
        return USER_ERROR
    except OSError as error:
        print(f"fmsweep: error: {error.filename or 'standard output'}: {error.strerror}; finished points are kept",
              file=sys.stderr)
        return USER_ERROR
    except (KeyboardInterrupt, Interrupted):
        say("interrupted")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
