"""The DRAM channel against other simulators on the same streams: tests/data/dram_golden.yaml."""

import concurrent.futures
import dataclasses
import json
import subprocess

import yaml

import curves

GOLDEN = curves.ROOT / "tests/data/dram_golden.yaml"


@dataclasses.dataclass
class DramRow:
    """One stream. Differences in percent; `gbps` and `latency` are pairs (theirs, ours)."""
    name: str
    simulator: str
    gbps: tuple
    latency: tuple | None  # clocks
    tolerance: float
    deviation: dict
    verdict: str

    @property
    def fails(self):
        return self.verdict not in ("within", "known deviation")


def _run(fmsim, golden, row):
    full = row["window"] == "full"
    command = [str(fmsim), "dram", "--json", "--preset", row["preset"], "--mapping", row["mapping"],
               "--stream", row["stream"], "--window", str(row["window"]),
               "--bytes", str(row["bytes"]),
               "--requests", str(100000 if full else row["requests"])]
    for key, value in {**golden["aligned"][row["aligned"]], **row.get("set", {})}.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=curves.ROOT)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def _verdict(ours, theirs, tolerance, known):
    within = abs(ours / theirs - 1) <= tolerance
    if known is None:
        return "within" if within else "differs and is not listed"
    if within:
        return "no longer deviates: update the ledger"
    return "known deviation" if abs(ours / known - 1) <= 0.01 else "deviates otherwise than listed"


def row_of(golden, row, measured):
    tolerance = golden["tolerance" if row["window"] == "full" else "latency_tolerance"]
    known = row.get("deviation", {})
    verdicts = [_verdict(measured["bandwidth"], row["gbps"], tolerance, known.get("gbps"))]
    latency = None
    if "latency" in row:
        latency = (row["latency"], measured["latency"])
        verdicts.append(_verdict(measured["latency"], row["latency"], golden["latency_tolerance"],
                                 known.get("latency")))
    worst = next((verdict for verdict in verdicts if verdict not in ("within", "known deviation")),
                 "known deviation" if "known deviation" in verdicts else "within")
    return DramRow(row["id"], row["simulator"], (row["gbps"], measured["bandwidth"]), latency,
                   100 * tolerance, known, worst)


def rows(fmsim, jobs):
    golden = yaml.safe_load(GOLDEN.read_text(encoding="utf-8"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        measured = list(pool.map(lambda row: _run(fmsim, golden, row), golden["rows"]))
    return [row_of(golden, row, one) for row, one in zip(golden["rows"], measured)]


def section(found):
    def difference(pair):
        return f"{100 * (pair[1] / pair[0] - 1):+.1f} %"

    within = sum(row.verdict == "within" for row in found)
    lines = ["## DRAM", "",
             f"{within} of {len(found)} streams of DRAMsim3, Ramulator 2.1 and DRAMSys 5.0 within tolerance, the rest "
             "listed with their reasons in `tests/data/dram_golden.yaml`; `sim_test` asserts the same rows. All are "
             "predicted: nothing is chosen by them but queue and page policy, as that file says.", "",
             "| stream | simulator | their GB/s | ours | | their latency, clk | ours | | tolerance | |",
             "|---|---|--:|--:|--:|--:|--:|--:|--:|---|"]
    for row in found:
        latency = ("", "", "") if row.latency is None else (
            f"{row.latency[0]:g}", f"{row.latency[1]:.1f}", difference(row.latency))
        note = "" if row.verdict == "within" else f"{row.verdict}: {row.deviation.get('why', '')}"
        lines.append(f"| {row.name} | {row.simulator} | {row.gbps[0]:g} | {row.gbps[1]:.2f} | "
                     f"{difference(row.gbps)} | {' | '.join(latency)} | {row.tolerance:g} % | {note} |")
    return lines + [""]
