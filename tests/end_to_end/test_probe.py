"""`fmprobe`: a device's config from its curves."""

import json
import pathlib
import tempfile
import unittest

import yaml

from tests.end_to_end import pipeline


def figures_in(path):
    """The values a config gives itself, by path, without units."""
    config = yaml.safe_load(path.read_text())
    return {
        f"{room}.{key}": entry
        for room, entries in config.items()
        if isinstance(entries, dict)
        for key, entry in entries.items()
    }


UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "cycles": 1, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3}
UNITS |= {"MB/s": 1e6, "GB/s": 1e9, "KB/s": 1e3, "B/s": 1}


def number(text):
    amount, _, unit = str(text).partition(" ")
    return float(amount) * (UNITS[unit] if unit else 1)


# What a simulated device's own config says, and within which part of it the probe must say the same. The base is the
# device with other values of the figures sought.
KNOWN = {
    "adreno-750": {
        "base": """
schema: 1
name: other
description: an Adreno 750 whose figures are others
base: adreno-750
gpu: {wave_width: 32, fma_per_clock: 64}
load_store: {cache_size: 4 KiB, line: 64 B, ways: 8, latency: 50 cycles, bytes_per_clock: 32 B}
texture: {cache_size: 2 KiB, line: 64 B, ways: 8, latency: 50 cycles, return_bytes_per_clock: 32 B}
local: {banks: 32, bytes_per_clock: 32 B}
cluster: {size: 256 KiB, ways: 8, latency: 50 cycles}
l2: {size: 2 MiB, ways: 8, latency: 50 cycles}
slc: {size: 4 MiB, latency: 60 ns, bandwidth: 90 GB/s}
host: {launch_overhead: 30 us, enqueue_overhead: 9 us}
storage: {command_latency: 30 us}
""",
        "figures": {
            "gpu.wave_width": 0, "gpu.fma_per_clock": 0, "load_store.cache_size": 0, "load_store.line": 0,
            "load_store.ways": 0, "load_store.latency": 0.05, "load_store.bytes_per_clock": 0.05, "cluster.size": 0,
            "cluster.ways": 0, "cluster.latency": 0.05, "l2.size": 0, "l2.ways": 0, "l2.latency": 0.05,
            "texture.cache_size": 0, "texture.line": 0, "texture.ways": 0, "texture.latency": 0.05,
            "texture.return_bytes_per_clock": 0, "slc.size": 0, "slc.latency": 0.1, "slc.bandwidth": 0.1,
            "local.banks": 0, "local.bytes_per_clock": 0.05, "host.launch_overhead": 0.02,
            "host.enqueue_overhead": 0.02, "storage.command_latency": 0.02,
        },
        "not_visible": ["texture.texels_per_clock", "gpu.full_occupancy_registers"],
    },
    "mali-g76": {
        "base": """
schema: 1
name: other
description: a Mali-G76 whose figures are others
base: mali-g76
gpu: {wave_width: 16, fma_per_clock: 12}
load_store: {cache_size: 32 KiB, ways: 8, latency: 20 cycles, bytes_per_clock: 16 B}
texture: {cache_size: 16 KiB, ways: 8, latency: 20 cycles, texels_per_clock: 1, bytes_per_clock: 16 B}
l2: {size: 512 KiB, ways: 8, latency: 50 cycles}
slc: {bandwidth: 5 GB/s}
host: {launch_overhead: 30 us, enqueue_overhead: 9 us}
storage: {command_latency: 30 us}
""",
        "figures": {
            "gpu.wave_width": 0, "gpu.fma_per_clock": 0, "load_store.cache_size": 0, "load_store.ways": 0,
            "load_store.latency": 0, "load_store.bytes_per_clock": 0, "l2.size": 0, "l2.ways": 0, "l2.latency": 0,
            "texture.cache_size": 0, "texture.ways": 0, "texture.latency": 0, "texture.bytes_per_clock": 0,
            "texture.texels_per_clock": 0, "slc.bandwidth": 0.1, "host.launch_overhead": 0.02,
            "host.enqueue_overhead": 0.02, "storage.command_latency": 0.02,
        },
        "not_visible": ["local.banks", "slc.size", "l2.bytes_per_clock", "texture.line"],
    },
}


def with_sources(base):
    """Every value of the text's rooms becomes `{value: .., source: assumed, cite: test}`."""
    config = yaml.safe_load(base)
    for entries in config.values():
        if isinstance(entries, dict):
            for key, value in entries.items():
                entries[key] = {"value": value, "source": "assumed", "cite": "test"}
    return yaml.safe_dump(config)


def effective(config):
    """All values of a config as `fmsim --explain` prints them, by path."""
    lines = pipeline.tool("fmsim", "--config", config, "--explain").stdout.splitlines()
    return dict(line.split(" = ", 1) for line in lines if " = " in line and not line.startswith(" "))


