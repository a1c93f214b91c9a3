"""Lays several results side by side. The first is the one that the others are compared with."""

import collections
import pathlib

from tables import config_entries, duration, hit_rates


def labels_of(paths):
    """The shortest endings of the paths that differ; equal paths are numbered."""
    parts = [pathlib.PurePath(path).with_suffix("").parts for path in paths]
    labels = []
    for mine in parts:
        others = [other for other in parts if other != mine]
        length = next((n for n in range(1, len(mine) + 1)
                       if all(other[-n:] != mine[-n:] for other in others)), len(mine))
        labels.append("/".join(mine[-length:]))
    return [f"{label} ({labels[:index].count(label) + 1})" if labels.count(label) > 1 else label
            for index, label in enumerate(labels)]


def change(first, other):
    """(other - first) / first, or None where one is missing or the first is 0 and the other is not."""
    if first is None or other is None:
        return None
    if first == other:
        return 0.0
    return (other - first) / first if first else None


def difference(values):
    """How far apart the values are, 0 to 1 for those of one sign: the range over the largest magnitude. A
    missing one counts as 0."""
    known = [value or 0 for value in values]
    largest = max(map(abs, known))
    return (max(known) - min(known)) / largest if largest else 0.0


def side_by_side(mappings):
    """[(key, a value of each mapping or None)] of the keys of all, in their order."""
    keys = list(dict.fromkeys(key for mapping in mappings for key in mapping))
    return [(key, [mapping.get(key) for mapping in mappings]) for key in keys]


def counters_by_difference(results):
    """[(name, value of each run or None)] of the counters that differ, largest difference first."""
    rows = side_by_side([{name: counter["value"] for name, counter in result["counters"].items()}
                         for result in results])
    differing = [row for row in rows if difference(row[1])]
    return sorted(differing, key=lambda row: -difference(row[1]))


def hit_rates_by_level(results):
    return side_by_side([{what: hits / lookups for what, hits, lookups in hit_rates(result["counters"])}
                         for result in results])


def time_by_bound(results):
    spent = []
    for result in results:
        spent.append(collections.Counter())
        for launch in result["launches"]:
            spent[-1][launch["bound"]] += duration(launch)
    return sorted(side_by_side(spent), key=lambda row: -max(value or 0 for value in row[1]))


def config_differences(results):
    """[(path, value of each run or None)] of the configuration's entries that differ."""
    rows = side_by_side([{path: value for path, value, _, _ in config_entries(result["config"])}
                         for result in results])
    return [row for row in rows if any(value != row[1][0] for value in row[1])]


def _by_identity(launches):
    """Launches by model, id, operation and, where those repeat, how often they have been."""
    seen, found = collections.Counter(), {}
    for launch in launches:
        identity = (launch.get("model", ""), launch["id"], launch["operation"])
        found[(*identity, seen[identity])] = launch
        seen[identity] += 1
    return found


def matched_launches(results):
    """[launch of each run or None], those of the same id and operation together."""
    return [launches for _, launches in side_by_side([_by_identity(r["launches"]) for r in results])]


def by_difference(launches):
    """Matched launches, the largest difference of times first."""
    def spread(row):
        times = [duration(launch) for launch in row if launch]
        return max(times) - min(times)

    complete = [row for row in launches if all(row)]
    return sorted(complete, key=spread, reverse=True)


def notes_of(labels, results):
    """What a reader must know before comparing these runs."""
    def differ(of):
        return len({of(result) for result in results}) > 1

    def listed(of):
        return ", ".join(f"{label}: {of(result) or 'none'}" for label, result in zip(labels, results))

    notes = []
    if differ(lambda result: result["tool"].split(" ")[0]):
        notes.append("Measured and simulated runs are compared: only what both know is beside each other.")
    if differ(lambda result: result["tool"]):
        notes.append("Written by different versions or tools, whose counters may differ in meaning "
                     f"({listed(lambda result: result['tool'])}).")
    if differ(lambda result: result["trace"]["digest"]):
        notes.append(f"The runs replay different traces ({listed(lambda result: result['trace']['file'])}): "
                     "launches are matched by id and operation.")
    if differ(lambda result: result["sampling"]["mode"]):
        notes.append("Some of the runs are extrapolated; differences below their error bound say nothing "
                     f"({listed(lambda result: result['sampling']['mode'])}).")
    matched = matched_launches(results)
    alone = sum(not all(row) for row in matched)
    if alone:
        notes.append(f"{alone} of {len(matched)} launches are not in every run and are left out of the "
                     "pictures of launches.")
    return notes
