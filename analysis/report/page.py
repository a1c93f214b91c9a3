"""Puts a result together as one self-contained HTML page."""

import overlap
import pictures
import roofline
import tables
from device_rates import DeviceRates
from document import card, document, pair, picture, searchable, section
from hierarchy import edges_table, hierarchy_picture
from quantities import bytes_text, energy_text, percent_text, three_digits, time_text
from tables import folded


def device_of(result):
    """The simulated device, or the OpenCL device that fmexec measured."""
    config = result["config"]
    measured = config.get("device")
    if isinstance(measured, dict) and "name" in measured:
        return str(measured["name"])
    return str(config.get("description") or config.get("name") or result["tool"])


def floor_of(result):
    """(the resource that needs longest by itself, its time in ns)."""
    floors = {key[: -len("_ns")]: value for key, value in result["floor"].items()}
    return max(((name, floors[name]) for name in ("disk", "compute", "dram")), key=lambda f: f[1])


def latency_cards(result):
    latency = result["latency"]
    return [
        card("integrated", "Integrated latency", latency["integrated_ns"],
             time_text(latency["integrated_ns"]),
             [f"from start-up to the last output; start-up {time_text(latency['startup_ns'])}, "
              f"first launch after {time_text(latency['init_ns'])}"]),
        card("exec", "Execution", latency["exec_ns"], time_text(latency["exec_ns"]),
             [f"{len(result['launches'])} launches"])]


def floor_card(result):
    name, floor = floor_of(result)
    if floor <= 0:
        return card("floor", "Distance from floor", None, "—", ["no floor in this result"])
    distance = result["latency"]["integrated_ns"] / floor
    floors = ", ".join(f"{key} {time_text(result['floor'][key + '_ns'])}"
                       for key in ("disk", "compute", "dram"))
    return card("floor", "Distance from floor", distance, f"{three_digits(distance)} ×",
                [f"{name} alone needs {time_text(floor)}", f"floors: {floors}"])


def bound_of(result):
    """(what bounded most of the launches' time, its share of that time, its launches), or None."""
    groups = tables.grouped(result["launches"], "bound")
    whole = sum(map(tables.duration, result["launches"]))
    if not whole or groups[0][0] == "":
        return None
    bound, launches = groups[0]
    return bound, sum(map(tables.duration, launches)) / whole, launches


def bound_card(result):
    found = bound_of(result)
    if not found:
        return []
    bound, share, launches = found
    return [card("bound", "Bound", bound, bound, [f"{percent_text(share)} of the launches' time",
                                                  f"{len(launches)} of {len(result['launches'])} launches"])]


def memory_card(result, budget):
    memory = result["memory"]
    notes = [f"average {bytes_text(memory['average_bytes'])}"]
    if budget:
        notes.append(f"{percent_text(memory['peak_bytes'] / budget)} of the budget of {bytes_text(budget)}")
    limit = DeviceRates(result["config"])["limits.app_memory"]
    if limit:
        notes.append(f"the phone gives an app {bytes_text(limit)}")
    classes = sorted(memory["by_class"].items(), key=lambda item: -item[1])
    notes += [f"{pictures.CLASS_NAMES.get(name, name)} {bytes_text(value)}" for name, value in classes[:1] if value]
    return card("memory", "Peak memory", memory["peak_bytes"], bytes_text(memory["peak_bytes"]), notes)


def cards(result, budget):
    energy, sampling = result["energy"], result["sampling"]
    made = [*latency_cards(result), floor_card(result), memory_card(result, budget)]
    if energy["total_nj"]:
        made.append(card("energy", "Energy", energy["total_nj"], energy_text(energy["total_nj"]),
                         [f"mean power {three_digits(energy['average_power_mw'] / 1e3)} W"]
                         if "average_power_mw" in energy else []))
    made += bound_card(result)
    note = ("nothing is extrapolated" if sampling["mode"] == "full"
            else f"extrapolated, error at most {percent_text(sampling['error_bound'])}")
    made.append(card("sampling", "Sampling", sampling["error_bound"], sampling["mode"], [note]))
    return f'<div class="cards">{"".join(made)}</div>'


