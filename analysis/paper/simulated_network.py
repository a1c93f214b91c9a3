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


def alike(launches):
    """[facts of launches that compute the same, of their first], those that take longest together first."""
    groups = {}
    for launch in launches:
        if "roofline" in launch:  # of those that compute
            groups.setdefault((launch["kernel"], launch["operation"], launch["macs"], launch["weight_bytes"]), []).append(launch)
    rows = [{"kernel": kernel, "operation": operation, "macs": macs, "launches": len(own), "ns": sum(map(duration, own)),
             "texture_share": texture_share(own), "flops_per_texture_byte": own[0]["roofline"]["intensity"].get("texture"),
             "roof_gflops": own[0]["roofline"]["attainable_gflops"], "occupancy": own[0]["occupancy"]}
            for (kernel, operation, macs, _), own in groups.items()]
    return sorted(rows, key=lambda row: -row["ns"])


def simulated_facts(path):
    result = json.loads(path.read_text())
    return {"exec_ms": result["latency"]["exec_ns"] / 1e6,
            "integrated_ms": result["latency"]["integrated_ns"] / 1e6,
            "peak_bytes": result["memory"]["peak_bytes"],
            "error_bound": result.get("sampling", {}).get("error_bound"),
            "launches": len(result["launches"]),
            "macs": sum(launch["macs"] for launch in result["launches"]),
            "texture_share": texture_share(result["launches"]),
            "kernels": by_kernel(result["launches"]),
            "alike": alike(result["launches"])}
