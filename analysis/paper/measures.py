"""What the table says of one point, from its plan and its result.json.

Prefetching, in bytes of weights. A weight is needed when the launch before its first user ends: that
user could start then. It is prefetched when its read started before that moment and after the first
launch did (what is read before the first launch is waiting, not prefetching).
coverage    prefetched / all weights
timeliness  of the prefetched: those in place (read, and copied where the plan copies) when needed
accuracy    of the prefetched: those that a launch then used before they were released
"""

CLASSES = ("preloaded", "um_in_flight", "tm_in_flight", "activations", "staging")
WEIGHT_CLASSES = ("preloaded", "um_in_flight", "tm_in_flight", "staging")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def in_bytes(text):
    number, unit = text.split()
    return int(number) * UNITS[unit]


def resident(result, classes):
    """(peak, time-weighted average) of what these classes hold together, in bytes."""
    samples = result["memory"]["over_time"]
    end = result["latency"]["integrated_ns"]
    sizes = [sum(sample[name] for name in classes) for sample in samples]
    times = [sample["time_ns"] for sample in samples]
    area = sum(size * max(0, until - begin)
               for size, begin, until in zip(sizes, times, [*times[1:], end]))
    return max(sizes, default=0), area / end if end else 0


def weights_in_memory(result):
    """(peak, time-weighted average) of weights and what brings them, in bytes."""
    return resident(result, WEIGHT_CLASSES)


def users_of(plan):
    """{weight: ids of the kernel launches that read it, in order}."""
    users = {}
    for launch in plan["launches"]:
        for argument in launch.get("arguments", ()):
            if "read" in argument:
                users.setdefault(argument["read"], []).append(launch["id"])
    return users


def in_place(result, plan):
    """{weight: (its first read's start, when it is in place)}."""
    spans = {}

    def extend(weight, start, end):
        known = spans.get(weight, (start, end))
        spans[weight] = (min(known[0], start), max(known[1], end))

    for event in result["timeline"]:
        if event["lane"] == "disk":
            # fmexec names the weight, fmsim writes "read WEIGHT".
            extend(event["name"].split()[-1], event["start_ns"], event["end_ns"])
    times = {launch["id"]: launch for launch in result["launches"]}
    for weight in plan["weights"]:
        for transform in weight.get("transforms", ()):
            launch = times[transform["launch"]]
            if weight["tensor"] in spans:
                extend(weight["tensor"], spans[weight["tensor"]][0], launch["end_ns"])
    return spans


def prefetching(result, plan):
    """{coverage, timeliness, accuracy}; the last two None when nothing is prefetched."""
    copies = {launch["id"] for launch in plan["launches"] if launch["kind"] == "copy"}
    kernels = [launch for launch in result["launches"] if launch["id"] not in copies]
    order = {launch["id"]: position for position, launch in enumerate(kernels)}
    first_start = min((launch["start_ns"] for launch in kernels), default=0)
    users, spans = users_of(plan), in_place(result, plan)
    total = prefetched = timely = used = 0
    for weight in plan["weights"]:
        if weight["residency"] == "disk":
            continue
        size, name = in_bytes(weight["bytes"]), weight["tensor"]
        total += size
        if weight["residency"] != "stream" or name not in spans or name not in users:
            continue
        first = order[users[name][0]]
        needed = kernels[first - 1]["end_ns"] if first > 0 else first_start
        start, placed = spans[name]
        if not first_start <= start < needed:
            continue
        prefetched += size
        timely += size if placed <= needed else 0
        used += size if order[users[name][-1]] <= order.get(weight["release_after"], -1) else 0
    return {"coverage": prefetched / total if total else None,
            "timeliness": timely / prefetched if prefetched else None,
            "accuracy": used / prefetched if prefetched else None}


def measures(result, plan, plan_facts):
    """The numbers of one row of the table."""
    latency, memory = result["latency"], result["memory"]
    peak, average = weights_in_memory(result)
    total = sum(in_bytes(weight["bytes"]) for weight in plan["weights"])
    floor = result.get("floor", {})
    energy = result.get("energy", {}).get("total_nj")  # measured runs have none
    return {
        "integrated_ms": latency["integrated_ns"] / 1e6,
        "startup_ms": latency["startup_ns"] / 1e6,
        "exec_ms": latency["exec_ns"] / 1e6,
        "floor_ms": max(floor.values()) / 1e6 if floor else None,
        "disk_floor_ms": floor["disk_ns"] / 1e6 if "disk_ns" in floor else None,
        "peak_bytes": memory["peak_bytes"],
        "average_bytes": memory["average_bytes"],
        "by_class": {name: memory["by_class"][name] for name in CLASSES},
        "average_by_class": {name: resident(result, (name,))[1] for name in CLASSES},
        "weights_bytes": total,
        "weights_peak_bytes": peak,
        "weights_average_bytes": average,
        "energy_mj": energy / 1e6 if energy else None,
        "error_bound": result.get("sampling", {}).get("error_bound"),
        **prefetching(result, plan),
        "launches": plan_facts["launches"],
        "plan_s": plan_facts["seconds"],
        "solver": plan_facts.get("overlap"),
    }
