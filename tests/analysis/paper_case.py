"""What the tests of the paper page's sections share."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis/paper"))

from points import load_yaml  # noqa: E402

STUDY = load_yaml(ROOT / "analysis/paper/paper.yaml")
PUBLISHED = load_yaml(ROOT / "analysis/paper/published.yaml")
PHONE = STUDY["device"]


def text_of(section, found):
    return "\n".join(section.lines(found, STUDY, PUBLISHED))


def rows_of(section, found):
    """Cells of the section's tables, heads left out."""
    lines = [line for line in text_of(section, found).splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rules = [place for place, row in enumerate(rows) if set(row[0]) == {"-"}]
    return [row for place, row in enumerate(rows) if place not in rules and place + 1 not in rules]
