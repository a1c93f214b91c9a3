"""Figure 10: other phones."""

from likeness import geometric_mean
from markdown_page import table
from section import Section
from sections.phone_points import MB, Phone, make, ms


def lines(found, study, published):
    yield (f"\n## Figure 10: other phones\n\nIntegrated ms and average MB of `{study['smartmem']}`, `{study['flashmem']}`, "
           f"`{study['ours']}`; geometric means of latency and memory of the first over those of the others.\n")
    rows = []
    for config, name in study["phones"].items():
        phone = Phone(study, found, config)
        each_network = phone.with_policies("smartmem", "flashmem", "ours")
        for network, *each in each_network:
            rows.append([name, network, " / ".join(ms(point["integrated_ms"]) for point in each),
                         " / ".join(f"{point['average_bytes'] / MB:.0f}" for point in each), "", ""])
        if each_network:
            rows.append([f"**{name}**", f"{len(each_network)} networks", "", "",
                         *(" / ".join(f"{geometric_mean([base[key] / point[key] for base, point in pairs]):.2f}"
                                      for pairs in ([(one[1], one[2]) for one in each_network], [(one[1], one[3]) for one in each_network]))
                           for key in ("integrated_ms", "average_bytes"))])
    yield from table(["phone", "network", "integrated ms", "average MB", "latency, times", "memory, times"], rows)


SECTION = Section("figure10", make, lines)
