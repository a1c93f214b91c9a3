"""Writes the example of docs/sweeps.md: .venv/bin/python analysis/sweep/write_example.py"""

import csv
import pathlib
import subprocess
import sys
import tempfile

from simulator_tools import ROOT

sys.path.append(str(ROOT / "bench"))

from markdown_page import table, write_marked  # noqa: E402

PAGE = ROOT / "docs/sweeps.md"
STUDY = "analysis/sweep/studies/ocr-det.yaml"
SHOWN = ["plan.mode", "storage.command_latency_ns", "l2.size_bytes", "latency_ns", "exec_ns", "peak_memory_bytes",
         "energy_nj", "bound", "capacity_scaling", "status"]


def fenced(text, language=""):
    return f"```{language}\n{text.strip()}\n```"


def main():
    with tempfile.TemporaryDirectory(dir=ROOT / "out") as name:
        folder = pathlib.Path(name)
        done = subprocess.run([sys.executable, ROOT / "analysis/sweep/fmsweep.py", STUDY, "-o", folder], cwd=ROOT,
                              capture_output=True, text=True, check=True)
        said = (done.stderr + done.stdout).replace(name, "out/sweep/ocr-det")
        with open(folder / "table.csv", encoding="utf-8", newline="") as file:
            rows = [[row[column] for column in SHOWN] for row in csv.DictReader(file)]
    page = PAGE.read_text(encoding="utf-8")
    for mark, text in (("study", fenced((ROOT / STUDY).read_text(encoding="utf-8"), "yaml")), ("printed", fenced(said)),
                       ("table", "\n".join(table(SHOWN, rows)))):
        page = write_marked(page, mark, text)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
