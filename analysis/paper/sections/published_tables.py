"""The paper's tables 4, 7, 8 and 9 and figures 9 and 10, each beside what the simulated phones give."""

from evidence_page import gap_of
from likeness import geometric_mean, likeness_text
from markdown_page import table
from pictures import BLUE, GREEN, GREY, ORANGE, empty_figure
from section import Gathered, Section

MB = 1e6


def init_ms(point):
    return point["integrated_ms"] - point["exec_ms"]


def watts(point):
    return point["energy_mj"] / point["integrated_ms"]


def ms(value):
    return f"{value:.0f}"


class Phone:
    """The points of one phone: networks that have SmartMem's stand-in there, by the paper's name."""

    def __init__(self, study, points, config):
        self.study, self.config = study, config
        self.here = {network["published"]: {policy: point for (at, policy), point in
                                            points.get(network["name"], {}).items() if at == config}
                     for network in study["networks"]}

    def with_policies(self, *roles):
        """[(network, point of each role)] of the networks that have all of them."""
        names = [self.study.get(role, role) for role in roles]
        return [(network, *(found[name] for name in names)) for network, found in self.here.items()
                if all(name in found for name in names)]


def times(before, after):
    return f"{before / after:.2f}"


def means_line(what, paper, ratios):
    if ratios["ours"]:
        yield (f"\nGeometric means of {what}: paper {paper}, here {geometric_mean(ratios['flashmem']):.2f} and "
               f"{geometric_mean(ratios['ours']):.2f}.\n")


def latency_section(phone, published):
    """Table 7."""
    latency = published["latency_ms"]
    yield "\n## Table 7: latency, ms\n"
    head = ["network", "SmartMem, paper: init + exec", "here: init + exec", "FlashMem, paper", f"`{phone.study['flashmem']}`",
            f"`{phone.study['ours']}`", "speed-up, paper", f"`{phone.study['flashmem']}`", f"`{phone.study['ours']}`"]
    rows, speedups = [], {"flashmem": [], "ours": []}
    for network, base, flashmem, ours in phone.with_policies("smartmem", "flashmem", "ours"):
        paper = latency[network]
        theirs = "smartmem_init" in paper
        speedups["flashmem"].append(base["integrated_ms"] / flashmem["integrated_ms"])
        speedups["ours"].append(base["integrated_ms"] / ours["integrated_ms"])
        rows.append([network, f"{paper['smartmem_init']} + {paper['smartmem_exec']}" if theirs else "",
                     f"{ms(init_ms(base))} + {ms(base['exec_ms'])}", str(paper["flashmem"]),
                     ms(flashmem["integrated_ms"]), ms(ours["integrated_ms"]),
                     times(paper["smartmem_init"] + paper["smartmem_exec"], paper["flashmem"]) if theirs else "",
                     f"{speedups['flashmem'][-1]:.2f}", f"{speedups['ours'][-1]:.2f}"])
    yield from table(head, rows)
    yield from means_line("the speed-ups", published["geometric_mean_over_smartmem"]["latency"], speedups)
    yield from latency_likeness(phone, latency)


def latency_likeness(phone, latency):
    bases = [(network, base) for network, base in phone.with_policies("smartmem") if "smartmem_init" in latency[network]]
    yield "- Execution of `{}` beside SmartMem's: {}.".format(phone.study["smartmem"], likeness_text(
        [(base["exec_ms"], latency[network]["smartmem_exec"]) for network, base in bases]))
    yield "- Initialisation of `{}` beside SmartMem's: {}.".format(phone.study["smartmem"], likeness_text(
        [(init_ms(base), latency[network]["smartmem_init"]) for network, base in bases]))
    yield "- Integrated latency of `{}` beside FlashMem's: {}.".format(phone.study["flashmem"], likeness_text(
        [(point["integrated_ms"], latency[network]["flashmem"]) for network, point in phone.with_policies("flashmem")]))


