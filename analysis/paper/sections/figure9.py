"""Figure 9: naive overlaps."""

from markdown_page import table
from section import Section
from sections.phone_points import make, papers_phone


def lines(found, study, published):
    phone = papers_phone(study, found)
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


SECTION = Section("figure9", make, lines)
