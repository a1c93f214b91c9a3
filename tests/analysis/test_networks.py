"""The tables of the eleven networks, on figures small enough to work out by hand."""

import json
import pathlib
import sys
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis/paper"))

from networks_measured import cached_bytes, drop_from_cache, errors, process_bytes  # noqa: E402
from networks_page import page  # noqa: E402
from points import load_yaml  # noqa: E402
from simulated_network import alike, by_kernel, simulated_facts, texture_share  # noqa: E402


def launch(kernel, start, end, texture, bound="texture"):
    return {"kernel": kernel, "operation": "Op", "macs": 4000, "weight_bytes": 8, "start_ns": start, "end_ns": end,
            "bound": bound, "peaks": {"texture": texture}, "occupancy": {"waves": 9, "limit": "registers"},
            "roofline": {"intensity": {"texture": 1.25}, "attainable_gflops": 800}}


LAUNCHES = [launch("matmul", 0, 30, 0.9), launch("softmax", 30, 40, 0.1, "latency"), launch("matmul", 40, 50, 0.5, "dram")]
RESULT = {"latency": {"exec_ns": 50e6, "integrated_ns": 60e6}, "memory": {"peak_bytes": 3 << 20},
          "sampling": {"error_bound": 0.02}, "launches": LAUNCHES}
CONTENT = {"networks": [{"name": "net", "published": "ViT"}, {"name": "other"}], "configs": ["phone", "tablet"],
           "policies": ["preload", "optimal"], "preloaded": {"options": ["--storage", "f32"]},
           "streamed": {"options": ["--storage", "f16"]}}
PUBLISHED = {"source": "a paper", "macs_giga": {"ViT": 2}, "latency_ms": {"ViT": {"smartmem_exec": 25}}}


def plan(seconds):
    return {"seconds": seconds, "launches": {"kernels": 7}}


def measured_facts(**more):
    return {"launches": 7, "errors": {"a": 1e-6, "b": 3e-6}, "runtime": {"seconds": 0.5, "peak_bytes": 4 << 20},
            "exec_ms": 1000, "integrated_ms": 1500, "process_bytes": 2 << 20, "weights_file_bytes": 9 << 20,
            "cached_bytes": 0, **more}


