"""Queues of models: one plan, one weights file, each model's outputs right, within one budget."""

import json
import re
import unittest

import numpy as np

from tests.end_to_end import pipeline
from tests.end_to_end.test_bad_input import BadInput
from tests.end_to_end.tiny_models import classifier, model_of, node, products, save

CONFIG = "mali-g715"
WEIGHT = 256 * 256 * 2  # bytes of one product's weight


class Queue:
    """Models a, b and a again, in a queue within a budget; recorded, verified and simulated."""

    def __init__(self, folder, budget, *options):
        self.folder, self.budget = folder, budget
        self.a = save(products(seed=1), folder / "a.onnx")
        self.b = save(products(seed=2, layers=3), folder / "b.onnx")
        for name, path in (("a", self.a), ("b", self.b)):
            pipeline.reference_tool("ort_reference.py", "--model", path, "--seed", 3, "-o",
                                    folder / f"{name}.npz")
        self.plan, self.weights = folder / "q.plan.yaml", folder / "q.fmw"
        said = pipeline.tool("fmplan", "queue", self.a, self.b, self.a, "--config", CONFIG, "--budget",
                             f"{budget}B", "--json", *options, "-o", self.plan)
        self.report = json.loads(said.stdout)
        pipeline.tool("fmplan", "pack", "--plan", self.plan, "--model", self.b, "--model", self.a, "-o",
                      self.weights)

    def execute(self, *options, status=0):
        references = {"a": "a", "b": "b", "a.2": "a"}
        verified = [word for model, file in references.items()
                    for word in ("--verify", f"{model}={self.folder / file}.npz")]
        return pipeline.tool("fmexec", "--plan", self.plan, "--weights", self.weights, *verified,
                             *options, status=status)

    def measured_and_simulated(self):
        trace, measured, simulated = (self.folder / name for name in ("t.trace", "m.json", "s.json"))
        said = self.execute("--record", trace, "-o", measured)
        pipeline.tool("fmsim", "--config", CONFIG, "--trace", trace, "--json", "-o", simulated)
        return said.stdout, json.loads(measured.read_text()), json.loads(simulated.read_text())


def resident(sample):
    return sum(sample[name] for name in ("preloaded", "um_in_flight", "tm_in_flight", "activations",
                                         "staging"))


class QueueTest(unittest.TestCase):
    def queue(self, budget, *options):
        return Queue(pipeline.temporary_folder(self, "queue"), budget, *options)

    def check(self, queue, order):
        said, measured, simulated = queue.measured_and_simulated()
        self.assertEqual(said.count(": passed"), 3, said)
        peak = max(map(resident, measured["memory"]["over_time"]))
        self.assertLessEqual(peak, queue.budget)
        # Simulated objects take whole pages and padded rows beyond what the plan claims.
        peak = max(map(resident, simulated["memory"]["over_time"]))
        self.assertLessEqual(peak - simulated["memory"]["fragmentation"]["padding_bytes"], queue.budget)
        self.assertTrue(all(check["holds"] for check in simulated["checks"]))
        for result in (measured, simulated):
            models = result["models"]
            self.assertEqual([model["name"] for model in models], order)
            for before, after in zip(models, models[1:]):
                self.assertLessEqual(before["end_ns"], after["start_ns"])
            for model in models:
                self.assertEqual(model["integrated_ns"], model["end_ns"])
                self.assertLessEqual(model["peak_bytes"], result["memory"]["peak_bytes"])
            self.assertLessEqual(models[-1]["end_ns"], result["latency"]["integrated_ns"])
            self.assertEqual({launch["model"] for launch in result["launches"]}, set(order))
        return measured, simulated

    def test_a_roomy_budget_reads_every_weight_once(self):
        for placement in ("buffer", "image2d"):
            with self.subTest(placement):
                queue = self.queue(8 << 20, "--placement", placement)
                self.check(queue, ["a", "b", "a.2"])
                self.assertEqual(queue.report["queue"]["shared"]["read_again_bytes"], 0)

    def test_a_tight_budget_reads_weights_again_from_one_file(self):
        for placement in ("buffer", "image2d"):
            with self.subTest(placement):
                least = self.queue(8 << 20, "--placement", placement, "--minimize", "memory",
                                   "--slowdown", 1000).report["overlap"]["minimum"]["bytes"]
                queue = self.queue(least, "--placement", placement)
                _, simulated = self.check(queue, ["a", "b", "a.2"])
                again = queue.report["queue"]["shared"]["read_again_bytes"]
                self.assertGreater(again, 0)
                self.assertLess(queue.weights.stat().st_size, 7 * WEIGHT + 16 * 4096)
                read = {check["law"]: check["left"] for check in simulated["checks"]}
                self.assertEqual(read["host: bytes of weights read = bytes of the plan's weights"],
                                 7 * WEIGHT + again)

    def test_the_shortest_goes_first(self):
        queue = self.queue(8 << 20, "--order", "srpt")
        self.check(queue, ["b", "a", "a.2"])
        orders = queue.report["queue"]["orders"]
        self.assertLess(orders["srpt"]["sum_ns"], orders["fifo"]["sum_ns"])

    def test_other_policies(self):
        for policy in ("preload", "always-next"):
            with self.subTest(policy):
                self.check(self.queue(8 << 20, "--policy", policy, "--placement", "buffer"),
                           ["a", "b", "a.2"])


