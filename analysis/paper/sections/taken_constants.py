"""Which constants of the simulated devices were set by figures of the paper itself."""

import re

from markdown_page import table
from section import Gathered, Section

INTRODUCTION = """\

## Which constants come from the paper

No constant is fitted by running these tables. But where nothing else is public, some values of `configs/` were chosen from figures of
the paper, which makes what hangs on them no independent prediction. On `{device}` they are (`fmsim --config {device} --explain`):
"""

ENTRY = re.compile(r"^([\w.]+) = (.*)\n    (.*)\n    (\w+): (.*)$", re.M)  # of fmsim --explain: path, value, meaning, source, citation


def taken(explained, paper):
    """[(path, value, meaning, citation)] of values whose citation names the paper, or a value whose own does."""
    entries = [(path, value, meaning, cite) for path, value, meaning, _, cite in ENTRY.findall(explained)]
    direct = [entry for entry in entries if paper in entry[3]]
    names = [path.rsplit(".", 1)[-1] for path, *_ in direct]
    follow = [entry for entry in entries if entry not in direct and any(f"as {name}" in entry[3] for name in names)]
    return direct + follow


def make(work):
    gathered = Gathered()
    gathered.add(("", work.device, "constants"), lambda: taken(work.tools.config_text(work.device), work.study["paper_id"]))
    return gathered


def lines(found, study, published):
    yield INTRODUCTION.format(device=study["device"])
    rows = [[f"`{path}`", value, meaning.split(" (")[0], cite] for entries in found.values() for path, value, meaning, cite in entries]
    yield from table(["constant", "value", "is", "why"], rows)


SECTION = Section("constants", make, lines)
