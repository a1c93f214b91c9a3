"""Figure 6: queues of networks, in two orders, planned as one (the next network is known) and one by one."""

import dataclasses

from command_line import ROOT, config_path
from markdown_page import table
from pictures import BLUE, GREEN, ORANGE, RED, empty_figure
from points import load_yaml
from section import Gathered, Section
from sections.programs import programs_of, startup_costs, startup_ms
from thinning import thin_samples

MB = 1e6
ORDERS = ("fifo", "srpt")
STARTUP = "start-up"
MOST_SAMPLES = 600  # of memory over time

INTRODUCTION = """\

## Figure 6: queues

{networks} one after the other on the simulated {phone}, `optimal` within {budget}, launch times estimated. FIFO: in that order; SRPT:
the shortest first ([queue.md](queue.md)). **Hint on**: one plan of all (`fmplan queue`), in which the next network's first weights
come during the current one's tail, simulated as one process. **Hint off**: a plan of its own each, within the same budget, simulated
each alone; their times after start-up are summed, and start-up is counted once: the context and all distinct programs of these plans
together. That leaves out what one process would still share, and each network's reading during its own start-up costs nothing without the hint,
which is why the hint may seem to cost time. Completion: from the queue's beginning to a network's output. The paper prints no totals, only curves within 1.5 GB (MNN: up
to 4 GB).
"""


@dataclasses.dataclass(frozen=True)
class Run:
    """A simulated run, or several joined. Times in ms, memory in bytes."""
    startup: float
    completions: tuple  # (network, ms), in the order of running
    over_time: tuple  # (ms, bytes) at each change

    @property
    def end(self):
        return self.completions[-1][1]

    def peak(self):
        return max(size for _, size in self.over_time)

    def average(self):
        ends = [ms for ms, _ in self.over_time[1:]] + [self.end]
        return sum(size * max(0, until - since) for (since, size), until in zip(self.over_time, ends)) / self.end

    def mean_completion(self):
        return sum(ms for _, ms in self.completions) / len(self.completions)


# ---- arithmetic
def joined(runs, startup):
    """Runs one after the other in one process with one start-up, before which there is nothing resident."""
    completions, over_time, begin = [], [], startup
    for run in runs:
        shift = begin - run.startup
        over_time.append((begin, next((size for ms, size in reversed(run.over_time) if ms <= run.startup), 0)))
        over_time += [(ms + shift, size) for ms, size in run.over_time if ms > run.startup]
        begin = run.end + shift
        completions.append((run.completions[0][0], begin))
    return Run(startup, tuple(completions), ((0, 0), *over_time))


# ---- making
def resident(sample):
    return sum(size for name, size in sample.items() if name != "time_ns")


def facts_of(result, name):
    """What is kept of result.json."""
    models = result.get("models") or [{"name": name, "integrated_ns": result["latency"]["integrated_ns"]}]
    samples = [(sample["time_ns"] / 1e6, resident(sample)) for sample in result["memory"]["over_time"]]
    return {"startup": result["latency"]["startup_ns"] / 1e6,
            "completions": [(model["name"], model["integrated_ns"] / 1e6) for model in models], "over_time": samples}


def queued(work, networks, order):
    models = [ROOT / network["model"] for network in networks]
    words = ["--order", order, "--policy", "optimal", "--budget", work.study["queues"]["budget"]]
    name = f"queue-{order}"
    plan, _ = work.points.planned(f"{name}.{work.device}", [*(model.read_bytes() for model in models), *words,
                                                           work.tools.config_text(work.device)],
                                  ["queue", *models, "--config", config_path(work.device), *words])
    return facts_of(work.run({"name": "queue"}, order, plan), name)  # one name, so that orders share recordings


def alone(work, network):
    policy = {"name": "optimal-queue", "options": ["--policy", "optimal", "--budget", work.study["queues"]["budget"]]}
    plan, _ = work.points.plan(network, policy, work.device)
    return {**facts_of(work.run(network, policy["name"], plan), network["name"]),
            "programs": programs_of(load_yaml(plan))}


def make(work):
    gathered = Gathered()
    names = work.study["queues"]["networks"]
    networks = work.networks(names)
    if len(networks) < len(names):
        return gathered
    gathered.add(("queue", work.device, STARTUP), startup_costs, work)
    for order in ORDERS:
        gathered.add(("queue", work.device, order), queued, work, networks, order)
    for network in networks:
        gathered.add(("queue", work.device, network["name"]), alone, work, network)
    return gathered


# ---- printing
def run_of(facts):
    return Run(facts["startup"], tuple(map(tuple, facts["completions"])), tuple(map(tuple, facts["over_time"])))


def runs_of(found, study):
    """{(order, whether the next network is known): Run}; empty unless all were simulated"""
    facts = {what: each for (_, _, what), each in found.items()}
    if not all(name in facts for name in (STARTUP, *ORDERS, *study["queues"]["networks"])):
        return {}
    runs = {}
    for order in ORDERS:
        runs[order, True] = run_of(facts[order])
        each = [facts[name] for name, _ in runs[order, True].completions]
        runs[order, False] = joined([run_of(one) for one in each],
                                    startup_ms(facts[STARTUP], [one["programs"] for one in each]))
    return runs


def hint_text(known):
    return "on" if known else "off"


def gain_text(runs, order):
    gained = runs[order, False].end - runs[order, True].end
    return f"saves {gained:.0f} ms" if gained >= 0 else f"costs {-gained:.0f} ms"


def published_names(study):
    return {network["name"]: network["published"] for network in study["networks"]}


def lines(found, study, published):
    names = published_names(study)
    yield INTRODUCTION.format(networks=", ".join(names[name] for name in study["queues"]["networks"]),
                              phone=study["phones"][study["device"]], budget=study["queues"]["budget"])
    runs = runs_of(found, study)
    rows = [[order.upper(), hint_text(known), ", ".join(f"{names[name]} {ms:.0f}" for name, ms in run.completions),
             f"{run.startup:.0f}", f"{run.end:.0f}", f"{run.mean_completion():.0f}", f"{run.peak() / MB:.0f}", f"{run.average() / MB:.0f}"]
            for (order, known), run in runs.items()]
    yield from table(["order", "hint", "completions, ms", "of it start-up", "all, ms", "mean completion, ms", "peak MB", "average MB"],
                     rows)
    if runs:
        yield (f"\nThe hint {gain_text(runs, 'fifo')} of the FIFO queue, {gain_text(runs, 'srpt')} of the SRPT one; SRPT's mean completion is "
               f"{runs['fifo', True].mean_completion() / runs['srpt', True].mean_completion():.2f} times as early (hint on).")


def pictures(found, study, published):
    runs = runs_of(found, study)
    if not runs:
        return []
    figure = empty_figure(380, "time (ms)", "resident (MB)")
    for ((order, known), run), colour in zip(runs.items(), (BLUE, ORANGE, GREEN, RED)):
        samples = thin_samples([*run.over_time, (run.end, 0)], lambda sample: sample[1], MOST_SAMPLES)
        figure.add_scatter(x=[ms for ms, _ in samples], y=[size / MB for _, size in samples], mode="lines",
                           name=f"{order.upper()}, hint {hint_text(known)}", line=dict(color=colour, shape="hv", width=1.5))
    return [("queue-memory", figure, "Figure 6, simulated: memory over time of the queues")]


SECTION = Section("queues", make, lines, pictures)
