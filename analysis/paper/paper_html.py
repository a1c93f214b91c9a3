"""The paper page as one self-contained HTML file, with pictures of the simulated against the published figures."""

import pathlib
import re
import sys

import markdown

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "report"))

from document import document, picture, section  # noqa: E402
from paper_page import MB, PAPERS_PHONE, Phone, init_ms  # noqa: E402
from pictures import BLUE, GREEN, GREY, ORANGE, empty_figure  # noqa: E402

LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")  # of the page to its neighbours; this file may lie anywhere
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


def html(study, points, published, page):
    """`page`: the Markdown of the same points."""
    phone = Phone(study, points, PAPERS_PHONE)
    title, _, text = page.partition("\n")
    pictures = section(
        "Beside the paper",
        picture("latency", against_paper("latency", "ms", latency_series(phone, published)),
                f"Latency on the simulated {study['phones'][PAPERS_PHONE]} over the paper's"),
        picture("average-memory", against_paper("average memory", "MB", memory_series(phone, published)),
                "Average memory over the paper's"))
    tables = markdown.markdown(LINK.sub(r"\1", text), extensions=["tables"]).replace("<table>", '<div class="scroll"><table>').replace(
        "</table>", "</table></div>")
    return document(title.lstrip("# "), title.lstrip("# "), published["source"], pictures + section("Tables", tables), "./fm paper")
