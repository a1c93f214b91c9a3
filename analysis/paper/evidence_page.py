"""docs/evidence.md: the evidence table beside the paper's numbers."""

from evidence_studies import breakdown_lines, ready_ms, trade_off_lines

MIB = 1 << 20


def number(value, form, scale=1.0):
    return "" if value is None else format(value / scale, form)


HEAD = ("| device | policy | integrated ms | start-up | exec ms | of floor | of overlap | peak MiB | average MiB | "
        "weights: peak, of all | peaks | averages | energy mJ | coverage | timely | accurate | solver s | gap |")


def by_class(sizes):
    return " / ".join(number(size, ".0f", MIB) for size in sizes.values())


def integrated(point):
    bound = point.get("error_bound")
    return f"{point['integrated_ms']:.0f}" + (f" ± {bound:.0%}" if bound and bound >= 0.005 else "")


def gap_of(solver):
    return (solver.get("lc_opg") or solver).get("gap")


def of_overlap(point, preload):
    """How far from reading and computing at once: of the larger of disk floor and execution alone."""
    if not point["disk_floor_ms"] or not preload:
        return ""
    return f"{ready_ms(point) / max(point['disk_floor_ms'], preload['exec_ms']):.2f}"


def row(config, policy, point, preload):
    ready = ready_ms(point)
    floor = point["floor_ms"]
    weights = point["weights_peak_bytes"]
    solver = point.get("solver") or {}
    cells = [config, policy, integrated(point), f"{point['startup_ms']:.0f}", f"{point['exec_ms']:.0f}",
             f"{ready / floor:.2f}" if floor else "", of_overlap(point, preload), number(point["peak_bytes"], ".0f", MIB),
             number(point["average_bytes"], ".0f", MIB),
             f"{weights / MIB:.0f}, {weights / point['weights_bytes']:.2f}", by_class(point["by_class"]),
             by_class(point["average_by_class"]), number(point["energy_mj"], ".0f"),
             number(point["coverage"], ".2f"), number(point["timeliness"], ".2f"),
             number(point["accuracy"], ".2f"), number(solver.get("solver_seconds"), ".2f"),
             number(gap_of(solver), ".1%")]
    return "| " + " | ".join(cells) + " |"


def published_lines(published, name):
    latency, memory = published["latency_ms"][name], published["average_memory_mb"][name]
    yield (f"The paper's {name} ({published['parameters_million'][name]} M parameters, "
           f"{published['macs_giga'][name]} GMAC, table 6) on an Adreno 750: SmartMem, which preloads, "
           f"{latency['smartmem_init']} + {latency['smartmem_exec']} ms, {memory['smartmem']} MB on average; "
           f"FlashMem {latency['flashmem']} ms integrated, {memory['flashmem']} MB (tables 7 and 8)"
           + (f"; its solver {published['solver_s'][name]:.0f} s (table 4)." if name in published["solver_s"]
              else "."))


def network_section(study, network, points, published):
    yield f"\n## {network['name']}\n"
    yield from published_lines(published, network["published"])
    yield "\n" + HEAD
    yield "|" + "---|" * (HEAD.count("|") - 1)
    special = {name for name in study["breakdown"]["steps"]} | set(study["trade_off"]["policies"])
    common = {policy["name"] for policy in study["policies"] if "only" not in policy}
    for (config, policy), point in points.items():
        if policy in common or policy not in special:
            yield row(config, policy, point, points.get((config, "preload")))
    yield from comparisons(points)
    yield from breakdown_lines(study["breakdown"], points, published["breakdown"])
    yield from trade_off_lines(study["trade_off"], points)


def comparisons(points):
    """How the policies compare where preload and others are both there."""
    for config in dict.fromkeys(config for config, _ in points):
        here = {policy: point for (at, policy), point in points.items() if at == config}
        best = min(here, key=lambda policy: here[policy]["integrated_ms"])
        if "preload" not in here or len(here) < 2:
            continue
        least = min(here, key=lambda policy: here[policy]["weights_peak_bytes"])
        reduction = here["preload"]["weights_peak_bytes"] / here[least]["weights_peak_bytes"]
        yield (f"\n{config}: fastest is {best}; least memory for weights has {least}, {reduction:.1f} times less "
               "at the peak than preloaded.")


def missing_lines(missing):
    """A line for each network, device and reason; a policy that is missing everywhere has its own."""
    grouped = {}
    for (*where, policy), why in missing.items():
        grouped.setdefault((", ".join(where), why), []).append(policy)
    for (where, why), policies in grouped.items():
        yield f"- {where}: {', '.join(policies)}: {why}" if where else f"- {', '.join(policies)}: {why}"


INTRODUCTION = """\
# The evidence table

Written by `./fm evidence` (`analysis/paper/`), which keeps finished points and resumes. {source} is the paper.

Devices but {measured} are simulated (`fmsim --sample auto`, traces composed from launches recorded once); {measured} is this
computer: fmexec on PoCL, programs cached, no energy, the median of five runs, which moves with whatever else it runs. `lc-opg` and `optimal` know launch times, and how much a launch may carry, from a profile of the network's launches on {profiled};
elsewhere launch times from the run under `preload`, and what launches carry is learnt from that profile, or estimated where
the network has none. `optimal-0.15` may hold all activations and 0.15 of the
weights; `-execution`: with `--minimize execution`, for programs that are loaded beforehand; `-fusion`: with
`--fusion adaptive`.

- Integrated: from nothing to the output, start-up (context and programs) included; ±: the sampling's error bound. Of floor:
  (integrated - start-up) / max(disk, compute, DRAM). Of overlap: the same of max(disk, execution alone), the latter that of `preload`.
- Weights: preloaded + in flight + staging. Peaks, averages: preloaded / unified in flight / texture in flight /
  activations / staging, MiB, each class's own peak and its average over time.
- Coverage, timely, accurate: shares of weight bytes as `analysis/paper/measures.py` defines them.
- Solver, gap: as fmplan reports them; `lc-opg` to its own problem's bound, `optimal` to that of all plans within the memory.

The paper's figures are for its own models and phone software, and comparable in kind, not digit by digit. Two things differ in
kind: weights are packed in their final layout beforehand here, so that preloading is a read and a copy, without the transforms that
take SmartMem most of its start; and `lc-opg` is the paper's problem as printed, which knows no disk: reads
run one launch's bytes ahead of the launches that transform them, which wait where the disk is slower.
"""


def page(study, points, missing, published):
    """`points`: {network: {(config, policy): measures}}; `missing`: {(policy,) or (network, config, policy): why}."""
    lines = [INTRODUCTION.format(source=published["source"], measured=study["measured_on"],
                                 profiled=", ".join(sorted(set(study.get("profiled", {}).values()))) or "no device")]
    for network in study["networks"]:
        if points.get(network["name"]):
            lines += network_section(study, network, points[network["name"]], published)
    slower = published["slower_than_flashmem"]
    lines.append(f"\nThe paper's naive overlaps: always-next up to {slower['always_next']} times, same-op-type up to "
                 f"{slower['same_op_type']} times slower than FlashMem (figure 9).")
    if missing:
        lines.append("\n## Not in the table\n")
        lines += missing_lines(missing)
    return "\n".join(lines) + "\n"
