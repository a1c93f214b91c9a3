"""What docs/networks.md says of a simulated run, from its result.json."""

import json


def duration(launch):
    return launch["end_ns"] - launch["start_ns"]


def texture_share(launches):
    """How busy the texture units' texel pipes are while launches run, 0 to 1."""
    total = sum(map(duration, launches))
    return sum(launch["peaks"].get("texture", 0) * duration(launch) for launch in launches) / total if total else 0


def by_kernel(launches):
    """[(kernel, launches, ns, share of the texture pipes' peak, most frequent bound)], the longest first."""
    kernels = {}
    for launch in launches:
        kernels.setdefault(launch["kernel"], []).append(launch)
    rows = []
    for kernel, own in kernels.items():
        bounds = {}
        for launch in own:
            bounds[launch["bound"]] = bounds.get(launch["bound"], 0) + duration(launch)
        rows.append((kernel, len(own), sum(map(duration, own)), texture_share(own), max(bounds, key=bounds.get)))
    return sorted(rows, key=lambda row: -row[2])


def simulated_facts(path):
    result = json.loads(path.read_text())
    return {"exec_ms": result["latency"]["exec_ns"] / 1e6,
            "integrated_ms": result["latency"]["integrated_ns"] / 1e6,
            "peak_bytes": result["memory"]["peak_bytes"],
            "error_bound": result.get("sampling", {}).get("error_bound"),
            "launches": len(result["launches"]),
            "texture_share": texture_share(result["launches"]),
            "kernels": by_kernel(result["launches"])}
