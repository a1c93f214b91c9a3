"""Published figures against simulated ones: the rows of docs/validation.md and their verdicts."""

import dataclasses
import pathlib

import yaml

import curves

FIGURES = pathlib.Path(__file__).resolve().parent / "figures.yaml"
# Percentage points by which a known deviation may move before the ledger is out of date.
SLACK = 2.0


@dataclasses.dataclass
class Row:
    """One figure. `difference` in percent, None when the simulation shows no such thing."""
    device: str
    name: str
    unit: str
    published: float
    simulated: float | None
    difference: float | None
    tolerance: float
    kind: str
    source: str
    reason: str  # of a known deviation, or what is absent
    verdict: str  # "within", "known deviation", or what is wrong

    @property
    def fails(self):
        return self.verdict not in ("within", "known deviation")


def load(path=FIGURES):
    """The figures, checked: every one has a source that exists, a kind and a way to take it."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    for device in data["devices"]:
        for figure in device["figures"]:
            place = f"{path.name}: {device['config']}: {figure.get('name')}"
            for key in ("name", "unit", "value", "source", "kind", "take"):
                if key not in figure:
                    raise SystemExit(f"{place}: {key} is missing")
            if figure["source"] not in data["sources"]:
                raise SystemExit(f"{place}: source '{figure['source']}' is not among sources")
            if figure["kind"] not in ("fitted", "predicted"):
                raise SystemExit(f"{place}: kind is fitted or predicted, not {figure['kind']}")
    return data


def benchmarks_of(figure):
    take = figure["take"]
    return {take["curve"]} | ({take["over"]["curve"]} if "over" in take else set())


def runs_of(device):
    """What must be simulated for a device's figures."""
    names = sorted(set().union(*(benchmarks_of(figure) for figure in device["figures"])))
    return [(device["config"], (), name, ()) for name in names]


def _verdict(difference, tolerance, known):
    within = difference is not None and abs(difference) <= tolerance + 1e-9
    if known is None:
        return "within" if within else "differs and is not listed"
    if difference is None:
        return "known deviation" if known["percent"] == "absent" else "absent, listed otherwise"
    if known["percent"] == "absent":
        return "no longer absent: update the ledger"
    if within:
        return "no longer deviates: update the ledger"
    if abs(difference - known["percent"]) > SLACK:
        return f"deviates otherwise than listed ({known['percent']:+g} %): update the ledger"
    return "known deviation"


def row_of(simulator, device, figure, sources):
    tolerance = figure.get("tolerance", device["tolerance"])
    known = figure.get("known_deviation")
    run = {"curves": {}}
    for name in benchmarks_of(figure):
        one = simulator.curves(device["config"], (), name, ())
        run["curves"].update(one["curves"])
        run["clock_hz"], run["cores"] = one["clock_hz"], one["cores"]
    simulated = difference = None
    reason = known["reason"] if known else ""
    try:
        simulated = curves.read(run, figure["take"], figure["unit"])
        difference = 100 * (simulated / figure["value"] - 1)
    except curves.Absent as absent:
        reason = f"{reason} ({absent})" if reason else str(absent)
    return Row(device["config"], figure["name"], figure["unit"], figure["value"], simulated,
               difference, tolerance, figure["kind"], sources[figure["source"]], reason,
               _verdict(difference, tolerance, known))


def rows_of(simulator, data, device):
    simulator.simulate(runs_of(device))
    return [row_of(simulator, device, figure, data["sources"]) for figure in device["figures"]]
