"""What the planner's roofline needs of a device config: a part of configs/*.yaml, bases followed."""

import dataclasses
import math
import pathlib

import yaml

CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
UNITS = {"": 1, "B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "MHz": 1e6, "GHz": 1e9, "MT/s": 1e6,
         "GT/s": 1e9, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "B/s": 1, "MB/s": 1e6, "GB/s": 1e9}


def quantity(text):
    """ "17 GB/s" or "17GB/s" as a number of seconds, bytes, hertz or of one in them."""
    text = str(text)
    digits = len(text.rstrip("".join(set("".join(UNITS))) + " "))
    return float(text[:digits]) * UNITS[text[digits:].strip()]


def layers(name):
    """The config's own sections before those of its bases and of its DRAM part."""
    for folder in ("", "base", "dram"):
        path = CONFIGS / folder / f"{name}.yaml"
        if path.exists():
            break
    else:
        raise FileNotFoundError(f"no config {name} in {CONFIGS}")
    found = [yaml.safe_load(path.read_text())]
    if "preset" in found[0].get("dram", {}):
        found += layers(found[0]["dram"]["preset"]["value"])
    if "base" in found[0]:
        found += layers(found[0]["base"])
    return found


@dataclasses.dataclass
class Figures:
    name: str
    macs_per_second: float   # reached: planner/profile/estimate.cpp's share of the peak, half precision
    bytes_per_second: float  # reached, of DRAM
    launch_overhead: float   # s
    copy_bandwidth: float
    request_overhead: float  # s, and by the byte:
    request_overhead_per_byte: float
    read_bandwidth: list     # [bytes, bytes/s], ascending
    enqueue: float           # s of the host
    image: float             # s of the host to make an image, and by the byte:
    image_per_byte: float

    def limit_disk(self, bandwidth):
        """The same curve with another best bandwidth."""
        scale = bandwidth / self.read_bandwidth[-1][1]
        self.read_bandwidth = [[size, rate * scale] for size, rate in self.read_bandwidth]

    def _request(self, size):
        """Seconds of data and of overhead (planner/overlap/device_costs.cpp)."""
        curve = self.read_bandwidth
        rate = curve[0][1] if size <= curve[0][0] else curve[-1][1]
        for (x0, y0), (x1, y1) in zip(curve, curve[1:]):
            if x0 < size <= x1:
                rate = y0 + (y1 - y0) * math.log2(size / x0) / math.log2(x1 / x0)
        return size / rate, self.request_overhead + self.request_overhead_per_byte * size

    def read_seconds(self, size):
        """Of one request: two threads hide each other's overhead behind data."""
        data, overhead = self._request(size)
        return max(data, (data + overhead) / 2)

    def piece_overhead(self, size):
        data, overhead = self._request(size)
        return max(0, (overhead - data) / 2)


def figures(name):
    sections = layers(name)

    def value(path):
        section, key = path.split(".")
        for layer in sections:
            if key in layer.get(section, {}):
                found = layer[section][key]["value"]
                return found if isinstance(found, list) else quantity(found)
        raise KeyError(f"{name}: {path}")

    dram = value("dram.channels") * value("dram.channel_width_bits") / 8 * value("dram.data_rate")
    return Figures(
        name=name,
        macs_per_second=0.2 * value("gpu.fma_per_clock") * value("gpu.fp16_ratio") * value("gpu.cores")
        * value("gpu.clock"),
        bytes_per_second=0.6 * dram,
        launch_overhead=value("host.launch_overhead"),
        copy_bandwidth=value("host.copy_bandwidth"),
        request_overhead=value("host.disk_request_cpu") + value("storage.command_latency")
        + 2 * value("host.map_overhead"),
        request_overhead_per_byte=2 / value("host.cache_maintenance_bandwidth"),
        read_bandwidth=[[quantity(x), quantity(y)] for x, y in value("storage.read_bandwidth")],
        enqueue=value("host.enqueue_overhead"),
        image=value("allocator.base_cost"),
        image_per_byte=value("allocator.page_cost") / value("mmu.page_size")
        + 1 / value("allocator.zeroing_bandwidth"))
