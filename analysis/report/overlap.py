"""How long each lane of a timeline was busy, and how much of that while the GPU computed."""


def busy_intervals(events):
    """The times at which at least one event runs, as disjoint (start, end) in order."""
    merged = []
    for start, end in sorted((event["start_ns"], event["end_ns"]) for event in events):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def common(first, second):
    """The times in both of two lists of disjoint intervals."""
    both, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        start, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if start < end:
            both.append((start, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return both


def lanes_of(timeline):
    """[(lane, busy ns, of it beside the GPU's ns)] in order of appearance."""
    lanes = {}
    for event in timeline:
        lanes.setdefault(event["lane"], []).append(event)
    busy = {lane: busy_intervals(events) for lane, events in lanes.items()}
    computing = busy.get("gpu", [])
    return [(lane, length(intervals), length(common(intervals, computing))) for lane, intervals in busy.items()]