def memory_section(phone, published):
    """Table 8."""
    memory = published["average_memory_mb"]
    yield "\n## Table 8: average memory, MB; and the peak\n"
    head = ["network", "SmartMem, paper", "here", "FlashMem, paper", f"`{phone.study['flashmem']}`", f"`{phone.study['ours']}`",
            "less, paper", f"`{phone.study['flashmem']}`", f"`{phone.study['ours']}`", "peaks here: of each"]
    rows, less = [], {"flashmem": [], "ours": []}
    for network, base, flashmem, ours in phone.with_policies("smartmem", "flashmem", "ours"):
        paper = memory[network]
        less["flashmem"].append(base["average_bytes"] / flashmem["average_bytes"])
        less["ours"].append(base["average_bytes"] / ours["average_bytes"])
        rows.append([network, str(paper.get("smartmem", "")), f"{base['average_bytes'] / MB:.0f}", str(paper["flashmem"]),
                     f"{flashmem['average_bytes'] / MB:.0f}", f"{ours['average_bytes'] / MB:.0f}",
                     times(paper["smartmem"], paper["flashmem"]) if "smartmem" in paper else "",
                     f"{less['flashmem'][-1]:.2f}", f"{less['ours'][-1]:.2f}",
                     " / ".join(f"{point['peak_bytes'] / MB:.0f}" for point in (base, flashmem, ours))])
    yield from table(head, rows)
    yield from means_line("how much less", published["geometric_mean_over_smartmem"]["memory"], less)
    yield "- `{}` beside FlashMem's: {}.".format(phone.study["flashmem"], likeness_text(
        [(point["average_bytes"] / MB, memory[network]["flashmem"]) for network, point in phone.with_policies("flashmem")]))


def energy_section(phone, published):
    """Table 9."""
    yield "\n## Table 9: mean power, W, and energy, J\n"
    rows = []
    for network, base, flashmem, ours in phone.with_policies("smartmem", "flashmem", "ours"):
        power, energy = (published[kind].get(network, {}) for kind in ("power_w", "energy_j"))
        rows.append([network, *(f"{power.get(who, '')}" for who in ("smartmem", "flashmem")),
                     " / ".join(f"{watts(point):.1f}" for point in (base, flashmem, ours)),
                     *(f"{energy.get(who, '')}" for who in ("smartmem", "flashmem")),
                     " / ".join(f"{point['energy_mj'] / 1e3:.2f}" for point in (base, flashmem, ours))])
    yield from table(["network", "SmartMem, paper W", "FlashMem, paper W", "here W: of each", "SmartMem, paper J",
                      "FlashMem, paper J", "here J: of each"], rows)
    yield ""
    yield from energy_likeness(phone, published)


def energy_likeness(phone, published):
    for role, name in (("smartmem", "SmartMem"), ("flashmem", "FlashMem")):
        for what, kind, measure in (("Power", "power_w", watts), ("Energy", "energy_j", lambda point: point["energy_mj"] / 1e3)):
            pairs = [(measure(point), published[kind][network][role]) for network, point in phone.with_policies(role)
                     if network in published[kind]]
            yield f"- {what} of `{phone.study[role]}` beside {name}'s: {likeness_text(pairs)}."


def solver_text(point):
    solver = point.get("solver") or {}
    if "solver_seconds" not in solver:
        return "", ""
    gap = gap_of(solver)
    return f"{solver['solver_seconds']:.3f}", "" if gap is None else f"{gap:.1%}"


def solver_section(phone, published):
    """Table 4."""
    yield ("\n## Table 4: solver, s, and the proven gap\n\nThe paper: CP-SAT on 128 threads, 150 s at most; here one thread of this "
           "computer. Larger language models of table 4: [lc-opg.md](lc-opg.md).\n")
    rows = []
    for network, flashmem, ours in phone.with_policies("flashmem", "ours"):
        paper = published["solver"].get(network, {})
        rows.append([network, f"{paper.get('solve_s', '')}", paper.get("status", "").lower(), *solver_text(flashmem),
                     *solver_text(ours)])
    yield from table(["network", "paper s", "paper's status", f"`{phone.study['flashmem']}` s", "gap",
                      f"`{phone.study['ours']}` s", "gap"], rows)


def naive_section(phone, published):
    """Figure 9."""
    slower = published["slower_than_flashmem"]
    yield "\n## Figure 9: naive overlaps, times FlashMem's latency\n"
    slowdowns = {network: [naive["integrated_ms"] / flashmem["integrated_ms"] for naive in each]
                 for network, flashmem, *each in phone.with_policies("flashmem", "always-next", "same-op-type")}
    yield from table(["network", f"always-next (paper: up to {slower['always_next']})",
                      f"same-op-type (paper: up to {slower['same_op_type']})"],
                     [[network, *(f"{ratio:.2f}" for ratio in each)] for network, each in slowdowns.items()])
    if slowdowns:
        most = [max(each) for each in zip(*slowdowns.values())]
        yield (f"\nAt most here: {most[0]:.2f} and {most[1]:.2f}, of the paper's {most[0] / slower['always_next']:.2f} and "
               f"{most[1] / slower['same_op_type']:.2f}.")