def launches_section(result):
    launches = result["launches"]
    if not launches:
        return ""
    by_bound = tables.time_by(launches, "bound", "bound by")
    by_operation = tables.time_by(launches, "operation", "operation")
    known = any(launch["bound"] for launch in launches)
    caption = "One bar a launch, as high as it took" + (
        "; its colour says what bounded it" if known else "")
    return section(
        "What bounded each launch" if known else "Launches",
        picture("launches", pictures.launches_figure(result), caption),
        pair(by_bound, by_operation),
        searchable("launch-table", "launches",
                   folded(f"All {len(launches)} launches", tables.launches_table(launches))))


def utilisation_section(result):
    return section("Utilisation", pair(
        tables.peaks_table(result["peaks"]) if result["peaks"] else "",
        tables.hit_rates_table(result["counters"])))


def roofline_section(result):
    many = len(result["launches"]) > roofline.MOST_POINTS
    which = f"; the {roofline.MOST_POINTS} longest launches" if many else ""
    return section(
        "Roofline",
        picture("roofline", roofline.time_roofline(result),
                "Rate over intensity: a launch has a mark under the roof of each level whose bytes it moved" + which),
        picture("energy-roofline", roofline.energy_roofline(result),
                "Operations a joule over intensity; the distance to the arch is static power, host, storage and "
                "the levels between"))


def hierarchy_section(result):
    drawn = hierarchy_picture(result)
    if not drawn:
        return ""
    legend = ('<p class="soft">◀ read towards the cores, ▶ written towards memory, in whole lines and bursts. '
              "Hits are those of reads.</p>")
    return section("Memory hierarchy", drawn, legend, folded("The counter behind every edge", edges_table(result)))


def checks_section(result):
    checks = result["checks"]
    broken = sum(not check["holds"] for check in checks)
    if not checks:
        return ""
    said = (f'<p class="good">All {len(checks)} conservation laws hold.</p>' if not broken else
            f'<p class="bad">{broken} of {len(checks)} conservation laws are broken: the counters '
            "cannot be trusted.</p>")
    listed = tables.checks_table(checks)
    return section("Conservation laws", said,
                   listed if broken else folded("Both sides of every law", listed))


def timeline_section(result):
    return section(
        "Timeline",
        picture("timeline", pictures.timeline_figure(result),
                "What each part was doing; drag to zoom, double-click to see all"),
        tables.overlap_table(overlap.lanes_of(result["timeline"]), pictures.end_of(result))
        if result["timeline"] else "")


def sections(result, budget):
    counters = result["counters"]
    models = result.get("models", [])
    return [
        section("Models", tables.models_table(models) if models else ""),
        section("Memory over time", picture(
            "memory", pictures.memory_figure(result, budget), "Resident memory by class, stacked")),
        launches_section(result),
        timeline_section(result),
        roofline_section(result),
        hierarchy_section(result),
        utilisation_section(result),
        section("Energy", tables.energy_table(result["energy"])
                if result["energy"]["by_component"] else ""),
        section("Counters", searchable("counters", "counters", folded(
            f"All {len(counters)} counters", tables.counters_table(counters))) if counters else ""),
        checks_section(result),
        section("Configuration", searchable("config", "the configuration", folded(
            "Effective configuration, every number with its source", tables.config_table(result["config"])))
                if result["config"] else "")]


def page_of(result, generator, budget=None):
    tool, trace, device = result["tool"], result["trace"], device_of(result)
    title = f"{trace['file']}: {device}" if trace["file"] else device
    origin = [tool, trace["file"] and f"trace {trace['file']}", trace["digest"]]
    body = "\n".join([cards(result, budget), *filter(None, sections(result, budget))])
    return document(title, device, " · ".join(filter(None, origin)), body, generator)
