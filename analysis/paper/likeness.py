"""How simulated figures follow published ones, and geometric means of ratios."""

import dataclasses
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "correlation"))

from agreement import correlation, ranks  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Likeness:
    """Of pairs (simulated, published)."""
    pairs: int
    rank_correlation: float  # Spearman's; not a number of fewer than two, or where one side is all the same
    mean_error: float  # MAPE: |simulated / published - 1|
    ratio: float  # geometric mean of simulated over published


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def likeness(pairs):
    simulated, published = [[pair[side] for pair in pairs] for side in (0, 1)]
    ratios = [ours / theirs for ours, theirs in pairs]
    rank = correlation(ranks(simulated), ranks(published)) if len(pairs) > 1 else float("nan")
    error = sum(abs(ratio - 1) for ratio in ratios) / len(ratios) if ratios else float("nan")
    return Likeness(len(pairs), rank, error, geometric_mean(ratios))


def likeness_text(pairs):
    """11 networks: rank correlation 0.95, MAPE 40 %, 0.71 of the paper's (geometric mean)"""
    if not pairs:
        return "nothing to hold against the paper"
    found = likeness(pairs)
    order = "" if math.isnan(found.rank_correlation) else f"rank correlation {found.rank_correlation:.2f}, "
    return (f"{found.pairs} network{'s' if found.pairs > 1 else ''}: {order}MAPE {found.mean_error:.0%}, {found.ratio:.2f} of the "
            "paper's (geometric mean)")
