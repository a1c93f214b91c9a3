#!/usr/bin/env python3
"""Writes the timed problem (docs/overlap.md) of each of the paper's networks, from sizes alone.

Networks as in write_problems.py; what its launches cost on a device, as fmplan estimates it without a
profile: README.md says how each number is derived.

Example:
  models/sizes/write_timed_problems.py -o out/timed --disk-bandwidth 1.5GB/s ViT Llama2-13B
"""

import argparse
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import device_figures  # noqa: E402
import write_problems  # noqa: E402

# planner/passes/passes.hpp: weights above the first are slices of at most the second.
LARGEST_WHOLE_WEIGHT = 16 * 1024**2
LARGEST_SLICE = 8 * 1024**2
HIDDEN_COST = 0.2  # of a byte streamed in otherwise unused bandwidth (planner/profile/estimate.cpp)


def microseconds(seconds):
    return f"{seconds * 1e6:.3f} us"


def slowdown(kind, time, moved, figures):
    """[bytes, seconds]: cheap in bandwidth that the launch leaves unused, then at its full price, as far
    as the class allows."""
    allowed = write_problems.SLOWDOWN[kind] * time
    if allowed <= 0:
        return []
    cost = 2 / figures.bytes_per_second  # a streamed byte is read and written
    hidden = max(0, time - moved / figures.bytes_per_second) / cost
    hidden_time = hidden * cost * HIDDEN_COST
    curve = []
    if hidden >= 1:
        curve.append((int(hidden) + 1, hidden_time))
    if hidden_time < allowed:
        curve.append((int(hidden + (allowed - hidden_time) / cost) + 2, allowed))
    return curve


def parts_of(operator):
    """Launches of an operator: as many as slices of its weight. (macs, moved bytes, weights)"""
    (name, size), = operator.weights or [(None, 0)]
    count = math.ceil(size / LARGEST_SLICE) if size > LARGEST_WHOLE_WEIGHT else 1
    for part in range(count):
        share = size * (part + 1) // count - size * part // count
        suffix = f".{part}" if count > 1 else ""
        yield (operator.name + suffix, operator.macs // count, operator.moved_bytes // count,
               [(name + suffix, share)] if size else [])


def launches_of(network, figures):
    """(name, kind, seconds, moved bytes, memory, weights)"""
    for operator in network.operators:
        for name, macs, moved, weights in parts_of(operator):
            moved += sum(size for _, size in weights)
            time = figures.launch_overhead + max(macs / figures.macs_per_second,
                                                 moved / figures.bytes_per_second)
            yield name, operator.kind, time, moved, operator.moved_bytes, weights


def claims_lines(arguments, figures, weight_bytes):
    """Claims as an executor makes them: part of the room for weights is the ring."""
    if arguments.claims == "chunks":
        return []
    ring = int(arguments.ring * arguments.share * weight_bytes)
    piece = max(min(ring // 2, 1024**2), ring // 4)
    return ["whole_claims:", f"  ring: {ring} B", f"  ahead: {arguments.ahead}",
            f"  piece_overhead: {microseconds(figures.piece_overhead(piece))}",
            f"  enqueue: {microseconds(figures.enqueue)}", f"  image: {microseconds(figures.image)}",
            f"  image_bandwidth: {1 / figures.image_per_byte:.0f} B/s"]


def problem_text(network, figures, arguments):
    launches = list(launches_of(network, figures))
    weights = [(name, size, launch[0]) for launch in launches for name, size in launch[5]]
    weight_bytes = sum(size for _, size, _ in weights)
    budget = max(launch[4] for launch in launches) + int(arguments.share * weight_bytes)
    lines = [
        f"# {network.name}: {network.parameters / 1e6:.1f} M parameters, {network.macs / 1e9:.1f} GMAC, "
        f"{len(network.operators)} operators, on {figures.name}.",
        f"# Shapes: {network.source}.",
        f"# Budget: the largest activations and {arguments.share:g} of the weights.",
        "timed: 1", f"name: {network.key}", f"chunk: {arguments.chunk} KiB", f"budget: {budget} B",
        f"copy: {{base: {microseconds(figures.launch_overhead)}, bandwidth: "
        f"{figures.copy_bandwidth:.0f} B/s}}",
        *claims_lines(arguments, figures, weight_bytes), "launches:"]
    for name, kind, time, moved, memory, _ in launches:
        points = ", ".join(f"[{size} B, {microseconds(extra)}]"
                           for size, extra in slowdown(kind, time, moved, figures))
        lines.append(f"  - {{name: {name}, time: {microseconds(time)}, memory: {memory} B"
                     + (f", slowdown: [{points}]" if points else "") + "}")
    lines.append("weights:")
    seen = set()
    for name, size, launch in weights:
        # Each weight is used by one launch: the next of its size takes over its memory.
        reuse = ", new_memory: false" if arguments.claims == "whole" and size in seen else ""
        seen.add(size)
        lines.append(f"  - {{name: {name}, bytes: {size} B, first_use: {launch}, "
                     f"read: {microseconds(figures.read_seconds(size))}{reuse}}}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", help="names of the paper's tables (default: all)")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="folder")
    parser.add_argument("--config", default="adreno-750", help="name in configs/ (default adreno-750)")
    parser.add_argument("--disk-bandwidth", metavar="RATE",
                        help="best bandwidth of the disk instead of the config's, e.g. 1.5GB/s")
    parser.add_argument("--chunk", type=int, default=256, metavar="KIB",
                        help="what is read and transformed at once (default 256, as fmplan's plans)")
    parser.add_argument("--share", type=float, default=0.15,
                        help="of the weights, that the budget has room for (default 0.15)")
    parser.add_argument("--claims", choices=("chunks", "whole"), default="chunks",
                        help="chunk by chunk (default), or whole images and a ring, as executors claim")
    parser.add_argument("--ring", type=float, default=0.5,
                        help="share of that room which is the ring (default 0.5)")
    parser.add_argument("--ahead", type=int, default=3, metavar="N",
                        help="whole claims: launches enqueued ahead of the running one (default 3)")
    arguments = parser.parse_args()
    known = {network.key: network for network in write_problems.networks()}
    figures = device_figures.figures(arguments.config)
    if arguments.disk_bandwidth:
        figures.limit_disk(device_figures.quantity(arguments.disk_bandwidth))
    arguments.output.mkdir(parents=True, exist_ok=True)
    for key in arguments.networks or known:
        if key not in known:
            parser.error(f"no network {key}: {', '.join(known)}")
        network = known[key]
        if key in write_problems.LAYERS:
            network.pad_to(write_problems.LAYERS[key])
        (arguments.output / f"{key}.yaml").write_text(problem_text(network, figures, arguments))


if __name__ == "__main__":
    main()
