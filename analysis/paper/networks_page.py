"""docs/networks.md: what the eleven networks do under FlashMem."""

import sys

from command_line import ROOT

sys.path.append(str(ROOT / "bench"))

from markdown_page import table  # noqa: E402

MIB = 1 << 20
WITHIN = 0.4  # how far execution may be from SmartMem's before it is marked
LEAST_SHOWN = 0.02  # share of a network's time
TEXTURE_BOUND = 0.6  # share of the texture pipes' peak above which a network is taken apart

INTRODUCTION = """\
# The eleven networks

Written by `./fm networks` (`analysis/paper/`), which keeps finished points and resumes. {source} is the paper; what the
networks are, and where they differ from the paper's: [models/README.md](../models/README.md).
"""

PLANS = """
## Plans

Seconds that fmplan takes, per device {configs}; launches of `preload`. `lc-opg` and `optimal` estimate launch times here.
"""

SIMULATED = """
## Simulated, weights preloaded

Recorded without weights (`fmexec --record` without `--weights`), simulated with `fmsim --sample auto`. Images, half
precision, batch 1. Execution is from the first launch's start to the last one's end; ±: the sampling's error bound. SmartMem: the
paper's table 7, Adreno 750; GMAC/s: multiply-adds a second of execution, ours and SmartMem's (of the paper's count). Texture: how busy the texture pipes
are while launches run, of their peak. Where all weights are more than an app may hold, they stream under the policy beside the time.
The paper's SmartMem does 164 GMAC/s in Whisper, its least of all transformers (197 to 339 in the others); here they run the same
kernels at like rates. The paper does not say what its Whisper contains.
"""

KERNELS = """
### Networks above {share:.0%} of the texture pipes' peak on adreno-750

Where their time goes, kernel by kernel: launches, share of the time, how busy the texture pipes are in it, what bounds most of it.
"""

ALIKE = """
#### Launch by launch

Their launches above {share:.0%}, those alike in one row, from {least:.0%} of the network's time. A launch cannot compute faster than
its texels arrive: FLOP a byte that it asks of the texture pipes, the rate that their peak allows with it (the roof), and what
it achieves of that. Waves: those that a core holds at once, and what keeps it from holding more.
"""

MEASURED = """
## Run on this computer

PoCL, both with all cores, buffers: {options}. Error: the largest of the outputs' relative errors, ‖ours − ONNX Runtime's‖ / ‖ONNX Runtime's‖.
Execution beside ONNX Runtime's run: medians of three. Memory: max(VmHWM, VmRSS + VmSwap) of the process when programs are cached; cached: what is
left of the weights file in the page cache.
"""


def seconds_of(facts):
    return "refused" if isinstance(facts, str) else f"{facts['seconds']:.2f}"


def plan_rows(content, points):
    for network, plans in points.items():
        configs, policies = content["configs"], content["policies"]
        launches = [plans[config, "preload"]["launches"]["kernels"] for config in configs]
        yield [network, " / ".join(map(str, launches)),
               *(" / ".join(seconds_of(plans[config, policy]) for config in configs) for policy in policies)]


def refusals(points):
    for network, plans in points.items():
        for (config, policy), facts in plans.items():
            if isinstance(facts, str):
                yield f"- {network}, {config}, {policy}: {facts}"


def milliseconds(facts):
    bound, policy = facts["error_bound"], facts["policy"]
    return (f"{facts['exec_ms']:.1f}" + (f" ± {bound:.0%}" if bound and bound >= 0.005 else "")
            + ("" if policy == "preload" else f" ({policy})"))


def beside(facts, published, macs_giga):
    """(SmartMem's execution, ours relative to it, GMAC/s of both)"""
    theirs = published.get("smartmem_exec")
    if theirs is None:
        return "", "", f"{facts['macs'] / 1e6 / facts['exec_ms']:.0f}"
    ratio = facts["exec_ms"] / theirs
    return (str(theirs), f"{ratio:.2f}" + ("" if abs(ratio - 1) <= WITHIN else " (outside)"),
            f"{facts['macs'] / 1e6 / facts['exec_ms']:.0f} / {1e3 * macs_giga / theirs:.0f}")


def paper_cells(facts, published, macs_giga):
    if facts is None:
        return [""] * 7
    return [milliseconds(facts), *beside(facts, published, macs_giga), f"{facts['texture_share']:.0%}",
            f"{facts['integrated_ms']:.0f}", f"{facts['peak_bytes'] / MIB:.0f}"]


def other_cells(facts):
    return [milliseconds(facts), f"{facts['texture_share']:.0%}"] if facts else ["", ""]


