"""Table 8: average memory, and the peak, which the paper does not print."""

from likeness import likeness_text
from markdown_page import table
from section import Section
from sections.phone_points import MB, against_paper, make, means_line, papers_phone, times


def lines(found, study, published):
    phone = papers_phone(study, found)
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


def memory_series(phone, published):
    memory = published["average_memory_mb"]
    return {name: [(network, point["average_bytes"] / MB, memory[network][who])
                   for network, point in phone.with_policies(role) if who in memory[network]]
            for name, role, who in (("weights preloaded", "smartmem", "smartmem"), ("streamed", "flashmem", "flashmem"))}


def pictures(found, study, published):
    series = memory_series(papers_phone(study, found), published)
    return [("average-memory", against_paper("average memory", "MB", series), "Average memory over the paper's")]


SECTION = Section("table8", make, lines, pictures)
