#!/usr/bin/env python3
"""Writes the LC-OPG problem (docs/lc-opg.md) of each of the paper's networks, from sizes alone.

Shapes come from the networks' published architectures (`source` of each, in the file); how many
operators the lowered graph has, from table 6 of FlashMem (arXiv 2602.15379). A layer's capacity is
what its class may be slowed down (table 5: reusable 20 %, elemental 300 %, hierarchical 0 %) times its
time, at the 65 GB/s of figure 1a, in whole chunks. A reusable layer's time is its multiply-accumulates
at the rate that the paper's own execution time of the network implies (table 7, SmartMem), another's
its activations at those 65 GB/s.

Example:
  models/sizes/write_problems.py -o out/sizes GPTN-S Llama2-13B
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import convolutional  # noqa: E402
import transformers  # noqa: E402

BANDWIDTH = 65e9  # bytes/s between unified and texture memory: FlashMem figure 1a
SLOWDOWN = {"reusable": 0.2, "elemental": 3.0, "hierarchical": 0.0}  # FlashMem table 5
LAYERS = {  # FlashMem table 6
    "GPTN-S": 606, "GPTN-1.3B": 1110, "GPTN-2.7B": 1446, "ResNet50": 141, "SAM-2": 1668, "ViT": 819,
    "DeepViT": 1395, "SD-UNet": 1271, "Whisper-M": 2026, "DepthA-S": 1108, "DepthA-L": 2007}
EXECUTION = {  # s, FlashMem table 7, SmartMem
    "GPTN-S": 59e-3, "GPTN-1.3B": 501e-3, "ResNet50": 33e-3, "SAM-2": 826e-3, "ViT": 73e-3,
    "DeepViT": 190e-3, "SD-UNet": 312e-3, "Whisper-M": 336e-3, "DepthA-S": 71e-3,
    "DepthA-L": 807e-3}
RATE_OF_OTHERS = 170e9 / 501e-3  # MAC/s of GPTN-1.3B: those the paper gives no execution time for

VIT = ("a ViT-B/16 block (arXiv 2010.11929), repeated until the parameters are about the paper's, "
       "which names no variant")


def networks():
    return [
        transformers.gpt_neo("GPTN-S", "GPT-Neo small", 768, 12, 12),
        transformers.gpt_neo("GPTN-1.3B", "GPT-Neo 1.3B", 2048, 24, 16),
        transformers.gpt_neo("GPTN-2.7B", "GPT-Neo 2.7B", 2560, 32, 20),
        convolutional.resnet50(),
        convolutional.sam2(),
        transformers.vit("ViT", "ViT", VIT, 768, 14, 12),
        transformers.vit("DeepViT", "DeepViT", VIT, 768, 28, 12),
        convolutional.sd_unet(),
        transformers.whisper_medium(),
        transformers.depth_anything("DepthA-S", "Depth Anything small", 384, 12, 6, 64,
                                    [48, 96, 192, 384]),
        transformers.depth_anything("DepthA-L", "Depth Anything large", 1024, 24, 16, 256,
                                    [256, 512, 1024, 1024]),
        transformers.vit("ViT-8B", "ViT 8B", "the paper gives no shape: 40 blocks 4096 wide have 8 "
                         "billion parameters", 4096, 40, 32),
        transformers.llama2("Llama2-13B", "Llama 2 13B", 5120, 40, 40, 40, 13824),
        transformers.llama2("Llama2-70B", "Llama 2 70B", 8192, 80, 64, 8, 28672),
    ]


def capacity(network, operator, chunk_bytes, scale):
    rate = network.macs / EXECUTION[network.key] if network.key in EXECUTION else RATE_OF_OTHERS
    seconds = operator.macs / rate if operator.macs else operator.moved_bytes / BANDWIDTH
    return int(SLOWDOWN[operator.kind] * seconds * BANDWIDTH * scale / chunk_bytes)


def problem_text(network, chunk_kib, m_peak, balance, scale):
    lines = [
        f"# {network.name}: {network.parameters / 1e6:.1f} M parameters, {network.macs / 1e9:.1f} "
        f"GMAC, {len(network.operators)} operators.",
        f"# Shapes: {network.source}.",
        "# Left out of `weights`: embedding tables (rows are gathered) and weights below 64 KiB "
        "(always preloaded).",
        "lc_opg: 1", f"name: {network.key}", f"chunk_bytes: {chunk_kib} KiB",
        f"m_peak: {m_peak} B", f"lambda: {balance}", "layers:"]
    chunk_bytes = chunk_kib * 1024
    for operator in network.operators:
        lines.append(f"  - {{name: {operator.name}, capacity: "
                     f"{capacity(network, operator, chunk_bytes, scale)}}}")
    lines.append("weights:")
    for operator in network.operators:
        for name, size in operator.weights:
            lines.append(f"  - {{name: {name}, layer: {operator.name}, bytes: {size} B}}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", help="names of the paper's tables (default: all)")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="folder")
    parser.add_argument("--chunk", type=int, default=256, metavar="KIB",
                        help="S (default 256, as fmplan's plans)")
    parser.add_argument("--m-peak", type=int, default=500_000_000, metavar="BYTES",
                        help="default 500 MB, the paper's")
    parser.add_argument("--lambda", type=float, default=0.9, dest="balance", help="default 0.9")
    parser.add_argument("--scale", type=float, default=1.0,
                        help="multiplies all capacities: below 1, a tighter problem")
    arguments = parser.parse_args()
    known = {network.key: network for network in networks()}
    for key in arguments.networks or known:
        if key not in known:
            parser.error(f"no network {key}: {', '.join(known)}")
        network = known[key]
        if key in LAYERS:
            network.pad_to(LAYERS[key])
        arguments.output.mkdir(parents=True, exist_ok=True)
        (arguments.output / f"{key}.yaml").write_text(problem_text(
            network, arguments.chunk, arguments.m_peak, arguments.balance, arguments.scale))


if __name__ == "__main__":
    main()