def simulated_rows(content, points, published):
    first, *others = content["configs"]
    for network in content["networks"]:
        if network["name"] not in points:
            continue
        found = points[network["name"]]
        theirs = published["latency_ms"].get(network.get("published"), {})
        macs_giga = published["macs_giga"].get(network.get("published"))
        yield [network["name"], *paper_cells(found.get(first), theirs, macs_giga),
               *(cell for config in others for cell in other_cells(found.get(config)))]


def simulated_head(content):
    first, *others = content["configs"]
    return ["network", f"{first}: execution ms", "SmartMem", "of SmartMem's", "GMAC/s", "texture", "integrated ms", "peak MiB",
            *(cell for config in others for cell in (f"{config}: execution ms", "texture"))]


def taken_apart(content, points):
    """(network, its facts on the first device) of those that keep the texture pipes busy"""
    for network, found in points.items():
        facts = found.get(content["configs"][0])
        if facts is not None and facts["texture_share"] > TEXTURE_BOUND:
            yield network, facts


def total_ns(facts):
    return sum(ns for _, _, ns, _, _ in facts["kernels"])


def kernel_rows(content, points):
    for network, facts in taken_apart(content, points):
        total = total_ns(facts)
        for kernel, launches, ns, share, bound in facts["kernels"]:
            if ns >= LEAST_SHOWN * total:
                yield [network, kernel, str(launches), f"{ns / total:.0%}", f"{share:.0%}", bound]


def alike_rows(content, points):
    for network, facts in taken_apart(content, points):
        total = total_ns(facts)
        for row in facts["alike"]:
            if row["ns"] < LEAST_SHOWN * total or row["texture_share"] <= TEXTURE_BOUND:
                continue
            achieved = 2 * row["macs"] * row["launches"] / row["ns"]
            yield [network, f"{row['kernel']} ({row['operation']})", str(row["launches"]), f"{row['macs'] / 1e6:.1f}",
                   f"{row['ns'] / row['launches'] / 1e3:.0f}", f"{row['ns'] / total:.0%}", f"{row['texture_share']:.0%}",
                   f"{row['flops_per_texture_byte']:.2f}", f"{row['roof_gflops']:.0f}", f"{achieved / row['roof_gflops']:.0%}",
                   f"{row['occupancy']['waves']} ({row['occupancy']['limit']})"]


def measured_rows(points):
    for network, kinds in points.items():
        for kind, facts in kinds.items():
            theirs = facts["runtime"]
            yield [network, kind, str(facts["launches"]), f"{max(facts['errors'].values()):.1e}",
                   f"{facts['exec_ms'] / 1e3:.2f}", f"{facts['exec_ms'] / 1e3 / theirs['seconds']:.1f}",
                   f"{facts['integrated_ms'] / 1e3:.2f}", f"{facts['process_bytes'] / MIB:.0f}",
                   f"{theirs['peak_bytes'] / MIB:.0f}", f"{facts['weights_file_bytes'] / MIB:.0f}",
                   f"{facts['cached_bytes'] / MIB:.1f}"]


def missing_line(content, points):
    absent = [network["name"] for network in content["networks"] if network["name"] not in points]
    return f"\nNot measured yet: {', '.join(absent)}." if absent else ""


def page(content, points, published):
    """`points`: {"plans", "simulated", "measured": {network: facts}}."""
    configs = " / ".join(content["configs"])
    lines = [INTRODUCTION.format(source=published["source"]), PLANS.format(configs=configs)]
    lines += table(["network", "launches", *content["policies"]], plan_rows(content, points["plans"]))
    lines += refusals(points["plans"])
    lines.append(SIMULATED)
    lines += table(simulated_head(content), simulated_rows(content, points["simulated"], published))
    lines += [missing_line(content, points["simulated"]), KERNELS.format(share=TEXTURE_BOUND)]
    lines += table(["network", "kernel", "launches", "of the time", "texture", "bound"],
                   kernel_rows(content, points["simulated"]))
    lines.append(ALIKE.format(share=TEXTURE_BOUND, least=LEAST_SHOWN))
    lines += table(["network", "kernel", "launches", "MMAC each", "us each", "of the time", "texture", "FLOP a byte",
                    "roof GFLOP/s", "of it", "waves"], alike_rows(content, points["simulated"]))
    kinds = "; ".join(f"{kind}: `{' '.join(content[kind]['options'])}`" for kind in ("preloaded", "streamed"))
    lines.append(MEASURED.format(options=kinds))
    lines += table(["network", "weights", "launches", "error", "execution s", "of ONNX Runtime's", "integrated s",
                    "memory MiB", "ONNX Runtime's", "weights file MiB", "cached MiB"], measured_rows(points["measured"]))
    lines.append(missing_line(content, points["measured"]))
    return "\n".join(lines) + "\n"