class BadQueues(BadInput):
    def queue(self, *arguments, words=()):
        return self.refused("fmplan", "queue", *arguments, "-o", self.folder / "q.plan.yaml",
                            words=words)

    def test_what_a_queue_refuses(self):
        a = self.save(classifier(), "a.onnx")
        (self.folder / "other").mkdir()
        other = save(classifier(seed=2), self.folder / "other" / "a.onnx")
        config = ("--config", CONFIG)
        self.queue(*config, words=["no models"])
        self.queue(a, other, *config, words=["two models are named `a`", other])
        self.queue(a, *config, "--order", "lifo", words=["--order", "lifo", "srpt"])
        self.queue(a, *config, "--policy", "optimum", words=["--policy", "optimal"])
        self.queue(a, *config, "--pareto", 3, words=["--pareto"])
        self.queue(a, self.folder / "none.onnx", *config, words=["none.onnx"])
        dynamic = self.save(model_of([node("Relu", "x", "y")], ["batch", 4], []), "dynamic.onnx")
        self.queue(a, dynamic, *config, words=["dynamic.onnx", "batch", "--shape"])
        self.queue(a, dynamic, *config, "--shape", "dynamic:z=2,4", words=["dynamic.onnx", "z", "x"])

    def test_a_budget_below_the_least_says_one_that_does(self):
        a, b = (self.save(products(seed=seed), f"{name}.onnx") for name, seed in (("a", 1), ("b", 2)))
        options = (a, b, "--config", CONFIG, "--budget")
        said = self.queue(*options, "64KiB",
                          words=["--budget 0.06 MiB", "held by launch", "of model"])
        least = re.search(r"\(--budget (\d+KiB)\) are needed", said).group(1)
        pipeline.tool("fmplan", "queue", *options, least, "-o", self.folder / "q.plan.yaml")

    def test_arrays_are_given_model_by_model(self):
        paths = [self.save(classifier(seed=seed), f"{name}.onnx") for name, seed in (("a", 1), ("b", 2))]
        plan, weights = self.folder / "q.plan.yaml", self.folder / "q.fmw"
        pipeline.tool("fmplan", "queue", *paths, "--config", CONFIG, "-o", plan)
        self.refused("fmplan", "pack", "--plan", plan, "--model", paths[0], "-o", weights,
                     words=["b.onnx", "missing"])
        pipeline.tool("fmplan", "pack", "--plan", plan, "--model", paths[0], "--model", paths[1], "-o",
                      weights)
        arrays = self.folder / "a.npz"
        np.savez(arrays, **{"input:x": np.zeros((1, 3, 8, 8), np.float32)})
        self.execute(plan, weights, "--inputs", arrays, words=["a, b", "MODEL=FILE"])
        self.execute(plan, weights, "--inputs", f"c={arrays}", words=["a, b", "MODEL=FILE"])


if __name__ == "__main__":
    unittest.main()
