"""Runs `fmsim microbench` and reads quantities off its curves."""

import concurrent.futures
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Work of bandwidth_image and wave_width (kernels/microbench_rates.cpp).
GROUPS = 240
MULTIPLY_ADDS = 64


class Simulator:
    """Curves by config, settings and benchmark; each simulated once, `jobs` at a time. None where
    the config refuses the settings."""

    def __init__(self, fmsim, jobs=2):
        self.fmsim = fmsim
        self.jobs = jobs
        self.known = {}

    def simulate(self, runs):
        """`runs`: iterable of (config, settings, benchmark, points), settings and points tuples of
        words. Afterwards curves() has them."""
        missing = [run for run in dict.fromkeys(runs) if run not in self.known]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for run, curves in zip(missing, pool.map(self._run, missing)):
                self.known[run] = curves

    def curves(self, config, settings=(), benchmark="", points=()):
        run = (config, tuple(settings), benchmark, tuple(points))
        self.simulate([run])
        return self.known[run]

    def _run(self, run):
        config, settings, benchmark, points = run
        command = [str(self.fmsim), "microbench", "--config", config, "--json", "--only", benchmark]
        for setting in settings:
            command += ["--set", setting]
        for point in points:
            command += ["--at", point]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        if done.returncode == 2 and settings:
            return None  # the config refuses the value
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
        return json.loads(done.stdout)


class Absent(Exception):
    """The curves do not show what was asked for; the message says what they show."""


def _within(value, wanted):
    return wanted[0] <= value <= wanted[1] if isinstance(wanted, list) else value == wanted


def points_at(curve, at):
    """The values of a curve's points where every axis of `at` holds."""
    return [point["value"] for point in curve["points"]
            if all(_within(point["axes"][axis], wanted) for axis, wanted in at.items())]


def _mean(curve, at):
    values = points_at(curve, at)
    if not values:
        raise Absent(f"no point at {at}")
    return sum(values) / len(values)


def _of_level(curve, take):
    level = next(level for level in curve["levels"] if level["stride"] == take["stride"])
    kind = "knee" if "knee" in take else "plateau"
    found = level[kind + "s"]
    if take[kind] >= len(found) or take["of"] not in found[take[kind]]:
        shown = ", ".join(str(item.get("capacity", item.get("first"))) for item in found)
        raise Absent(f"{kind}s found: {shown or 'none'}")
    return found[take[kind]][take["of"]]


def _last_before_step(curve, axis):
    """The last value of `axis` that costs no more than the first."""
    first = curve["points"][0]["value"]
    flat = [point["axes"][axis] for point in curve["points"] if point["value"] < 1.25 * first]
    return max(flat)


def _in_unit(value, unit, take, curve, run):
    """From the curve's unit to the figure's; `run` has clock_hz and cores."""
    given, clock, cores = curve["unit"], run["clock_hz"], run["cores"]
    if given == "texel/clk" and unit in ("GB/s", "B/clk/core"):
        value *= take["at"]["texel"]
        return value * clock / 1e9 if unit == "GB/s" else value / cores
    if given == "B/ns" and unit == "B/clk/core":
        return value * 1e9 / clock / cores
    if given == "ns/round" and unit == "GFLOPS":
        return 2 * MULTIPLY_ADDS * GROUPS * take["at"]["threads"] / value
    if given == "ns/read" and unit == "clk":
        return value * clock / 1e9
    if given == "ns/launch" and unit == "us":
        return value / 1e3
    return value


def read(run, take, unit):
    """What `take` (figures.yaml) reads off a run's curves, in `unit`. Raises Absent."""
    curve = run["curves"][take["curve"]]
    if "step_after" in take:
        return _last_before_step(curve, take["step_after"])
    if "of" in take:
        return _of_level(curve, take)
    value = _mean(curve, take["at"])
    if "minus" in take:
        value -= _mean(curve, take["minus"])
    if "over" in take:
        # `scale`: of two rates of accesses that differ so many times in size, the times' ratio.
        over = take["over"]
        return take.get("scale", 1) * value / _mean(run["curves"][over["curve"]], over["at"])
    return _in_unit(value, unit, take, curve, run)

