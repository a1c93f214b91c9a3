"""A made-up result as fmsim writes it: a small transformer streamed on a phone. Prints it as JSON."""

import json

BOUNDS = ["disk", "dram", "l2", "texture", "alu", "launch", "latency", "local"]
OPERATIONS = [("LayerNormalization", "layer_norm_buffer", 0), ("MatMul", "matmul_image2d", 348_585_984),
              ("Softmax", "softmax_buffer", 0), ("MatMul", "matmul_buffer", 29_805_312),
              ("Add", "binary_buffer", 0), ("MatMul", "matmul_image2d", 464_781_312)]
MIB = 2**20


def claims(preloaded, um, tm, activations, staging, driver):
    return {"preloaded": preloaded, "um_in_flight": um, "tm_in_flight": tm,
            "activations": activations, "staging": staging, "driver": driver}


def launches(start, count):
    made = []
    for index in range(count):
        operation, kernel, macs = OPERATIONS[index % len(OPERATIONS)]
        length = 180_000 + macs // 900 + 7_919 * index % 60_011
        busy = 0.9 if macs else 0.25
        made.append({
            "id": f"L{index}", "kernel": kernel, "operation": operation, "start_ns": start,
            "end_ns": start + length, "bound": BOUNDS[index * 5 % len(BOUNDS)], "macs": macs,
            "weight_bytes": 3_538_944 if kernel == "matmul_image2d" else 0,
            "stalls": {"busy": busy, "memory": 1 - busy},
            "counters": {"l2.read_lookups": 1000.0 * (index + 1)},
            "energy": {"total_nj": 3.5 * length, "average_power_mw": 3500.0,
                       "by_component": {"alu_fma": 3.5 * length}},
            "peaks": {"alu": busy}, "clock_mhz": 890.0})
        if macs:
            made[-1]["roofline"] = {"flops": 2.0 * macs, "intensity": {"dram": 20.0},
                                    "achieved_gflops": 400.0, "attainable_gflops": 1600.0,
                                    "bound": "dram"}
        start += length + 15_000
    return made


def timeline(run):
    events = [{"lane": "gpu", "name": launch["id"], "start_ns": launch["start_ns"],
               "end_ns": launch["end_ns"]} for launch in run]
    events.append({"lane": "host", "name": "context, programs", "start_ns": 0, "end_ns": 9_000_000})
    weighted = [launch for launch in run if launch["weight_bytes"]]
    for index, launch in enumerate(weighted):
        read = 2_000_000 + index * 1_300_000
        events.append({"lane": "disk", "name": f"w{index}", "start_ns": read,
                       "end_ns": read + 1_180_000})
        events.append({"lane": "copy", "name": f"w{index}", "start_ns": read + 1_190_000,
                       "end_ns": read + 1_900_000})
    return events


def memory(run):
    samples = [{"time_ns": 0, **claims(0, 0, 0, 0, 0, 40 * MIB)},
               {"time_ns": 4_000_000, **claims(11 * MIB, 0, 0, 6 * MIB, 9 * MIB, 52 * MIB)}]
    for index, launch in enumerate(run):
        um, tm = (3 + index % 4) * MIB, (2 + index * 3 % 5) * MIB
        samples.append({"time_ns": launch["start_ns"],
                        **claims(11 * MIB, um, tm, 6 * MIB, 9 * MIB - um, 52 * MIB)})
    classes = {name: max(s[name] for s in samples) for name in samples[0] if name != "time_ns"}
    totals = [sum(v for name, v in s.items() if name != "time_ns") for s in samples]
    return {"peak_bytes": max(totals), "average_bytes": sum(totals) // len(totals),
            "by_class": classes, "over_time": samples,
            "fragmentation": {"padding_bytes": 4096, "free_bytes": 2**34,
                              "largest_hole_bytes": 2**33, "share": 0.5}}


def counters():
    made = {}
    for level, lookups, hits in (("l1", 9_123_456, 7_700_001), ("texture_l1", 18_000_000, 17_100_000),
                                 ("l2", 2_323_455, 1_400_077)):
        made[f"{level}.read_lookups"] = {"value": float(lookups), "unit": "lines",
                                         "description": "Line reads looked up"}
        made[f"{level}.read_hits"] = {"value": float(hits), "unit": "lines",
                                      "description": "Line reads that found their bytes"}
    for name, value in (("mmu.hits", 3), ("mmu.requests", 4), ("dram.row_hits", 5),
                        ("dram.row_misses", 2), ("dram.row_conflicts", 1)):
        made[name] = {"value": float(value), "unit": "requests", "description": name}
    made["dram.read_bytes"] = {"value": 59_096_192.0, "unit": "bytes",
                               "description": "Bytes read in whole bursts <all clients>"}
    return made


def sample_result(count=36):
    """As core/result.schema.json has it, with every bound, class and lane."""
    run = launches(12_000_000, count)
    first, last = run[0]["start_ns"], run[-1]["end_ns"]
    busy = sum(launch["end_ns"] - launch["start_ns"] for launch in run)
    return {
        "schema_version": 1,
        "tool": "fmsim 0.1.0",
        "config": {
            "name": "mali-g715", "description": "Google Pixel 8, Mali-G715 MP7",
            "gpu": {"cores": {"value": 7, "source": "spec", "cite": "Google Tensor G3: MP7"}},
            "l2": {"size": {"value": "2 MiB", "source": "assumed", "cite": "Arm <guide> & others"}}},
        "trace": {"file": "vit.trace", "digest": "xxh3:0123456789abcdef"},
        "sampling": {"mode": "auto", "error_bound": 0.013},
        "latency": {"integrated_ns": last, "startup_ns": 9_000_000, "init_ns": first,
                    "exec_ns": last - first},
        "floor": {"disk_ns": 8_100_000, "compute_ns": busy // 3, "dram_ns": busy // 4},
        "memory": memory(run),
        "timeline": timeline(run),
        "peaks": {"dram": 0.41, "l2": 0.22, "texture": 0.63, "alu": 0.35, "disk": 0.88},
        "roofline": {"flops": 1e9, "intensity": {"dram": 12.0}, "achieved_gflops": 100.0,
                     "attainable_gflops": 800.0, "bound": "dram"},
        "energy": {"total_nj": 95_400_000.0, "average_power_mw": 3100.0, "by_component": {
            "alu_fma": 40_000_000.0, "dram_read": 30_400_000.0, "l2_read": 9_000_000.0,
            "static_gpu": 16_000_000.0}, "outside_launches_nj": 20_000_000.0},
        "power_over_time": [{"time_ns": 1_000_000, "gpu_speed": 0.5, "dram_speed": 1, "cpu_speed": 1,
                             "power_mw": 3000.0, "temperature_c": 31.5}],
        "launches": run,
        "counters": counters(),
        "checks": [{"law": "l2: fetches = fills", "left": 923_378.0, "right": 923_378.0,
                    "holds": True},
                   {"law": "dram: bytes = bursts x burst size", "left": 59_096_192.0,
                    "right": 59_096_192.0, "holds": True}],
    }


if __name__ == "__main__":
    print(json.dumps(sample_result(), indent=2))
