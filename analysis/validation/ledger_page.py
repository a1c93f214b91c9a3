"""docs/validation.md as text."""

import sensitivity

HEAD = """# Validation

Written by `./fm validate`; do not edit. Published figures beside what the simulator gives for the same
microbenchmark ([microbenchmarks.md](microbenchmarks.md)), replayed access by access.

- **fitted**: a number in the device's config was chosen so that this figure comes out. It says that the model can be
  made to fit, not that it is right.
- **predicted**: nothing was chosen by it. Only these are evidence.

Parameters are a device's, never a kernel's. A *known deviation* is listed with its size and reason in
`analysis/validation/figures.yaml`; `./fm validate` ends with exit status 4 when a figure is off and not listed, and when a
listed one is no longer off by that much.
"""

CACHES = """## Caches and TLB

Compared with brute-force models, look-up by look-up, in `sim_test`: every cache array against a list of lines in order of
use on random streams (`tests/sim/cache_array_test.cpp`, `cache_slice_test.cpp`), TLBs and page walks likewise
(`tests/sim/mmu_test.cpp`). Hits and misses must be equal access for access; nothing is tolerated.
""".splitlines()


def number(value):
    if value is None:
        return "none"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def percent(value):
    return "" if value is None else f"{value:+.1f} %"


def _tolerance(row):
    return "exact" if row.tolerance == 0 else f"{row.tolerance:g} %"


def score(rows):
    """"23 of 25 figures within tolerance, 9 of 11 predicted ones"."""
    def count(some):
        return f"{sum(row.verdict == 'within' for row in some)} of {len(some)}"
    predicted = [row for row in rows if row.kind == "predicted"]
    return f"{count(rows)} figures within tolerance, {count(predicted)} of the predicted ones"


def device_section(rows):
    lines = [f"### {rows[0].device}", "", score(rows) + ".", "",
             "| figure | published | simulated | difference | tolerance | kind | |",
             "|---|--:|--:|--:|--:|---|---|"]
    notes = []
    for row in rows:
        mark = "" if row.verdict == "within" else f"[{len(notes) + 1}]"
        if mark:
            notes.append(f"{len(notes) + 1}. {row.name}: {row.verdict}"
                         + (f": {row.reason}" if row.reason else ""))
        lines.append(f"| {row.name} | {number(row.published)} {row.unit} | {number(row.simulated)} | "
                     f"{percent(row.difference)} | {_tolerance(row)} | {row.kind} | {mark} |")
    lines += [""] + notes + ([""] if notes else [])
    lines.append("Sources: " + "; ".join(sorted({row.source for row in rows})) + ".")
    return lines + [""]


def _change(changes):
    if all(change is not None and abs(change) < 0.5 for change in changes):
        return "·"
    return " / ".join("refused" if change is None else f"{change:+.0f}" for change in changes)


def sensitivity_section(family, config, rows):
    watched = [title for _, _, title in sensitivity.WATCHED]
    lines = [f"### {family}: {config}", "",
             "| key | value | " + " | ".join(watched) + " |", "|---|--:|" + "--:|" * len(watched)]
    lines += [f"| `{key}` | {value} | " + " | ".join(map(_change, changes)) + " |"
              for key, value, changes in rows]
    return lines + [""]


def page(device_rows, other_sections, sensitivities):
    """`device_rows`: rows by device; `other_sections`: finished lines; `sensitivities`:
    (family, config, rows)."""
    lines = [HEAD]
    lines += other_sections
    lines += ["## Devices", ""]
    for rows in device_rows:
        lines += device_section(rows)
    if sensitivities:
        lines += ["## Assumed numbers",
                  "",
                  "How latencies and bandwidths of the microbenchmarks move, in percent, when a number that nobody "
                  "publishes is halved / raised by half. A dot: less than half a percent either way. Sizes and lines "
                  "of caches and what only touches host, storage, power or the rest of the phone are left out.", ""]
        for family, config, rows in sensitivities:
            lines += sensitivity_section(family, config, rows)
    return "\n".join(lines).rstrip() + "\n"
