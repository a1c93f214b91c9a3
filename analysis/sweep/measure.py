"""What a row says of a run, from its result.json."""

# In the order of the table's columns.
MEASURES = ("latency_ns", "exec_ns", "startup_ns", "init_ns", "floor_ns", "peak_memory_bytes", "average_memory_bytes",
            "energy_nj", "area_proxy_bytes", "sampling_error_bound", "bound")


def bound_of(launches):
    """What bounded most of the launches' time."""
    times = {}
    for launch in launches:
        times[launch["bound"]] = times.get(launch["bound"], 0) + launch["end_ns"] - launch["start_ns"]
    return max(sorted(times), key=times.get, default="")


def measures(result, config):
    latency, memory = result["latency"], result["memory"]
    return {
        "latency_ns": latency["integrated_ns"], "exec_ns": latency["exec_ns"], "startup_ns": latency["startup_ns"],
        "init_ns": latency["init_ns"], "floor_ns": max(result["floor"].values()),
        "peak_memory_bytes": memory["peak_bytes"], "average_memory_bytes": memory["average_bytes"],
        "energy_nj": result["energy"]["total_nj"], "area_proxy_bytes": config.area_proxy_bytes(),
        "sampling_error_bound": result["sampling"]["error_bound"], "bound": bound_of(result["launches"]),
    }
