"""The published points of the study, phone by phone, and a picture of what is simulated over what is published."""

from likeness import geometric_mean
from pictures import BLUE, GREEN, GREY, ORANGE, empty_figure
from section import Gathered

MB = 1e6
# A colour and a mark each, so that no eye depends on colour alone.
STYLES = ((BLUE, "circle"), (ORANGE, "diamond"), (GREEN, "square"))


def make(work):
    """The points that tables 4 and 7 to 9 and figures 9 and 10 are about."""
    return Gathered(*work.collect(work.study))


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


def papers_phone(study, points):
    return Phone(study, points, study["device"])


def init_ms(point):
    return point["integrated_ms"] - point["exec_ms"]


def ms(value):
    return f"{value:.0f}"


def times(before, after):
    return f"{before / after:.2f}"


def means_line(what, paper, ratios):
    if ratios["ours"]:
        yield (f"\nGeometric means of {what}: paper {paper}, here {geometric_mean(ratios['flashmem']):.2f} and "
               f"{geometric_mean(ratios['ours']):.2f}.\n")


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