def phones_section(study, points):
    """Figure 10."""
    yield (f"\n## Figure 10: other phones\n\nIntegrated ms and average MB of `{study['smartmem']}`, `{study['flashmem']}`, "
           f"`{study['ours']}`; geometric means of latency and memory of the first over those of the others.\n")
    rows = []
    for config, name in study["phones"].items():
        phone = Phone(study, points, config)
        found = phone.with_policies("smartmem", "flashmem", "ours")
        for network, *each in found:
            rows.append([name, network, " / ".join(ms(point["integrated_ms"]) for point in each),
                         " / ".join(f"{point['average_bytes'] / MB:.0f}" for point in each), "", ""])
        if found:
            rows.append([f"**{name}**", f"{len(found)} networks", "", "",
                         *(" / ".join(f"{geometric_mean([base[key] / point[key] for base, point in pairs]):.2f}"
                                      for pairs in ([(one[1], one[2]) for one in found], [(one[1], one[3]) for one in found]))
                           for key in ("integrated_ms", "average_bytes"))])
    yield from table(["phone", "network", "integrated ms", "average MB", "latency, times", "memory, times"], rows)


def make(work):
    points, missing = work.collect(work.study)
    return Gathered(points, missing)


def lines(found, study, published):
    phone = Phone(study, found, study["device"])
    for section in (latency_section, memory_section, energy_section, solver_section, naive_section):
        yield from section(phone, published)
    yield from phones_section(study, found)


# A colour and a mark each, so that no eye depends on colour alone.
STYLES = ((BLUE, "circle"), (ORANGE, "diamond"), (GREEN, "square"))


def against_paper(title, unit, series):
    """`series`: {name: [(network, simulated, published)]}; None without points. Both axes are logarithmic."""
    values = [value for pairs in series.values() for _, *both in pairs for value in both]
    if not values:
        return None
    figure = empty_figure(440, f"{title}, the paper ({unit})", f"simulated ({unit})")
    ends = [min(values) / 1.5, max(values) * 1.5]
    figure.add_scatter(x=ends, y=ends, mode="lines", name="equal", line=dict(color=GREY, dash="dot", width=1))
    for (name, pairs), (colour, mark) in zip(series.items(), STYLES):
        figure.add_scatter(x=[published for _, _, published in pairs], y=[simulated for _, simulated, _ in pairs], name=name,
                           mode="markers", marker=dict(color=colour, symbol=mark, size=10),
                           text=[network for network, *_ in pairs], hovertemplate="%{text}: %{y:.3g} for %{x:.3g}")
    figure.update_xaxes(type="log")
    figure.update_yaxes(type="log")
    return figure


def latency_series(phone, published):
    latency = published["latency_ms"]
    bases = [(network, base) for network, base in phone.with_policies("smartmem") if "smartmem_init" in latency[network]]
    return {
        "execution, weights preloaded": [(network, base["exec_ms"], latency[network]["smartmem_exec"])
                                         for network, base in bases],
        "initialisation, weights preloaded": [(network, init_ms(base), latency[network]["smartmem_init"])
                                              for network, base in bases],
        "integrated, streamed": [(network, point["integrated_ms"], latency[network]["flashmem"])
                                 for network, point in phone.with_policies("flashmem")]}


def memory_series(phone, published):
    memory = published["average_memory_mb"]
    return {name: [(network, point["average_bytes"] / MB, memory[network][who])
                   for network, point in phone.with_policies(role) if who in memory[network]]
            for name, role, who in (("weights preloaded", "smartmem", "smartmem"), ("streamed", "flashmem", "flashmem"))}


def pictures(found, study, published):
    phone = Phone(study, found, study["device"])
    return [("latency", against_paper("latency", "ms", latency_series(phone, published)),
             f"Latency on the simulated {study['phones'][study['device']]} over the paper's"),
            ("average-memory", against_paper("average memory", "MB", memory_series(phone, published)), "Average memory over the paper's")]


SECTION = Section("tables", make, lines, pictures)
