"""Time and energy rooflines of the device at its operating points, and a network at each."""

import dataclasses
import re

from markdown_page import table
from pictures import BLUE, GREEN, ORANGE, PURPLE, RED, SKY, empty_figure
from section import Gathered, Section

POINT = re.compile(r"\[([\d.]+),\s*([\d.]+) V\]")
PARTS = {"gpu": "gpu.operating_points", "dram": "dram.operating_points"}
DRAM_PIN_BITS, BYTE = 16, 8  # of an LPDDR channel

INTRODUCTION = """\

## Time and energy rooflines by operating point

{phone} (`{device}`) at each operating point of its GPU with the DRAM at its fastest, then of its DRAM with the GPU at its fastest.
Peaks: GMAC/s of half precision, GB/s of all DRAM channels; balance: MAC a byte of DRAM at which both take as long. Energy: of one
MAC's arithmetic and of one byte read from DRAM, which go with the voltage squared; balance: MAC a byte at which both take as much;
static power goes with the voltage. What caches, registers and wires take is not in these two but in the simulated energy. {network}:
`{policy}`, simulated with the part held at the point: `governor.gpu=ramp` (or `governor.dram`) with that point as the slowest and a
threshold that is never passed. Execution, its mean power, and energy from the first launch's start to the last one's end.
"""


@dataclasses.dataclass(frozen=True)
class Roofline:
    """Of one operating point. GMAC/s, GB/s; pJ a MAC and a byte; static power in mW."""
    compute: float
    bandwidth: float
    mac_pj: float
    byte_pj: float
    static_mw: float

    def balance(self):
        return self.compute / self.bandwidth

    def energy_balance(self):
        return self.byte_pj / self.mac_pj

    def attainable(self, intensity):
        """GMAC/s at so many MAC a byte."""
        return min(self.compute, self.bandwidth * intensity)

    def gmac_per_joule(self, intensity):
        """Arithmetic, DRAM and static power at the attainable rate."""
        static_pj = self.static_mw / self.attainable(intensity)  # mW / (GMAC/s) = pJ a MAC
        return 1e3 / (self.mac_pj + self.byte_pj / intensity + static_pj)


def points_of(curve):
    """[(share of the fastest clock, volts)], the slowest first."""
    return [(float(share), float(volts)) for share, volts in POINT.findall(curve)]


def roofline_of(config, gpu, dram):
    """`gpu`, `dram`: (share of the fastest clock, share of its voltage)."""
    compute = (config.number("gpu.cores") * config.number("gpu.fma_per_clock") * config.number("gpu.fp16_ratio")
               * config.number("gpu.clock") / 1e9)
    bandwidth = config.number("dram.channels") * config.number("dram.data_rate") * DRAM_PIN_BITS / BYTE / 1e9
    fixed = config.number("energy.static_cpu") + config.number("energy.static_storage")
    static = config.number("energy.static_gpu") * gpu[1] + config.number("energy.static_memory") * dram[1] + fixed
    return Roofline(compute * gpu[0], bandwidth * dram[0], config.number("energy.fma_half") * gpu[1]**2,
                    BYTE * config.number("energy.dram_read_bit") * dram[1]**2, static)


# ---- making
def held_at(part, share, volts, fastest):
    """fmsim's words that hold a part at a point: no part is busier than all the time. None at the fastest, where it is anyway."""
    if (share, volts) == fastest:
        return ()
    points = f"[[{share:g}, {volts:g} V], [{fastest[0]:g}, {fastest[1]:g} V]]"
    threshold = "governor.up_threshold" if part == "gpu" else "governor.dram_up_threshold"
    return ("--set", f"{PARTS[part]}={points}", "--set", f"governor.{part}=ramp", "--set", f"{threshold}=1")


