"""docs/paper.md: the evidence table beside the paper's numbers."""

MIB = 1 << 20


def number(value, form, scale=1.0):
    return "" if value is None else format(value / scale, form)


HEAD = ("| device | policy | integrated ms | exec ms | of floor | peak MiB | average MiB | weights: peak, of all | "
        "preloaded / UM / TM / activations / staging MiB | energy mJ | coverage | timely | accurate | plan s | gap |")


def row(config, policy, point):
    ready = point["integrated_ms"] - point["startup_ms"]
    floor = point["floor_ms"]
    classes = " / ".join(number(point["by_class"][name], ".0f", MIB) for name in point["by_class"])
    weights = point["weights_peak_bytes"]
    solver = point.get("solver") or {}
    cells = [config, policy, f"{point['integrated_ms']:.0f}", f"{point['exec_ms']:.0f}",
             f"{ready / floor:.2f}" if floor else "", number(point["peak_bytes"], ".0f", MIB),
             number(point["average_bytes"], ".0f", MIB),
             f"{weights / MIB:.0f}, {weights / point['weights_bytes']:.2f}", classes,
             number(point["energy_mj"], ".0f"), number(point["coverage"], ".2f"),
             number(point["timeliness"], ".2f"), number(point["accuracy"], ".2f"),
             number(point["plan_s"], ".2f"), number(solver.get("gap"), ".1%")]
    return "| " + " | ".join(cells) + " |"


def published_lines(published, name):
    latency, memory = published["latency_ms"][name], published["average_memory_mb"][name]
    yield (f"The paper's {name} ({published['parameters_million'][name]} M parameters, "
           f"{published['macs_giga'][name]} GMAC, table 6) on an Adreno 750: SmartMem, which preloads, "
           f"{latency['smartmem_init']} + {latency['smartmem_exec']} ms, {memory['smartmem']} MB on average; "
           f"FlashMem {latency['flashmem']} ms integrated, {memory['flashmem']} MB (tables 7 and 8)"
           + (f"; its solver {published['solver_s'][name]:.0f} s (table 4)." if name in published["solver_s"]
              else "."))


def network_section(network, points, published):
    yield f"\n## {network['name']}\n"
    yield from published_lines(published, network["published"])
    yield "\n" + HEAD
    yield "|" + "---|" * (HEAD.count("|") - 1)
    for (config, policy), point in points.items():
        yield row(config, policy, point)
    yield from comparisons(points)


def comparisons(points):
    """How the policies compare where preload and others are both there."""
    for config in dict.fromkeys(config for config, _ in points):
        here = {policy: point for (at, policy), point in points.items() if at == config}
        best = min(here, key=lambda policy: here[policy]["integrated_ms"])
        if "preload" not in here or len(here) < 2:
            continue
        least = min(here.values(), key=lambda point: point["weights_peak_bytes"])
        reduction = here["preload"]["weights_peak_bytes"] / least["weights_peak_bytes"]
        yield (f"\n{config}: fastest is {best}; weights peak {reduction:.1f} times lower than preloaded at best.")


INTRODUCTION = """\
# The evidence table

Written by `./fm paper` (`analysis/paper/`), which keeps finished points and resumes. {source} is the paper.

Devices but {measured} are simulated (`fmsim --sample auto`, traces composed from launches recorded once); {measured} is this
computer: fmexec on PoCL, programs cached, no energy. Integrated: from nothing to the output, start-up (context and programs)
included. Of floor: (integrated - start-up) / max(disk, compute, DRAM). Weights: preloaded + in flight + staging. Coverage,
timely, accurate: shares of weight bytes as `analysis/paper/measures.py` defines them. Plan: seconds of fmplan as a whole.
The paper's figures are for its own models and phone software, and comparable in kind, not digit by digit.
"""


def page(study, points, missing, published):
    """`points`: {network: {(config, policy): measures}}; `missing`: {policy: why}."""
    lines = [INTRODUCTION.format(source=published["source"], measured=study["measured_on"])]
    for network in study["networks"]:
        if points.get(network["name"]):
            lines += network_section(network, points[network["name"]], published)
    slower = published["slower_than_flashmem"]
    lines.append(f"\nThe paper's naive overlaps: always-next up to {slower['always_next']} times, same-op-type up to "
                 f"{slower['same_op_type']} times slower than FlashMem (figure 9).")
    if missing:
        lines.append("\n## Not in the table\n")
        lines += [f"- {what}: {why}" for what, why in missing.items()]
    return "\n".join(lines) + "\n"
