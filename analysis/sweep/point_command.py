"""fmsweep point: one point of a sweep by itself."""

import argparse
import pathlib

from folder import Folder
from options import add_bin
from point import Keys
from problems import StudyError
from run_point import run_point
from simulator_tools import SweepTools


def parse(words):
    parser = argparse.ArgumentParser(
        prog="fmsweep point", description="Runs one point of a sweep's folder and writes its row: what a launcher on "
        "other computers calls.", epilog="Example: fmsweep point out/sweep/l2 0123456789abcdef")
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("key", metavar="KEY", help="a name in FOLDER/points, without .json")
    add_bin(parser)
    return parser.parse_args(words)


def main(words):
    options = parse(words)
    if not (options.folder / "sweep.json").is_file():
        raise StudyError(f"{options.folder}: not the folder of a sweep; give the -o FOLDER of fmsweep STUDY.yaml")
    tools, folder = SweepTools(options.bin), Folder(options.folder)
    keys, point = Keys(tools), folder.point(options.key)
    if keys.key(point) != options.key:
        raise StudyError(f"{options.folder}/points/{options.key}.json: its trace, model, config or tools have changed "
                         "since; give the sweep's command again")
    row = run_point(tools, keys, folder, options.key, point)
    print(f"{options.key} {row['status']}" + (f": {row['error']}" if row["error"] else ""))
    return 0
