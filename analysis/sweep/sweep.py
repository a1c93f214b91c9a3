"""From a study to its table: which points there are, which of them ran, running the others."""

import collections
import concurrent.futures as futures
import dataclasses
import shlex
import sys
import time

from simulator_tools import Refused
from folder import FINISHED, MISSING, OK
from local_launcher import LocalLauncher
from point import Keys, points_of, tools_of
from problems import Interrupted, StudyError
from progress import Progress, duration
from tidy_table import parameter_columns, table, times, write_tables

INTERRUPTED = 130  # exit status
NOT_RUN = {"status": MISSING, "error": "", "measures": {}}


def say(text):
    print(f"fmsweep: {text}", file=sys.stderr, flush=True)


@dataclasses.dataclass
class Ran:
    """What a sweep did now."""
    points: int
    seconds: float
    simulation_seconds: float


class Sweep:
    def __init__(self, study, tools, folder, jobs, keys=None):
        self.begin = time.monotonic()
        self.study, self.tools, self.folder, self.jobs = study, tools, folder, jobs
        self.keys = keys or Keys(tools)
        self.points = points_of(study)
        folder.begin(tools.digests(tools_of(study.planned)))
        self._check_paths()
        self.names = self._keys_of_points()
        self._refuse_duplicates()

    # ---- what is wrong before anything runs
    def _check_paths(self):
        """Every path exists in every config."""
        for config in self.study.configs:
            base = self.keys.config(config.given, {})
            if isinstance(base, Refused):
                raise StudyError(f"{config.where}: {base}")
            for one in (*self.study.fixed, *(one for chosen in self.study.combinations for one in chosen)):
                if one.plan_option is None and one.path not in base.values:
                    near = ", ".join(base.nearest(one.path)) or f"fmsim --config {config.given} --explain prints all"
                    raise StudyError(f"{one.where}: {config.name} has no parameter {one.path}; nearest: {near}")

    def _keys_of_points(self):
        with futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(lambda point: self.keys.key(point[3]), self.points))

    def _refuse_duplicates(self):
        """Two points that mean the same, though written differently: 1MiB and 1024KiB."""
        columns = parameter_columns(self.study.paths, self.points, self.keys).values()
        seen = {}
        for (config, workload, chosen, _), *cells in zip(self.points, *columns):
            place = (config.given, workload.name, *map(str, cells))
            if place in seen:
                one, other = chosen[-1], seen[place]
                raise StudyError(f"{one.where}: duplicated points: {_described(chosen)} is the same as "
                                 f"{_described(other)}; remove one")
            seen[place] = chosen

    # ---- running
    def kept(self, key):
        try:
            return self.folder.row(key)
        except ValueError as error:
            say(f"note: {self.folder.row_file(key)}: damaged ({error}): runs again")
            return None

    def unfinished(self):
        """{key: Point} of what has to run, each once; rows of failures go."""
        todo = {}
        for key, (_, _, _, point) in zip(self.names, self.points):
            if key not in todo and (self.kept(key) or NOT_RUN)["status"] not in FINISHED:
                self.folder.save_point(key, point)
                self.folder.row_file(key).unlink(missing_ok=True)
                todo[key] = point
        return todo

    def run(self, launcher=None):
        """Runs what has not run yet. Raises StudyError, Interrupted, KeyboardInterrupt."""
        launcher = launcher or LocalLauncher(self.jobs)
        todo = self.unfinished()
        before = len(set(self.names)) - len(todo)
        say(f"{len(self.points)} points" + (f", {before} finished before" if before else "")
            + f"; {len(todo)} to run, {launcher.how}")
        progress, simulated = Progress(len(todo)), []

        def done(key, row):
            progress.step(key, row)
            if row is not None:
                simulated.append(row["simulation_s"])

        try:
            launcher.run(self, todo, done)
        finally:
            progress.end()
        return Ran(len(simulated), time.monotonic() - self.begin, sum(simulated))

    # ---- the table
    def rows(self):
        """[(key, row)] in the order of the table."""
        return [(key, self.kept(key) or NOT_RUN) for key in self.names]

    def write_table(self):
        rows = self.rows()
        names, lines = table(self.study.paths, self.points, self.keys, rows)
        write_tables(self.folder.path, names, lines, times(rows))
        return names, lines


def _described(chosen):
    return ", ".join(f"{one.path}={one.value}" for one in chosen)


def run_or_say(sweep, words, launcher=None):
    """What ran; None when it was interrupted, after the table of what is done and a word on how to go on."""
    try:
        return sweep.run(launcher)
    except (KeyboardInterrupt, Interrupted):
        sweep.write_table()
        finished = sum(row["status"] == OK for _, row in sweep.rows())
        say(f"interrupted: {finished} of {len(sweep.points)} points are done and kept; go on with: ./fm sweep "
            + shlex.join(words))
        return None


def refuse_without_results(study, names, lines):
    """A study none of whose points has a result is wrong."""
    status, error = names.index("status"), names.index("error")
    if all(line[status] != OK for line in lines):
        raise StudyError(f"{study}: no point has a result; the first ended with: {lines[0][error]}")


def _reasons(names, lines):
    """Why points have no result, each reason once with its first point."""
    status, error = names.index("status"), names.index("error")
    points = {}
    for line in lines:
        if line[status] not in (OK, MISSING):
            points.setdefault((line[status], line[error].split("\n")[0]), []).append(line[0])
    for (what, reason), keys in points.items():
        yield f"  {what}: {reason} ({keys[0]}" + (f" and {len(keys) - 1} more)" if len(keys) > 1 else ")")


def summary(names, lines, ran, folder):
    """What is printed at the end. `ran`: None when nothing was to run."""
    counts = collections.Counter(line[names.index("status")] for line in lines)
    yield f"{len(lines)} points: " + ", ".join(f"{count} {name}" for name, count in counts.items())
    yield from _reasons(names, lines)
    laws = sorted({str(line[names.index("capacity_scaling")]) for line in lines} - {""})
    if laws:
        yield f"capacities: {', '.join(laws)}"
    if ran is not None and ran.points:
        yield (f"{ran.points} points ran in {duration(ran.seconds)}: {ran.seconds:.2f} s by the clock, "
               f"{ran.simulation_seconds:.2f} s of simulations")
    yield f"{folder / 'table.csv'}, table.sqlite"
