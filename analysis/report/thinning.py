"""Makes series of any length drawable without hiding a peak or a gap worth a pixel."""


def thin_samples(samples, total, limit):
    """At most `limit` + 2 of `samples` (in time order): of each run of neighbours the one with the
    greatest `total(sample)`, and the first and last."""
    if len(samples) <= limit:
        return samples
    kept = [samples[0]]
    for bucket in range(limit):
        first = 1 + bucket * (len(samples) - 2) // limit
        last = 1 + (bucket + 1) * (len(samples) - 2) // limit
        kept += [max(samples[first:last], key=total)] if last > first else []
    return kept + [samples[-1]]


def join_events(events, gap_ns):
    """Joins events of one lane that are closer than `gap_ns`: [(start, end, names)]."""
    joined = []
    for event in sorted(events, key=lambda e: (e["start_ns"], e["end_ns"])):
        if joined and event["start_ns"] - joined[-1][1] < gap_ns:
            start, end, names = joined[-1]
            joined[-1] = (start, max(end, event["end_ns"]), [*names, event["name"]])
        else:
            joined.append((event["start_ns"], event["end_ns"], [event["name"]]))
    return joined
