"""Holds the simulator against published figures and writes docs/validation.md: ./fm validate"""

import argparse
import os
import pathlib
import sys

import curves
import dram_rows
import ledger
import ledger_page
import sensitivity

DEFAULT_BIN = curves.ROOT / "build/release/bin"


def parse():
    parser = argparse.ArgumentParser(
        prog="fm validate", description="Holds the simulator against published figures.",
        epilog="Exit status: 0 all figures within tolerance or listed as known deviations, 4 not.")
    parser.add_argument("--device", action="append", metavar="CONFIG",
                        help="only this device, and print its table instead of writing the page; "
                        "may be repeated")
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FILE",
                        default=curves.ROOT / "docs/validation.md",
                        help="where the page goes (default docs/validation.md)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="simulations side by side (default: one a core)")
    return parser.parse_args()


def main():
    arguments = parse()
    fmsim = pathlib.Path(os.environ.get("FM_BIN", DEFAULT_BIN)) / "fmsim"
    simulator = curves.Simulator(fmsim, arguments.jobs)
    data = ledger.load()
    known = [device["config"] for device in data["devices"]]
    for name in arguments.device or []:
        if name not in known:
            print(f"fm validate: error: --device {name}: figures are there for {', '.join(known)}",
                  file=sys.stderr)
            return 2
    chosen = [device for device in data["devices"]
              if not arguments.device or device["config"] in arguments.device]
    simulator.simulate(run for device in chosen for run in ledger.runs_of(device))
    device_rows = [ledger.rows_of(simulator, data, device) for device in chosen]
    if arguments.device:
        print("\n".join(line for rows in device_rows for line in ledger_page.device_section(rows)))
    else:
        sensitivities = [(item["family"], item["config"],
                          sensitivity.table(simulator, item["config"]))
                         for item in data["sensitivity"]]
        dram = dram_rows.rows(fmsim, arguments.jobs)
        text = ledger_page.page(device_rows, dram_rows.section(dram) + ledger_page.CACHES,
                                sensitivities)
        arguments.output.write_text(text, encoding="utf-8")
        print(ledger_page.score([row for rows in device_rows for row in rows]))
        for row in dram:
            if row.fails:
                print(f"fm validate: DRAM: {row.name}: {row.verdict}", file=sys.stderr)
    wrong = [row for rows in device_rows for row in rows if row.fails]
    for row in wrong:
        print(f"fm validate: {row.device}: {row.name}: published {ledger_page.number(row.published)} "
              f"{row.unit}, simulated {ledger_page.number(row.simulated)} {ledger_page.percent(row.difference)}: "
              f"{row.verdict} {row.reason}", file=sys.stderr)
    dram_wrong = not arguments.device and any(row.fails for row in dram)
    return 4 if wrong or dram_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