def facts_of(work, network, policy, part, share, volts, fastest):
    config = work.config()
    ratio = (share / fastest[0], volts / fastest[1])
    roofline = roofline_of(config, *((ratio, (1, 1)) if part == "gpu" else ((1, 1), ratio)))
    plan, _ = work.points.plan(network, policy, work.device)
    result = work.run(network, policy["name"], plan, settings=held_at(part, share, volts, fastest))
    energy = result["energy"]
    return {"roofline": dataclasses.asdict(roofline), "volts": volts, "share": share, "exec_ms": result["latency"]["exec_ns"] / 1e6,
            "exec_mj": (energy["total_nj"] - energy["outside_launches_nj"]) / 1e6,
            "clocks_mhz": sorted({launch["clock_mhz"] for launch in result["launches"] if "clock_mhz" in launch})}


def make(work):
    gathered = Gathered()
    wanted = work.study["operating_points"]
    for network in work.networks([wanted["network"]]):
        policy = work.policy(wanted["policy"])
        for part, path in PARTS.items():
            points = points_of(work.config().values[path])
            for share, volts in reversed(points if part == "gpu" else points[:-1]):
                gathered.add((network["published"], part, f"{share:g}"), facts_of, work, network, policy, part, share, volts, points[-1])
    return gathered


# ---- printing
def point_name(part, facts):
    clocks = "–".join(f"{clock:.0f}" for clock in (facts["clocks_mhz"][:1] + facts["clocks_mhz"][1:][-1:]))
    return f"GPU {clocks} MHz" if part == "gpu" else f"DRAM {facts['share']:.0%}"


def row(part, facts):
    roofline = Roofline(**facts["roofline"])
    return [point_name(part, facts), f"{facts['volts']:g}", f"{roofline.compute:.0f}", f"{roofline.bandwidth:.1f}",
            f"{roofline.balance():.1f}",
            f"{roofline.mac_pj:.2f}", f"{roofline.byte_pj:.1f}", f"{roofline.energy_balance():.0f}", f"{roofline.static_mw:.0f}",
            f"{facts['exec_ms']:.1f}", f"{facts['exec_mj'] / facts['exec_ms']:.2f}", f"{facts['exec_mj']:.0f}",
            f"{facts['exec_ms'] * facts['exec_mj'] / 1e3:.1f}"]


def lines(found, study, published):
    wanted = study["operating_points"]
    network = next(item["published"] for item in study["networks"] if item["name"] == wanted["network"])
    yield INTRODUCTION.format(phone=study["phones"][study["device"]], device=study["device"], network=network, policy=wanted["policy"])
    yield from table(["point", "V", "GMAC/s", "GB/s", "balance of time, MAC/B", "pJ/MAC", "pJ/B", "of energy, MAC/B", "static mW",
                      f"{network}: ms", "W", "mJ", "J x ms"],
                     [row(part, facts) for (_, part, _), facts in found.items()])
    for part, named in (("gpu", "of the GPU's points"), ("dram", "of the DRAM's")):
        here = [facts for (_, at, _), facts in found.items() if at == part]
        if here:
            least = min(here, key=lambda facts: facts["exec_mj"])
            yield f"\nLeast energy {named}: {point_name(part, least)}, {least['exec_mj']:.0f} mJ."


def pictures(found, study, published):
    if not found:
        return []
    intensities = [2 ** (power / 2) for power in range(-2, 21)]
    time, energy = (empty_figure(360, "MAC a byte of DRAM", unit) for unit in ("GMAC/s", "GMAC/J"))
    for ((_, part, _), facts), colour in zip(found.items(), (BLUE, SKY, GREEN, ORANGE, RED, PURPLE)):
        roofline = Roofline(**facts["roofline"])
        for figure, rate in ((time, roofline.attainable), (energy, roofline.gmac_per_joule)):
            figure.add_scatter(x=intensities, y=[rate(intensity) for intensity in intensities], name=point_name(part, facts), mode="lines",
                               line=dict(color=colour, dash="dash" if part == "dram" else None))
    for figure in (time, energy):
        figure.update_xaxes(type="log")
        figure.update_yaxes(type="log")
    return [("time-roofline", time, "Time roofline by operating point"), ("energy-roofline", energy, "Energy roofline by operating point")]


SECTION = Section("operating-points", make, lines, pictures)
