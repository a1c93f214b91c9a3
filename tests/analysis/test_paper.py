"""The evidence table's measures on a run small enough to work out by hand."""

import copy
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis/paper"))

from command_line import digest_of  # noqa: E402
from evidence_page import page  # noqa: E402
from measures import measures, prefetching, weights_in_memory  # noqa: E402


def weight(name, residency, **more):
    return {"tensor": name, "bytes": "100 B", "residency": residency, **more}


def launch(name, start, end, kernel="matmul"):
    return {"id": name, "kernel": kernel, "start_ns": start, "end_ns": end}


def read(name, start, end):
    return {"lane": "disk", "name": "read " + name, "start_ns": start, "end_ns": end}


# w0 is preloaded; w1 is in place before L0 ends, w2 is read in time but copied late, w3 is read only when L2
# has ended.
PLAN = {
    "launches": [{"id": "L0", "kind": "kernel", "arguments": [{"read": "w0"}]}, {"id": "L1", "kind": "kernel", "arguments": [{"read": "w1"}]},
                 {"id": "C0", "kind": "copy"}, {"id": "L2", "kind": "kernel", "arguments": [{"read": "w2"}, {"int": 3}]},
                 {"id": "L3", "kind": "kernel", "arguments": [{"read": "w3"}]}],
    "weights": [weight("w0", "preload"), weight("w1", "stream", release_after="L1"),
                weight("w2", "stream", release_after="L2", transforms=[{"launch": "C0"}]),
                weight("w3", "stream", release_after="L3"), weight("table", "disk")],
}
RESULT = {
    "latency": {"integrated_ns": 100, "startup_ns": 8, "exec_ns": 90},
    "floor": {"disk_ns": 30, "compute_ns": 46, "dram_ns": 5},
    "launches": [launch("L0", 10, 20), launch("L1", 20, 40), launch("C0", 38, 45, "copy"), launch("L2", 45, 60),
                 launch("L3", 80, 100)],
    "timeline": [read("w0", 0, 8), read("w1", 11, 19), read("w2", 21, 30), read("w3", 61, 80)],
    "memory": {"peak_bytes": 350, "average_bytes": 200,
               "by_class": {"preloaded": 100, "um_in_flight": 100, "tm_in_flight": 100, "activations": 40,
                            "staging": 10},
               "over_time": [dict(time_ns=0, preloaded=100, um_in_flight=0, tm_in_flight=0, activations=40,
                                  staging=0),
                             dict(time_ns=50, preloaded=100, um_in_flight=100, tm_in_flight=100,
                                  activations=40, staging=10)]},
    "energy": {"total_nj": 5e6},
    "sampling": {"error_bound": 0.01},
}


FACTS = {"seconds": 0.5, "launches": {"kernels": 4, "copies": 1},
         "overlap": {"gap": 0.02, "solver_seconds": 0.1, "weights": {"preloaded_bytes": 100}}}
STUDY = {"networks": [{"name": "net", "published": "ViT"}], "measured_on": "pc",
         "policies": [{"name": "preload"}, {"name": "optimal"}, {"name": "opg", "only": ["phone"]}],
         "breakdown": {"config": "phone", "steps": {"preload": "none", "opg": "OPG"}},
         "trade_off": {"config": "phone", "policies": ["preload", "optimal", "opg"]}}
PUBLISHED = {"source": "a paper", "latency_ms": {"ViT": dict(smartmem_init=1, smartmem_exec=2, flashmem=3)},
             "average_memory_mb": {"ViT": dict(smartmem=4, flashmem=5)}, "solver_s": {},
             "parameters_million": {"ViT": 6}, "macs_giga": {"ViT": 7},
             "slower_than_flashmem": {"always_next": 4.3, "same_op_type": 2.4},
             "breakdown": {part: {"opg": [5.3, 8.1], "fusion": [1.5, 5.1], "kernels": [1.0, 2.55]}
                           for part in ("latency", "memory")}}


class MeasuresTest(unittest.TestCase):
    def test_prefetching_counts_bytes_by_when_they_are_in_place(self):
        found = prefetching(RESULT, PLAN)
        self.assertEqual(found, {"coverage": 2 / 4, "timeliness": 1 / 2, "accuracy": 1.0})

    def test_measured_runs_name_the_weight_alone(self):
        result = copy.deepcopy(RESULT)
        for event in result["timeline"]:
            event["name"] = event["name"].split()[1]
        self.assertEqual(prefetching(result, PLAN), prefetching(RESULT, PLAN))

    def test_a_copy_in_time_makes_it_timely(self):
        result = copy.deepcopy(RESULT)
        result["launches"][2]["end_ns"] = 40
        self.assertEqual(prefetching(result, PLAN)["timeliness"], 1.0)

    def test_weights_are_all_classes_but_activations(self):
        self.assertEqual(weights_in_memory(RESULT), (310, (100 * 50 + 310 * 50) / 100))

    def test_a_row_of_the_table(self):
        point = measures(RESULT, PLAN, FACTS)
        self.assertEqual(point["weights_bytes"], 500)
        self.assertEqual(point["floor_ms"], 46e-6)
        text = page(STUDY, {"net": {("phone", "preload"): point}}, 
                    {("lc-opg",): "unknown", ("net", "phone", "a"): "later", ("net", "phone", "b"): "later"}, PUBLISHED)
        self.assertIn("| phone | preload | 0 ± 1% | 0 | 0 | 2.00 | 1.02 |", text)
        self.assertIn("| 0.50 | 0.50 | 1.00 | 0.10 | 2.0% |", text)
        self.assertIn("- lc-opg: unknown\n- net, phone: a, b: later", text)
        self.assertNotIn("What each part adds", text)

    def test_averages_by_class(self):
        found = measures(RESULT, PLAN, FACTS)["average_by_class"]
        self.assertEqual(found, {"preloaded": 100, "um_in_flight": 50, "tm_in_flight": 50, "activations": 40, "staging": 5})

    def test_parts_and_trade_off_compare_what_follows_start_up(self):
        preload = {**measures(RESULT, PLAN, FACTS), "integrated_ms": 70, "startup_ms": 10, "average_bytes": 4 << 20}
        opg = {**preload, "integrated_ms": 40, "average_bytes": 1 << 20, "weights_peak_bytes": 50}
        points = {("phone", "preload"): preload, ("phone", "optimal"): preload, ("phone", "opg"): opg}
        text = page(STUDY, {"net": points}, {}, PUBLISHED)
        self.assertIn("| OPG | 40 | 2.00 | 1 | 4.00 | 0.20 |  | 4 1 |", text)
        rows = text[text.index("Memory against latency"):]
        self.assertIn("| opg | 0 | 0.10 | 1 | 40 | 0.50 |", rows)
        self.assertLess(rows.index("| opg |"), rows.index("| preload |"), "least memory first")
        self.assertNotIn("| phone | opg |", text, "a row of the parts, not of the table")


class DigestTest(unittest.TestCase):
    def test_parts_do_not_run_together(self):
        self.assertNotEqual(digest_of("ab", "c"), digest_of("a", "bc"))
        self.assertEqual(digest_of("ab", "c"), digest_of("ab", "c"))


if __name__ == "__main__":
    unittest.main()
