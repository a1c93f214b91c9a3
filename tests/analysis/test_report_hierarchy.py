"""The hierarchy's edges are counters of the result, and agree with what the result says in other ways."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from report_case import ROOT, Page, WithFolder  # first: it finds the report's modules
from sample_result import sample_result

import hierarchy
from device_rates import DeviceRates, si_number
from quantities import bytes_text

BIN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin"))


def simulated(config, trace, *options):
    command = [BIN / "fmsim", "--config", config, "--trace", ROOT / f"traces/microbench/{trace}.trace", "--json",
               *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


def crossing(result, source, target, kind):
    return sum(flow.bytes for flow in hierarchy.flows_of(result)
               if (flow.source, flow.target, flow.kind) == (source, target, kind))


class SimulatedRuns(WithFolder):
    """Real results of fmsim. What is expected comes from other numbers of theirs than the edges."""

    def test_dram_edges_are_the_bandwidth_achieved(self):
        result = simulated("mali-g715", "bandwidth_buffer")
        config = result["config"]["dram"]
        of = {key: si_number(config[key]["value"]) for key in ("channels", "channel_width_bits", "data_rate")}
        bandwidth = of["channels"] * of["channel_width_bits"] / 8 * of["data_rate"]
        seconds = result["latency"]["integrated_ns"] * 1e-9
        moved = crossing(result, "slc", "dram", "read") + crossing(result, "slc", "dram", "write")
        self.assertGreater(moved, 1e6)
        self.assertAlmostEqual(moved / (bandwidth * seconds) / result["peaks"]["dram"], 1, places=6)

    def test_edges_of_a_device_with_cluster_caches(self):
        result = simulated("adreno-750", "bandwidth_image")
        counters = {name: counter["value"] for name, counter in result["counters"].items()}
        self.assertGreater(crossing(result, "texture", "cluster", "read"), 0)
        self.assertEqual(crossing(result, "texture", "l2", "read"), 0)
        # What the texture caches ask for is what the cluster caches look up for them.
        self.assertEqual(crossing(result, "texture", "cluster", "read") / 32, counters["cluster.texture_lookups"])
        self.assertEqual(crossing(result, "load_store", "cluster", "read")
                         + crossing(result, "load_store", "cluster", "write"),
                         32 * counters["cluster.load_store_lookups"])
        # Page tables are read past the L2.
        self.assertGreater(crossing(result, "walks", "slc", "read"), 0)
        self.assertEqual(crossing(result, "walks", "l2", "read"), 0)

    def test_l2_edges_without_cluster_caches(self):
        result = simulated("mali-g715", "bandwidth_image")
        counters = {name: counter["value"] for name, counter in result["counters"].items()}
        line = 64
        asked = sum(crossing(result, "l2", "slc", kind) for kind in ("read", "write"))
        self.assertEqual(asked, line * sum(counters[f"slc.{client}_lookups"]
                                           for client in ("load_store", "texture", "copy_engine", "mmu")))
        self.assertEqual(crossing(result, "walks", "l2", "read"), 8 * counters["l2.mmu_lookups"])

    def test_storage_edge_is_what_the_trace_reads(self):
        result = simulated("mali-g715", "disk_read")
        law = next(check for check in result["checks"]
                   if check["law"] == "host: bytes read from storage = bytes of the trace's disk reads")
        self.assertEqual(crossing(result, "storage", "slc", "write"), law["right"])

    def test_page_shows_each_edge_and_hit_rate(self):
        result = simulated("mali-g715", "bandwidth_image")
        text = self.page(result)
        shown = Page(text)
        counters = result["counters"]
        rows = shown.rows("edges")
        self.assertGreater(len(rows), 10)
        tree = re.search(r"<svg class=\"tree\".*?</svg>", text, re.DOTALL).group(0)
        for row in rows:
            cells = [cell[0] for cell in row]
            self.assertEqual(row[5][1], counters[cells[4]]["value"])
            self.assertEqual(row[3][1], row[5][1] * row[7][1])
        for source in ("load/store L1", "texture cache", "L2", "system-level cache", "DRAM", "copies", "storage"):
            self.assertIn(f">{source}<", tree)
        for source, target, kind in {(f.source, f.target, f.kind) for f in hierarchy.flows_of(result)}:
            self.assertIn(bytes_text(crossing(result, source, target, kind)), tree)
        self.assertIn(f'{100 * counters["texture.read_hits"]["value"] / counters["texture.read_lookups"]["value"]:.1f}'
                      " % hits", tree)


class OtherResults(WithFolder):
    def test_a_result_without_such_counters_has_no_tree(self):
        result = sample_result(1)
        result["counters"] = {}
        self.assertNotIn("tree", self.page(result).split("<body>")[1].split("<script")[0])

    def test_counters_without_their_sizes_have_no_bytes(self):
        result = sample_result(1)  # its config names no line
        self.assertEqual(hierarchy.flows_of(result), [])


class Quantities(unittest.TestCase):
    def test_values_of_configs(self):
        for value, wanted in (("2 MiB", 2**21), ("4MiB", 2**22), ("890 MHz", 890e6), ("57 GB/s", 57e9),
                              ("8533 MT/s", 8533e6), ("0.3 pJ", 0.3e-12), ("44 cycles", 44), ("18 ns", 18e-9), (7, 7),
                              ("0.5", 0.5), ("64 B", 64), ("oldest_first", None), (True, None), ([1], None),
                              ("1.2.3 MB", None), ("", None)):
            found = si_number(value)
            if wanted is None:
                self.assertIsNone(found, value)
            else:
                self.assertAlmostEqual(found, wanted, delta=abs(wanted) * 1e-12, msg=value)

    def test_config_by_path(self):
        rates = DeviceRates({"a": {"b": {"value": "2 KiB"}, "c": 3}, "name": "x"})
        self.assertEqual((rates["a.b"], rates["a.c"], rates["a.d"], rates["name"]), (2048, 3, None, None))
        self.assertEqual(rates.product("a.b", "a.c"), 6144)
        self.assertIsNone(rates.product("a.b", "a.d"))


if __name__ == "__main__":
    unittest.main()
