"""The Pareto front of plans, and switching between them while a queue runs."""

import dataclasses
import pathlib

from command_line import ROOT, NotKept, Refused, config_path
from markdown_page import table
from pictures import BLUE, ORANGE, empty_figure
from points import load_yaml
from section import Gathered, Section
from sections.programs import programs_of, startup_costs, startup_ms

MIB = 1 << 20
COSTS = "start-up"

INTRODUCTION = """\

## The Pareto front of plans, and switching between them

`fmplan --policy optimal --pareto {plans} --runs {runs}` for {network} on the simulated {phone}, each plan simulated cold and once
more in the same process (`fmsim --repeat 2`). Memory: simulated peak of both runs; energy of the cold run, of a warm one.
"""

SWITCHING = """\

### Run-time switching

{runs} inferences of {network}; the budget is {high:.0f} MiB, after the {falls}th {low:.0f} MiB, after the {rises}th {high:.0f} MiB
again. **Switching** runs, while a budget holds, the plan of the front with the largest memory that fits it; **staying** runs the only
plan that fits all along. The total is put together from simulated runs: start-up once (the context, and all distinct programs of the
plans that are used), then for each phase the cold run of its plan after start-up, which is its own reads into empty memory, and a
warm run for each further inference. Leaving a plan frees all it holds; coming back to it is cold again. Freeing takes no time, and
neither does the decision.
"""


@dataclasses.dataclass(frozen=True)
class FrontPlan:
    """Times in ms after start-up, memory in bytes, energies in mJ."""
    peak: int
    cold: float
    warm: float
    programs: frozenset


@dataclasses.dataclass(frozen=True)
class Phase:
    inferences: int
    budget: int


# ---- arithmetic
def largest_fitting(front, budget):
    fitting = [plan for plan in front if plan.peak <= budget]
    return max(fitting, key=lambda plan: plan.peak) if fitting else None


def switched(front, phases):
    """[(plan, inferences)], neighbouring phases of one plan joined; None where a phase fits no plan."""
    runs = []
    for phase in phases:
        plan = largest_fitting(front, phase.budget)
        if plan is None:
            return None
        if runs and runs[-1][0] is plan:
            runs[-1] = (plan, runs[-1][1] + phase.inferences)
        else:
            runs.append((plan, phase.inferences))
    return runs


def stayed(front, phases):
    return switched(front, [Phase(sum(phase.inferences for phase in phases), min(phase.budget for phase in phases))])


def total_ms(runs, costs):
    return startup_ms(costs, [plan.programs for plan, _ in runs]) + sum(plan.cold + (count - 1) * plan.warm for plan, count in runs)


# ---- making
def planned(work, network):
    """[(file, fmplan's figures)] of the front's plans, least memory first."""
    times = work.points.preload_result(network, work.device)
    study = work.study["pareto"]
    words = ["--policy", "optimal", "--pareto", str(study["plans"]), "--runs", str(study["runs"])]
    model = ROOT / network["model"]
    file, made = work.points.planned(f"{network['name']}.pareto.{work.device}",
                                  [model.read_bytes(), *words, times.read_bytes(), work.tools.config_text(work.device)],
                                  ["--model", model, "--config", config_path(work.device), *words, "--profile", times])
    return [(file.parent / pathlib.Path(entry["plan"]).name, entry) for entry in made["printed"]]


def facts_of(work, network, index, plan, entry):
    name = f"pareto-{index}"
    cold = work.run(network, name, plan)
    both = work.run(network, name, plan, options=("--repeat", "2"))
    startup = cold["latency"]["startup_ns"]
    return {"gap": entry["gap"], "peak": both["memory"]["peak_bytes"], "cold_mj": cold["energy"]["total_nj"] / 1e6,
            "warm_mj": both["energy"]["total_nj"] / 1e6, "integrated_ms": cold["latency"]["integrated_ns"] / 1e6,
            "cold_ms": (cold["latency"]["integrated_ns"] - startup) / 1e6, "warm_ms": both["repetitions"][1]["integrated_ns"] / 1e6,
            "programs": programs_of(load_yaml(plan))}