class SimulatedTest(unittest.TestCase):
    def test_texture_share_is_weighted_by_time(self):
        self.assertAlmostEqual(texture_share(LAUNCHES), (30 * 0.9 + 10 * 0.1 + 10 * 0.5) / 50)
        self.assertEqual(texture_share([]), 0)

    def test_kernels_are_summed_the_longest_first(self):
        matmul, softmax = by_kernel(LAUNCHES)
        self.assertEqual((matmul[0], matmul[1], matmul[2], matmul[4]), ("matmul", 2, 40, "texture"))
        self.assertAlmostEqual(matmul[3], (30 * 0.9 + 10 * 0.5) / 40)
        self.assertEqual(softmax[0], "softmax")

    def test_launches_that_do_the_same_work_are_one_row(self):
        other = {**LAUNCHES[0], "macs": 500, "start_ns": 50, "end_ns": 60}
        move = {key: value for key, value in LAUNCHES[0].items() if key != "roofline"}  # computes nothing
        matmul, *rest = alike([*LAUNCHES, move, other])
        self.assertEqual((matmul["kernel"], matmul["macs"], matmul["launches"], matmul["ns"]), ("matmul", 4000, 2, 40))
        self.assertEqual([(row["kernel"], row["launches"]) for row in rest], [("softmax", 1), ("matmul", 1)])

    def test_facts_of_a_result(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "result.json"
            path.write_text(json.dumps(RESULT))
            facts = simulated_facts(path)
        self.assertEqual((facts["exec_ms"], facts["integrated_ms"], facts["launches"], facts["macs"]), (50, 60, 3, 12000))


class MeasuredTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_errors_are_relative_to_the_reference(self):
        reference, outputs = self.folder / "reference.npz", self.folder / "outputs.npz"
        numpy.savez(reference, **{"input:x": numpy.ones(3), "output:y": numpy.array([3.0, 4.0], numpy.float32)})
        numpy.savez(outputs, **{"output:y": numpy.array([3.0, 4.5], numpy.float32)})
        self.assertEqual(errors(reference, outputs), {"y": 0.1})

    def test_swapped_memory_counts(self):
        counters = {"process." + name: {"value": value}
                    for name, value in (("peak_resident", 10), ("anonymous", 4), ("file", 3), ("swapped", 5))}
        self.assertEqual(process_bytes(counters), 12)
        counters["process.swapped"]["value"] = 0
        self.assertEqual(process_bytes(counters), 10)

    def test_pages_in_the_cache_are_counted_and_given_back(self):
        path = self.folder / "weights"
        path.write_bytes(bytes(1 << 20))
        path.read_bytes()
        if cached_bytes(path) == 0:
            self.skipTest("this file system does not say what it caches")
        drop_from_cache(path)
        self.assertEqual(cached_bytes(path), 0)


class PageTest(unittest.TestCase):
    def simulated(self, **more):
        return {"policy": "preload", "exec_ms": 50, "integrated_ms": 60, "peak_bytes": 3 << 20, "error_bound": 0.02, "texture_share": 0.7,
                "macs": 10 ** 9, "kernels": by_kernel(LAUNCHES), "alike": alike(LAUNCHES), **more}

    def text(self, **simulated):
        points = {"plans": {"net": {(config, policy): plan(1.5) for config in ("phone", "tablet")
                                    for policy in ("preload", "optimal")}},
                  "simulated": {"net": {"phone": self.simulated(**simulated), "tablet": self.simulated(error_bound=None, policy="lc-opg")}},
                  "measured": {"net": {"preloaded": measured_facts()}}}
        points["plans"]["net"]["tablet", "optimal"] = "fmplan: error: too small"
        return page(CONTENT, points, PUBLISHED)

    def test_rows(self):
        text = self.text()
        self.assertIn("| net | 7 / 7 | 1.50 / 1.50 | 1.50 / refused |", text)
        self.assertIn("- net, tablet, optimal: fmplan: error: too small", text)
        self.assertIn("| net | 50.0 ± 2% | 25 | 2.00 (outside) | 20 / 80 | 70% | 60 | 3 | 50.0 (lc-opg) | 70% |", text)
        self.assertIn("| net | matmul | 2 | 80% | 80% | texture |", text)
        self.assertIn("| net | matmul (Op) | 2 | 0.0 | 0 | 80% | 80% | 1.25 | 800 | 50% | 9 (registers) |", text)
        self.assertIn("| net | preloaded | 7 | 3.0e-06 | 1.00 | 2.0 | 1.50 | 2 | 4 | 9 | 0.0 |", text)
        self.assertEqual(text.count("Not measured yet: other."), 2)

    def test_what_is_near_the_papers_is_not_marked_nor_taken_apart(self):
        text = self.text(exec_ms=30, texture_share=0.5)
        self.assertIn("| 25 | 1.20 | 33 / 80 | 50% |", text)
        self.assertNotIn("| net | matmul |", text)


class ContentTest(unittest.TestCase):
    def test_networks_have_their_skeletons_and_figures(self):
        content = load_yaml(ROOT / "analysis/paper/networks.yaml")
        published = load_yaml(ROOT / "analysis/paper/published.yaml")
        named = [network["published"] for network in content["networks"] if "published" in network]
        self.assertEqual(sorted(named), sorted(published["macs_giga"]))
        for network in content["networks"]:
            self.assertTrue((ROOT / network["model"]).is_file(), network["model"])
        for kind in ("preloaded", "streamed"):
            self.assertIsInstance(content[kind]["tolerance"], float)


if __name__ == "__main__":
    unittest.main()
