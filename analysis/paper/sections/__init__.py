"""The sections of docs/paper.md, a module each. They print and draw with what other rooms have."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / room) for room in ("bench", "analysis/report", "analysis/sweep")]
