"""Table 9: power and energy."""

from likeness import likeness_text
from markdown_page import table
from section import Section
from sections.phone_points import make, papers_phone


def watts(point):
    return point["energy_mj"] / point["integrated_ms"]


def lines(found, study, published):
    phone = papers_phone(study, found)
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


SECTION = Section("table9", make, lines)
