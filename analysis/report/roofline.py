"""Where launches lie under the device's roofs, in time (Williams, Waterman and Patterson, CACM 52(4), 2009) and
in energy (Choi, Bedard, Fowler and Vuduc, IPDPS 2013). Roofs are from the result's config, points from its launches."""

from device_rates import DeviceRates
from pictures import BLUE, GREY, ORANGE, PURPLE, RED, empty_figure
from quantities import bytes_text, energy_text, large_text, percent_text, time_text
from tables import duration, text

MOST_POINTS = 600  # launches; those that took longest
# Of a memory level: colour, mark, dash.
LEVELS = {"dram": (BLUE, "circle", "solid"), "l2": (ORANGE, "square", "dash"), "texture": (PURPLE, "diamond", "dot")}
LEVEL_NAMES = {"dram": "DRAM", "l2": "L2", "texture": "texture unit"}


def _half_arithmetic(result):
    """Whether FMAs ran at half precision: by their energy, which the config has for either."""
    rates = DeviceRates(result["config"])
    energy = result["energy"]["by_component"].get("alu_fma")
    operations = result["counters"].get("core.operations.fma", {}).get("value")
    known = (rates["energy.fma"], rates["energy.fma_half"])
    if not energy or not operations or None in known:
        return False
    each = energy * 1e-9 / operations
    return abs(each - known[1]) < abs(each - known[0])


def peak_flops(result):
    """Floating-point operations a second, two an FMA, or None when the config has no such numbers."""
    rates = DeviceRates(result["config"])
    peak = rates.product("gpu.fma_per_clock", "gpu.cores", "gpu.clock")
    if peak is None:
        return None
    return 2 * peak * ((rates["gpu.fp16_ratio"] or 1) if _half_arithmetic(result) else 1)


def bandwidths(result):
    """Bytes a second of the levels whose numbers the config has."""
    rates = DeviceRates(result["config"])
    dram = rates.product("dram.channels", "dram.channel_width_bits", "dram.data_rate")
    links = rates.product("noc.bytes_per_clock", "gpu.cores", "gpu.clock")
    slices = rates.product("l2.slices", "l2.bytes_per_clock", "gpu.clock")
    texture = rates.product("texture.bytes_per_clock", "gpu.cores", "gpu.clock")
    found = {"dram": dram and dram / 8,
             "l2": min(2 * links, slices) if links is not None and slices is not None else None,
             "texture": texture}
    return {level: bandwidth for level, bandwidth in found.items() if bandwidth}


def _placed(launches):
    """The launches that have a place, the longest first."""
    placed = [launch for launch in launches if launch.get("roofline", {}).get("intensity")]
    return sorted(placed, key=duration, reverse=True)[:MOST_POINTS]


def _log_axes(figure):
    figure.update_layout(xaxis=dict(type="log", exponentformat="power"), yaxis=dict(type="log", exponentformat="power"),
                         showlegend=True)
    return figure


def _hover(launch, level):
    roofline = launch["roofline"]
    return "<br>".join([
        f"<b>{text(launch['id'])}</b> {text(launch['operation'])}, {time_text(duration(launch))}",
        f"{large_text(roofline['flops'])}FLOP, {roofline['intensity'][level]:.3g} FLOP/B at the "
        f"{LEVEL_NAMES.get(level, level)}",
        f"{roofline['achieved_gflops']:.3g} of {roofline['attainable_gflops']:.3g} GFLOP/s attainable "
        f"({percent_text(roofline['achieved_gflops'] / roofline['attainable_gflops'])}): {text(roofline['bound'])}"])


def time_roofline(result):
    """Rate over intensity, a mark a launch and level under the roof of that level. None without launches that have
    a place, or without a config that has the roofs."""
    launches, peak, memory = _placed(result["launches"]), peak_flops(result), bandwidths(result)
    if not launches or not peak or not memory:
        return None
    figure = empty_figure(460, "floating-point operations a byte", "GFLOP/s")
    intensities = [value for launch in launches for value in launch["roofline"]["intensity"].values()]
    low, high = min(intensities) / 2, max(*intensities, *(2 * peak / rate for rate in memory.values())) * 2
    for level, rate in memory.items():
        colour, mark, dash = LEVELS[level]
        ridge = peak / rate
        figure.add_scatter(x=[low, ridge, high], y=[low * rate * 1e-9, peak * 1e-9, peak * 1e-9], mode="lines",
                           name=f"{LEVEL_NAMES[level]} {bytes_text(rate)}/s", legendgroup=level, hoverinfo="name",
                           line=dict(color=colour, width=2, dash=dash), meta=f"roof {level}")
        mine = [launch for launch in launches if level in launch["roofline"]["intensity"]]
        if mine:
            figure.add_scatter(
                x=[launch["roofline"]["intensity"][level] for launch in mine],
                y=[launch["roofline"]["achieved_gflops"] for launch in mine], mode="markers", meta=level,
                name=f"launches, {LEVEL_NAMES[level]}", legendgroup=level,
                marker=dict(color=colour, symbol=mark, size=8, opacity=0.85),
                customdata=[launch["id"] for launch in mine], hovertext=[_hover(launch, level) for launch in mine],
                hovertemplate="%{hovertext}<extra></extra>")
    return _log_axes(figure)


def energy_of_work(result):
    """(joules a floating-point operation, joules a byte of DRAM), or None."""
    rates = DeviceRates(result["config"])
    fma = rates["energy.fma_half" if _half_arithmetic(result) else "energy.fma"]
    bit = rates["energy.dram_read_bit"]
    return None if fma is None or bit is None else (fma / 2, 8 * bit)


def energy_roofline(result):
    """Operations a joule over intensity at DRAM: the arch is arithmetic and DRAM reads alone, without what is static or
    in between. None where the result or its config has no energies."""
    launches = [launch for launch in _placed(result["launches"])
                if "dram" in launch["roofline"]["intensity"] and launch.get("energy", {}).get("total_nj")]
    work = energy_of_work(result)
    if not launches or work is None:
        return None
    operation, byte = work
    figure = empty_figure(420, "floating-point operations a byte of DRAM", "GFLOP/J")
    found = [launch["roofline"]["intensity"]["dram"] for launch in launches]
    low, high = min(*found, byte / operation) / 4, max(*found, byte / operation) * 4
    steps = [low * (high / low) ** (index / 60) for index in range(61)]
    figure.add_scatter(x=steps, y=[1e-9 / (operation + byte / step) for step in steps], mode="lines", meta="roof",
                       name="arithmetic and DRAM reads alone", line=dict(color=GREY, width=2), hoverinfo="name")
    figure.add_scatter(
        x=found, y=[launch["roofline"]["flops"] / launch["energy"]["total_nj"] for launch in launches],
        mode="markers", name="launches", meta="launches",
        marker=dict(color=RED, symbol="circle", size=8, opacity=0.85), customdata=[launch["id"] for launch in launches],
        hovertext=[f"<b>{text(launch['id'])}</b> {text(launch['operation'])}<br>"
                   f"{large_text(launch['roofline']['flops'])}FLOP, {energy_text(launch['energy']['total_nj'])}<br>"
                   f"{launch['roofline']['intensity']['dram']:.3g} FLOP/B of DRAM" for launch in launches],
        hovertemplate="%{hovertext}<extra></extra>")
    return _log_axes(figure)
