"""Table 7: latency."""

from likeness import likeness_text
from markdown_page import table
from section import Section
from sections.phone_points import against_paper, init_ms, make, means_line, ms, papers_phone, times


def lines(found, study, published):
    phone = papers_phone(study, found)
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


def pictures(found, study, published):
    phone = papers_phone(study, found)
    return [("latency", against_paper("latency", "ms", latency_series(phone, published)),
             f"Latency on the simulated {study['phones'][study['device']]} over the paper's")]


SECTION = Section("table7", make, lines, pictures)
