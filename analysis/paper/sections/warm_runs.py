"""From how many runs of one process on preloading is faster than streaming."""

import math

from markdown_page import table
from pictures import BLUE, GREEN, ORANGE, empty_figure
from section import Gathered, Section

RUNS = 2  # the second finds what every later one finds: programs, preloaded weights and caches

INTRODUCTION = """\

## Warm runs: when preloading pays

A process that runs a network again has its programs and preloaded weights; what streams is read again (`fmsim --repeat {runs}`). n
runs take the cold one's integrated latency and n - 1 times the warm one's. The paper: SmartMem becomes faster after {least}–{most}
repeats (section 5.2); by its table 7, which gives initialisation, SmartMem's execution and FlashMem's integrated latency, from the
run in the last column on.
"""


# ---- arithmetic
def first_winning_run(preloaded, streamed):
    """The least n for which n runs preloaded take no longer than n streamed, of (cold, warm) each; inf where there is none."""
    behind, gained = preloaded[0] - streamed[0], streamed[1] - preloaded[1]
    if behind <= 0:
        return 1
    return 1 + math.ceil(behind / gained) if gained > 0 else math.inf


def published_winning_run(latency):
    """The same of table 7: a warm SmartMem executes only, FlashMem starts anew each time."""
    cold = latency["smartmem_init"] + latency["smartmem_exec"]
    return first_winning_run((cold, latency["smartmem_exec"]), (latency["flashmem"], latency["flashmem"]))


# ---- making
def cold_and_warm(work, network, policy):
    plan, _ = work.points.plan(network, policy, work.device)
    result = work.run(network, policy["name"], plan, options=("--repeat", str(RUNS)))
    return [run["integrated_ns"] / 1e6 for run in result["repetitions"]]


def make(work):
    gathered = Gathered()
    for network in work.networks(work.study["warm_runs"]):
        for role in ("smartmem", "flashmem", "ours"):
            policy = work.policy(work.study[role])
            gathered.add((network["published"], work.device, f"{policy['name']} warm"), cold_and_warm, work, network, policy)
    return gathered


# ---- printing
def by_network(found, study):
    """{network: [times of SmartMem's stand-in, FlashMem's, ours]} of those that have all"""
    roles = [study[role] for role in ("smartmem", "flashmem", "ours")]
    networks = dict.fromkeys(network for network, *_ in found)
    keys = {network: [(network, study["device"], f"{policy} warm") for policy in roles] for network in networks}
    return {network: [found[key] for key in each] for network, each in keys.items() if all(key in found for key in each)}


def run_text(number):
    return "never" if math.isinf(number) else str(number)


def lines(found, study, published):
    least, most = published["repeats_until_smartmem_is_faster"]
    yield INTRODUCTION.format(runs=RUNS, least=least, most=most)
    rows = []
    for network, times in by_network(found, study).items():
        latency = published["latency_ms"][network]
        rows.append([network, *(f"{cold:.0f} + {warm:.0f}" for cold, warm in times),
                     *(run_text(first_winning_run(times[0], other)) for other in times[1:]),
                     run_text(published_winning_run(latency)) if "smartmem_init" in latency else ""])
    streamed = [f"`{study[role]}`" for role in ("flashmem", "ours")]
    yield from table(["network", f"`{study['smartmem']}`: cold + each warm, ms", *streamed,
                      *(f"preloading wins from run, over {policy}" for policy in streamed), "by the paper's table 7"], rows)


def pictures(found, study, published):
    drawn = []
    for network, times in by_network(found, study).items():
        figure = empty_figure(300, "runs of one process", "all together (ms)")
        runs = list(range(1, 13))
        for role, (cold, warm), colour in zip(("smartmem", "flashmem", "ours"), times, (BLUE, ORANGE, GREEN)):
            figure.add_scatter(x=runs, y=[cold + (count - 1) * warm for count in runs], name=study[role], mode="lines+markers",
                               line=dict(color=colour))
        drawn.append((f"warm-runs-{network.lower()}", figure, f"{network}: n runs of one process, simulated"))
    return drawn


SECTION = Section("warm-runs", make, lines, pictures)