def make(work):
    gathered = Gathered()
    for network in work.networks([work.study["pareto"]["network"]]):
        gathered.add((network["published"], work.device, COSTS), startup_costs, work)
        try:
            plans = planned(work, network)
        except (NotKept, Refused) as absent:
            gathered.missing[network["published"], work.device, "pareto"] = str(absent)
            continue
        for index, (plan, entry) in enumerate(plans, 1):
            gathered.add((network["published"], work.device, f"pareto {index}"), facts_of, work, network, index, plan, entry)
    return gathered


# ---- printing
def front_of(found):
    """{plan's name: its facts}, least memory first"""
    plans = {what: facts for (_, _, what), facts in found.items() if what != COSTS}
    return dict(sorted(plans.items(), key=lambda item: item[1]["peak"]))


def front_plan(facts):
    return FrontPlan(facts["peak"], facts["cold_ms"], facts["warm_ms"], frozenset(facts["programs"]))


def phases_of(study, front):
    """The budget falls to what the least plan takes, between two times with room for all."""
    low, high = front[0].peak, front[-1].peak
    falls, rises, runs = study["pareto"]["falls_after"], study["pareto"]["rises_after"], study["pareto"]["runs"]
    return [Phase(falls, high), Phase(rises - falls, low), Phase(runs - rises, high)]


def undominated(facts, others):
    return not any(other["peak"] <= facts["peak"] and other["integrated_ms"] <= facts["integrated_ms"] and other is not facts
                   for other in others)


def front_lines(front):
    rows = [[name, f"{facts['peak'] / MIB:.0f}", f"{facts['integrated_ms']:.0f}", f"{facts['cold_ms']:.1f}", f"{facts['warm_ms']:.1f}",
             f"{facts['cold_mj']:.0f}", f"{facts['warm_mj']:.0f}", f"{facts['gap']:.1%}",
             "yes" if undominated(facts, front.values()) else "no"]
            for name, facts in front.items()]
    yield from table(["plan", "peak MiB", "integrated ms", "cold after start-up", "warm", "energy cold, mJ", "warm", "gap", "undominated"],
                     rows)


def switching_lines(study, network, front, names, costs):
    phases = phases_of(study, front)
    yield SWITCHING.format(network=network, runs=study["pareto"]["runs"], falls=study["pareto"]["falls_after"],
                           rises=study["pareto"]["rises_after"], high=phases[0].budget / MIB, low=phases[1].budget / MIB)
    ways = {"switching": switched(front, phases), "staying": stayed(front, phases)}
    rows = [[way, ", ".join(f"{count} x {names[plan]}" for plan, count in runs),
             f"{startup_ms(costs, [plan.programs for plan, _ in runs]):.0f}", f"{total_ms(runs, costs):.0f}"] for way, runs in ways.items()]
    yield from table(["way", "plans", "start-up ms", "all, ms"], rows)
    times = total_ms(ways["staying"], costs) / total_ms(ways["switching"], costs)
    yield f"\nSwitching is {times:.2f} times as fast as staying."


def lines(found, study, published):
    network = next(item["published"] for item in study["networks"] if item["name"] == study["pareto"]["network"])
    yield INTRODUCTION.format(plans=study["pareto"]["plans"], runs=study["pareto"]["runs"], network=network,
                              phone=study["phones"][study["device"]])
    facts = front_of(found)
    yield from front_lines(facts)
    front = [front_plan(each) for each in facts.values()]
    if len(front) > 1:
        costs = next(each for (_, _, what), each in found.items() if what == COSTS)
        yield from switching_lines(study, network, front, dict(zip(front, facts)), costs)


def pictures(found, study, published):
    front = front_of(found)
    if not front:
        return []
    figure = empty_figure(320, "peak memory (MiB)", "after start-up (ms)")
    for what, colour in (("cold", BLUE), ("warm", ORANGE)):
        figure.add_scatter(x=[facts["peak"] / MIB for facts in front.values()], y=[facts[f"{what}_ms"] for facts in front.values()],
                           text=list(front), name=what, mode="lines+markers", line=dict(color=colour))
    return [("pareto", figure, "The Pareto front's plans, simulated")]


SECTION = Section("pareto", make, lines, pictures)
