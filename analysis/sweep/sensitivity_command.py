"""fmsweep sensitivity: which parameters of a phone a workload feels."""

import argparse
import dataclasses
import math
import pathlib

from atomic_file import write_whole
from folder import OK, Folder
from measure import MEASURES
from options import add_running, cores
from point import Keys
from problems import StudyError
from sensitivity_study import chosen_paths, combinations_of, rank, variations
from simulator_tools import ROOT, Refused, SweepTools
from study import Config, Study, Workload, known_configs, read_study
from study_files import found_file
from sweep import INTERRUPTED, Sweep, refuse_without_results, run_or_say, say
from tidy_table import aligned, csv_bytes
from tornado import tornado
from variations import short

NUMBERS = [name for name in MEASURES if name != "bound"]
SHOWN = 25
COLUMNS = ["config", "workload", "parameter", "base", "low", "high", "change_low_percent", "change_high_percent",
           "elasticity"]


def percent(text):
    value = float(text)
    if not 0 < value < 100:
        raise argparse.ArgumentTypeError(f"{text}: needs more than 0 and less than 100")
    return value


def parse(words):
    parser = argparse.ArgumentParser(
        prog="fmsweep sensitivity", description="Varies each parameter by itself and ranks them by what that does.",
        epilog="Examples: fmsweep sensitivity study.yaml; fmsweep sensitivity --config mali-g715 --trace vit.trace "
        "--parameter l2 --parameter gpu.cores --percent 20")
    parser.add_argument("study", type=pathlib.Path, nargs="?", metavar="STUDY.yaml",
                        help="its phones, workloads and plan; varied is what it sweeps, unless --parameter says")
    parser.add_argument("--config", help="instead of a study: a device")
    parser.add_argument("--trace", help="with --config: what runs on it")
    parser.add_argument("--sample", choices=["auto", "full"], default="auto", help="with --config (default auto)")
    parser.add_argument("--parameter", action="append", metavar="PATH",
                        help="vary this one, or all of a section (l2); may be repeated. Of --config by default: all")
    parser.add_argument("--percent", type=percent, default=10, help="how far (default %(default)s)")
    parser.add_argument("--measure", choices=NUMBERS, default="latency_ns", help="ranked by (default %(default)s)")
    add_running(parser)
    options = parser.parse_args(words)
    if (options.study is None) != (options.config is not None and options.trace is not None):
        parser.error("give either STUDY.yaml, or --config and --trace")
    return options


def asked(options):
    """(study, paths to vary: None for all)"""
    if options.study is not None:
        study = read_study(options.study)
        return study, options.parameter or [path for path in study.paths if not path.startswith("plan.")]
    here = pathlib.Path.cwd()
    trace, config = found_file(options.trace, here), found_file(options.config, here)
    if trace is None:
        raise StudyError(f"--trace {options.trace}: no such file; record one with fmexec --record")
    if config is None and options.config not in known_configs():
        raise StudyError(f"--config {options.config}: neither a file nor in configs/: {', '.join(known_configs())}")
    return Study(pathlib.Path("--trace"), [Config(str(config or options.config), "--config")],
                 [Workload(trace.stem, str(trace), "--trace")], sample=options.sample), options.parameter


class Sensitivity:
    """Of one phone."""

    def __init__(self, study, config, tools, folder, options):
        self.options, self.folder, self.config = options, folder, config
        where, keys = str(study.file), Keys(tools)
        fixed = {one.path: one.value for one in study.fixed}
        self.base = keys.config(config.given, fixed)
        if isinstance(self.base, Refused):
            raise StudyError(f"{config.where}: {self.base}")
        paths = chosen_paths(self.base, options.paths, where)
        say(f"{config.name}: trying {len(paths)} parameters")
        self.varied = variations(keys, config.given, fixed, paths, options.percent, options.jobs)
        varied_study = dataclasses.replace(study, configs=[config], combinations=combinations_of(self.varied, where))
        self.sweep = Sweep(varied_study, tools, folder, options.jobs, keys)

    def rankings(self):
        """{workload: [Ranked]}, and the largest error bound of sampling."""
        measured, bound = {}, 0
        for (_, workload, chosen, _), (_, row) in zip(self.sweep.points, self.sweep.rows()):
            if row["status"] == OK:
                place = (chosen[0].path, chosen[0].value) if chosen else None
                measured.setdefault(workload.name, {})[place] = row["measures"][self.options.measure]
                bound = max(bound, row["measures"]["sampling_error_bound"])
        return {name: rank(self.varied, found.pop(None), found) for name, found in measured.items()
                if None in found}, bound

    def report(self):
        """Writes ranking.csv and the pictures; gives the lines to print."""
        rankings, bound = self.rankings()
        lines = [line for name, ranked in rankings.items() for line in self._lines(name, ranked)]
        write_whole(self.folder.path / "ranking.csv", csv_bytes(COLUMNS, lines))
        for name, ranked in rankings.items():
            yield f"{self.config.name}, {name}: {self.options.measure}"
            yield from aligned(COLUMNS[2:], [list(map(short, line[2:])) for line in self._lines(name, ranked[:SHOWN])])
            picture = self.folder.path / f"tornado.{name}.svg"
            write_whole(picture, tornado(ranked, self.options.measure, f"{name} on {self.config.name}"))
            yield f"{picture}"
        still = [one.path for one in self.varied if one.low is None and one.high is None]
        if still:
            yield f"not varied, the config takes no other value near: {', '.join(still)}"
        if bound:
            yield f"changes below {100 * bound:.2f} % are within the error bound of sampling"
        yield f"{self.folder.path / 'ranking.csv'}"

    def _lines(self, name, ranked):
        for one in ranked:
            varied = one.variation
            yield [self.config.name, name, varied.path, varied.base, varied.low or "", varied.high or "",
                   *("" if change is None else f"{100 * change:+.3f}" for change in (one.low_change, one.high_change)),
                   f"{one.elasticity:+.4f}"]


def main(words):
    options = parse(words)
    options.jobs = options.jobs or cores()
    study, options.paths = asked(options)
    output = options.output or ROOT / "out/sweep" / f"{study.file.stem.strip('-')}.sensitivity"
    tools = SweepTools(options.bin)
    for config in study.configs:
        folder = Folder(output / config.name if len(study.configs) > 1 else output)
        with folder.alone():
            work = Sensitivity(study, config, tools, folder, options)
            if run_or_say(work.sweep, ["sensitivity", *words]) is None:
                return INTERRUPTED
            refuse_without_results(study.file, *work.sweep.write_table())
            for line in work.report():
                print(line)
    return 0
