"""docs/paper.md: the sections of the paper's evaluation between what all have in common and what none has."""

from evidence_page import missing_lines

INTRODUCTION = """\
# The paper's evaluation, simulated

Written by `./fm paper` (`analysis/paper/`), which keeps finished points and resumes. {source} is the paper; every column named
"paper" is printed there, for its own software on a real phone. All else is simulated (`fmsim --sample auto`, traces composed from
launches recorded once): {phones}. Nothing is fitted to these tables as a whole, but a few constants of `configs/`
were chosen from single figures of the paper: they are listed [below](#which-constants-come-from-the-paper). What is not said to be of
another phone is of the {phone}.

- SmartMem preloads: here it is `{smartmem}`. FlashMem is `{flashmem}`, the paper's problem as printed. `{ours}` is this project's: it may
  hold all activations and 0.15 of the weights. All are fp16, batch 1, cold: from nothing to the output.
- Initialisation: all before the first launch starts. Integrated: that and execution. Averages are over the integrated time.
- Networks are skeletons of the same architectures, parameters and work ([models/README.md](../models/README.md)).
- Single points with all that is known of them: [evidence.md](evidence.md). Execution alone, launch by launch: [networks.md](networks.md).
- Order: the paper's tables and figures, then what the paper could not show, then what does not reproduce and what is missing.
"""

DIFFERENCES = """\

## What does not reproduce, and why
- **Initialisation**, and with it the speed-up over SmartMem. The paper's SmartMem transforms weights at start-up for seconds; here
  `fmplan pack` writes them in their final layout beforehand, so that preloading is a read and a copy. What is left for streaming to gain
  is overlap, not that transform. Start-up is a constant of the config, the same for all networks.
- **The number of warm runs after which preloading pays** (the paper: {least} to {most}), for the same reason: preloading costs little more
  than one run here, so that it pays from the first runs on.
- **What OPG adds over SmartMem** (figure 7), for the same reason; and `lc-opg` knows no disk, so that its reads may wait.
- **Adaptive fusion, rewritten kernels and the naive overlaps** (figures 7 and 9) change little: capacity suffices, so that nothing is split;
  a kernel that streams is one more program to load, which copies are not; and all policies wait for the same disk.
- **Memory** is compared with less of it: the simulator counts what the plan's objects take, phones also drivers and
  runtimes.
- **Power** is a model of events with published energies a bit or an operation, not a battery's.
- **MNN, NCNN, TVM, LiteRT and ExecuTorch** (tables 1, 7 and 8) are not simulated: their kernels are not ours to record.
- **SmartMem running out of memory** on the Pixel 8 and the Mi 6 (figure 10): it does so with GPTN-1.3B, which is
  simulated on the {phone} alone.
- {elsewhere} are simulated on {phone} only: elsewhere each takes hours.
"""


def page(study, made, published):
    """`made`: [(Section, Gathered)], in the order of the page."""
    return "\n".join([opening(study, published), *(line for section, gathered in made
                                                   for line in section.lines(gathered.found, study, published)),
                      closing(study, made, published)]) + "\n"


def opening(study, published):
    return INTRODUCTION.format(
        source=published["source"], smartmem=study["smartmem"], flashmem=study["flashmem"], ours=study["ours"],
        phone=study["phones"][study["device"]], phones=", ".join(f"{name} (`{config}`)" for config, name in study["phones"].items()))


def all_missing(made):
    """{(first section that misses it, where): why}; several sections may be about the same points."""
    missing, seen = {}, set()
    for section, gathered in made:
        if id(gathered) not in seen:
            missing.update({(section.name, *where): why for where, why in gathered.missing.items()})
            seen.add(id(gathered))
    return missing


def closing(study, made, published):
    phone = study["phones"][study["device"]]
    alone = [network["published"] for network in study["networks"] if "only" in network]
    least, most = published["repeats_until_smartmem_is_faster"]
    lines = [DIFFERENCES.format(elsewhere=", ".join(alone), phone=phone, least=least, most=most).rstrip()]
    missing = all_missing(made)
    if missing:
        lines += ["", "## Not simulated", "", *missing_lines(missing)]
    return "\n".join(lines)