class SimulatedDevices(unittest.TestCase):
    def test_the_probe_finds_what_the_config_says(self):
        for device, known in KNOWN.items():
            with self.subTest(device), tempfile.TemporaryDirectory(prefix="flashmem-probe-") as folder:
                raw, base, probed = (pathlib.Path(folder) / name for name in ("raw.json", "other.yaml", "probed.yaml"))
                base.write_text(with_sources(known["base"]))
                pipeline.tool("fmsim", "microbench", "--config", device, "--json", "-o", raw)
                pipeline.tool("fmprobe", "analyse", "--raw", raw, "--base", base, "-o", probed)
                found = figures_in(probed)
                true = effective(device)
                for path, tolerance in known["figures"].items():
                    ratio = number(found[path]["value"]) / number(true[path])
                    self.assertAlmostEqual(ratio, 1, delta=tolerance + 1e-9, msg=path)
                    self.assertEqual(found[path]["source"], "measured", path)
                text = probed.read_text()
                for path in known["not_visible"]:
                    self.assertNotIn(path, found)
                    self.assertIn(f"# Not visible: {path}: ", text)
                pipeline.tool("fmsim", "--config", probed, "--explain")


class ThisDevice(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flashmem-probe-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.config, self.raw = self.folder / "this.yaml", self.folder / "this.json"

    def probe(self, *options, **keywords):
        return pipeline.tool("fmprobe", "-o", self.config, "--raw", self.raw, "--base", "pocl-host",
                             "--disk-folder", self.folder, *options, **keywords)

    def test_the_config_loads_and_says_what_was_measured(self):
        self.probe("--only", "wave_width", "--only", "transfer", "--only", "launch_latency", "--time-limit", 30)
        found = figures_in(self.config)
        self.assertIn("host.transfer_bandwidth", found)
        self.assertIn("host.enqueue_overhead", found)
        for path, entry in found.items():
            driver = path.startswith("limits.") or path in ("gpu.cores", "gpu.clock", "local.size")
            caches = path.endswith((".cache_size", ".ways", ".line")) or path in ("l2.size", "slc.size")
            self.assertEqual(entry["source"], "spec" if driver or caches else "measured", path)
            self.assertRegex(entry["cite"], "the driver says" if driver else "the operating system says"
                             if caches else r"spread \d+\.\d %")
        explained = pipeline.tool("fmsim", "--config", self.config, "--explain").stdout
        self.assertIn("measured: fmprobe on", explained)
        raw = json.loads(self.raw.read_text())
        self.assertEqual(sorted(raw["curves"]), ["enqueue", "launch_latency", "transfer", "wave_width"])
        self.assertEqual(len(raw["curves"]["wave_width"]["points"]), 18)
        for curve in raw["curves"].values():
            for point in curve["points"]:
                self.assertGreater(point["value"], 0)
                self.assertGreaterEqual(point["spread"], 0)
        # The same file again, without the device.
        again = self.folder / "again.yaml"
        pipeline.tool("fmprobe", "analyse", "--raw", self.raw, "--base", "pocl-host", "-o", again)
        self.assertEqual(figures_in(again), found)
        same = pipeline.tool("fmprobe", "compare", self.raw, self.raw).stdout
        self.assertIn("0 of", same.splitlines()[-1])

    def test_mistakes_are_named(self):
        text = self.folder / "text.json"
        text.write_text("{")
        still, elsewhere, empty = (self.folder / name for name in ("still.json", "elsewhere.json", "empty.json"))
        curve = {"unit": "ns/hop", "points": [{"axes": {"stride": 16}, "value": 1}]}
        device = {"device": "d", "clock_hz": 1e9, "cores": 1}
        still.write_text(json.dumps({**device, "clock_hz": 0, "curves": {}}))
        elsewhere.write_text(json.dumps({**device, "curves": {"pointer_chase_buffer": curve}}))
        empty.write_text(json.dumps({**device, "curves": {"block_walk_image": {**curve, "points": []}}}))
        for options, said in (
            ((), "--output is missing"),
            (("-o", self.config, "--only", "disc_read"), "disk_read"),
            (("-o", self.config, "--ring", "round"), "sequential"),
            (("-o", self.config, "--time-limit", 0), "--time-limit"),
            (("-o", self.config, "--base", "no-such"), "no-such"),
            (("-o", self.config, "--disk-folder", self.folder / "no"), "no such folder"),
            (("-o", self.folder / "no" / "c.yaml", "--base", "pocl-host"), "c.yaml"),
            (("analyse", "--raw", text, "--base", "pocl-host"), "text.json"),
            (("analyse", "--base", "pocl-host"), "--raw is missing"),
            (("analyse", "--raw", still, "--base", "pocl-host"), "clock_hz"),
            (("analyse", "--raw", elsewhere, "--base", "pocl-host"), "no axis footprint"),
            (("analyse", "--raw", empty, "--base", "pocl-host"), "no points"),
            (("compare", text), "two files"),
            (("measure",), "too many positional"),
        ):
            with self.subTest(options):
                self.assertIn(said, pipeline.tool("fmprobe", *options, status=2).stderr)
        self.assertFalse(self.config.exists())
