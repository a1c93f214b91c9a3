"""How well simulated times agree with measured ones."""

import dataclasses

import numpy

LONG_NS = 1e6  # launches above this are held to the bar


@dataclasses.dataclass(frozen=True)
class Launch:
    """One launch of one plan; times in nanoseconds."""
    case: str
    placement: str
    kernel: str
    measured: float
    spread: float  # of its measurements: median absolute deviation over median
    simulated: float


@dataclasses.dataclass(frozen=True)
class Agreement:
    launches: int
    rank_correlation: float  # Spearman's
    median_error: float
    mean_error: float  # MAPE
    slope: float  # of log simulated over log measured, least squares
    ratio: float  # geometric mean of simulated over measured
    spread: float  # median of the launches' own


def ranks(values):
    """From 0; equal values share their mean rank."""
    _, inverse, counts = numpy.unique(values, return_inverse=True, return_counts=True)
    ends = numpy.cumsum(counts)
    return (ends - (counts + 1) / 2)[inverse]


def correlation(a, b):
    """Pearson's; not a number where one does not vary."""
    if numpy.ptp(a) == 0 or numpy.ptp(b) == 0:
        return float("nan")
    return float(numpy.corrcoef(a, b)[0, 1])


def agreement(launches):
    """Of at least two launches; None of fewer."""
    if len(launches) < 2:
        return None
    measured = numpy.array([launch.measured for launch in launches])
    simulated = numpy.array([launch.simulated for launch in launches])
    errors = numpy.abs(simulated / measured - 1)
    x, y = numpy.log(measured), numpy.log(simulated)
    slope = float(numpy.polyfit(x, y, 1)[0]) if numpy.ptp(x) > 0 else float("nan")
    return Agreement(len(launches), correlation(ranks(measured), ranks(simulated)), float(numpy.median(errors)),
                     float(numpy.mean(errors)), slope, float(numpy.exp(numpy.mean(y - x))),
                     float(numpy.median([launch.spread for launch in launches])))


def long_ones(launches):
    return [launch for launch in launches if launch.measured > LONG_NS]
