"""The parts of docs/evidence.md that follow one device: what each step adds, and memory against latency."""

MIB = 1 << 20


def chosen(config, policies, points):
    """{policy: point} on this device, or {} unless all are there."""
    found = {policy: points[config, policy] for policy in policies if (config, policy) in points}
    return found if len(found) == len(policies) else {}


def ready_ms(point):
    """From when programs are loaded to the output."""
    return point["integrated_ms"] - point["startup_ms"]


def fusion_of(point):
    fusion = (point.get("solver") or {}).get("fusion")
    return f"{len(fusion['unfused'])} of {fusion['offered']}" if fusion else ""


def preloaded_share(point):
    solver = point.get("solver")
    return f"{solver['weights']['preloaded_bytes'] / point['weights_bytes']:.2f}" if solver else "1.00"


def breakdown_lines(study, points, published):
    """Rows from SmartMem's way to all of FlashMem; nothing unless every step was measured."""
    found = chosen(study["config"], study["steps"], points)
    if not found:
        return
    yield f"\nWhat each part adds, {study['config']}:\n"
    yield ("| step | integrated ms | after start-up, times the step before | average MiB | times | W of weights | "
           "split | kernels copies |")
    yield "|---|---|---|---|---|---|---|---|"
    before = None
    for policy, words in study["steps"].items():
        point = found[policy]
        times = reduced = ""
        if before:
            times = f"{ready_ms(before) / ready_ms(point):.2f}"
            reduced = f"{before['average_bytes'] / point['average_bytes']:.2f}"
        launches = point["launches"]
        yield (f"| {words} | {point['integrated_ms']:.0f} | {times} | {point['average_bytes'] / MIB:.0f} | {reduced} | "
               f"{preloaded_share(point)} | {fusion_of(point)} | {launches['kernels']} {launches['copies']} |")
        before = point
    latency, memory = published["latency"], published["memory"]
    yield ("\nThe paper's, over SmartMem with its transform at start-up: latency "
           f"{span(latency['opg'])}, then {span(latency['fusion'])}, then {span(latency['kernels'])} times; memory "
           f"{span(memory['opg'])}, {span(memory['fusion'])}, {span(memory['kernels'])} times (section 5.4).")


def span(ends):
    return f"{ends[0]}–{ends[1]}"


def trade_off_lines(study, points):
    """Memory against latency, from the least memory; nothing unless three plans were measured."""
    config = study["config"]
    found = [(policy, points[config, policy]) for policy in study["policies"] if (config, policy) in points]
    if len(found) < 3:
        return
    yield f"\nMemory against latency, {config}:\n"
    yield "| plan | weights peak MiB | of all weights | average MiB | integrated ms | after start-up, of preload |"
    yield "|---|---|---|---|---|---|"
    preload = points.get((config, "preload"))
    for policy, point in sorted(found, key=lambda pair: pair[1]["weights_peak_bytes"]):
        relative = f"{ready_ms(point) / ready_ms(preload):.2f}" if preload else ""
        weights = point["weights_peak_bytes"]
        yield (f"| {policy} | {weights / MIB:.0f} | {weights / point['weights_bytes']:.2f} | "
               f"{point['average_bytes'] / MIB:.0f} | {point['integrated_ms']:.0f} | {relative} |")
