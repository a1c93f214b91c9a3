"""How latency follows the speed of the disk, with plans made for it and with plans made for the device as it is."""

from evidence_studies import ready_ms
from markdown_page import table
from pictures import BLUE, GREEN, ORANGE, empty_figure
from section import Gathered, Section
from sections.disk_variant import disk_variant

ROLES = ("smartmem", "flashmem", "ours")
KEPT, ANEW = "plan kept", "planned anew"

INTRODUCTION = """\

## Sensitivity to disk speed

{phone} with its curve of disk bandwidths scaled to other plateaus ({speeds}; {device} as it is: {own}; the paper's figure 1 says 1.5
GB/s). After start-up, until the output, ms. Planned anew: for that disk, with launch times simulated there; kept: the plan of the
device as it is. `{preload}` has one plan. `{flashmem}` knows no disk: what its plans differ by is the launch times.
"""


def ready(point):
    return {"ready_ms": ready_ms(point), "peak_bytes": point["peak_bytes"]}


def anew(work, network, policy, phone):
    return ready(work.points.point(network, policy, phone))


def kept(work, network, policy, phone):
    plan, _ = work.points.plan(network, policy, work.device)
    result = work.run(network, policy["name"], plan, config=phone)
    return {"ready_ms": (result["latency"]["integrated_ns"] - result["latency"]["startup_ns"]) / 1e6,
            "peak_bytes": result["memory"]["peak_bytes"]}


def make(work):
    gathered = Gathered()
    for network in work.networks(work.study["disk_speed"]["networks"]):
        for speed in work.study["disk_speed"]["speeds"]:
            phone = work.device if speed == work.study["disk_speed"]["own"] else disk_variant(work, speed)
            for role in ROLES:
                policy = work.policy(work.study[role])
                gathered.add((network["published"], speed, f"{policy['name']}, {ANEW}"), anew, work, network, policy, phone)
                gathered.add((network["published"], speed, f"{policy['name']}, {KEPT}"), kept, work, network, policy, phone)
    return gathered


def at_speed(found, study, network, speed):
    """[(planned anew, kept) of each role], None where one is missing"""
    return [tuple(found.get((network, speed, f"{study[role]}, {how}")) for how in (ANEW, KEPT)) for role in ROLES]


def both_text(anew_facts, kept_facts):
    return " / ".join(f"{facts['ready_ms']:.0f}" if facts else "" for facts in (anew_facts, kept_facts))


def preload_text(anew_facts, kept_facts):
    facts = anew_facts or kept_facts
    return f"{facts['ready_ms']:.0f}" if facts else ""


def fastest(each, study):
    known = {study[role]: facts[0]["ready_ms"] for role, facts in zip(ROLES, each) if facts[0]}
    return f"`{min(known, key=known.get)}`" if len(known) == len(ROLES) else ""


def networks_of(found):
    return dict.fromkeys(network for network, *_ in found)


def lines(found, study, published):
    speeds = study["disk_speed"]["speeds"]
    yield INTRODUCTION.format(phone=study["phones"][study["device"]], device=study["device"], speeds=", ".join(speeds),
                              own=study["disk_speed"]["own"], preload=study["smartmem"], flashmem=study["flashmem"])
    rows = []
    for network in networks_of(found):
        for speed in speeds:
            each = at_speed(found, study, network, speed)
            rows.append([network, speed, preload_text(*each[0]), *(both_text(*facts) for facts in each[1:]), fastest(each, study)])
    head = ["network", "disk", f"`{study['smartmem']}`", *(f"`{study[role]}`: anew / kept" for role in ROLES[1:]), "fastest anew"]
    yield from table(head, rows)


def speed_number(speed):
    return float(speed.removesuffix("GB/s"))


def pictures(found, study, published):
    drawn = []
    for network in networks_of(found):
        figure = empty_figure(320, "plateau of the disk's bandwidth (GB/s)", "after start-up (ms)")
        for place, (role, colour) in enumerate(zip(ROLES, (BLUE, ORANGE, GREEN))):
            for how, dash in enumerate((None, "dot")) if role != "smartmem" else ((0, None),):
                points = [(speed_number(speed), at_speed(found, study, network, speed)[place][how])
                          for speed in study["disk_speed"]["speeds"]]
                points = [(speed, facts["ready_ms"]) for speed, facts in points if facts]
                figure.add_scatter(x=[speed for speed, _ in points], y=[ms for _, ms in points], mode="lines+markers",
                                   name=f"{study[role]}{', plan kept' if dash else ''}", line=dict(color=colour, dash=dash))
        drawn.append((f"disk-speed-{network.lower()}", figure, f"{network}: latency over disk speed, simulated"))
    return drawn


SECTION = Section("disk-speed", make, lines, pictures)
