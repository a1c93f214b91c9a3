"""Counters against what can be counted by hand, on launches small enough to do so."""

import json
import pathlib
import re
import tempfile
import unittest

from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import model_of, node, save, weight

LINE = 64  # bytes, of every cache of the simulated phone
WAVE = 16  # its lanes
ROWS, COLUMNS = 256, 512
ELEMENTS = ROWS * COLUMNS


class ToyChecks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flashmem-toy-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def simulated(self, model, *options, edit=lambda plan: plan):
        onnx, plan = save(model, self.folder / "toy.onnx"), self.folder / "toy.plan.yaml"
        weights, trace = self.folder / "toy.fmw", self.folder / "toy.trace"
        result = self.folder / "toy.json"
        pipeline.tool("fmplan", "--model", onnx, "--config", "mali-g715", *options, "-o", plan)
        plan.write_text(edit(plan.read_text()))
        pipeline.tool("fmplan", "pack", "--plan", plan, "--model", onnx, "-o", weights)
        pipeline.tool("fmexec", "--plan", plan, "--weights", weights, "--record", trace)
        # Page tables are read past the L2, so that what it counts is the kernels'.
        pipeline.tool("fmsim", "--config", "mali-g715", "--set", "mmu.walk_path=memory", "--trace", trace,
                      "--json", "-o", result)
        return json.loads(result.read_text())

    def counters(self, result):
        return {name: counter["value"] for name, counter in result["counters"].items()}


class Order(ToyChecks):
    """A transposition reads down the columns of a matrix of floats and writes along its rows."""

    def transposed(self, group):
        def with_groups_of(plan):
            plan, count = re.subn(r"local: \[\d+, 1, 1\]", f"local: [{group}, 1, 1]", plan)
            self.assertEqual(count, 1)
            return plan

        model = model_of([node("Transpose", "x", "y", perm=[1, 0])], [ROWS, COLUMNS], [])
        return self.simulated(model, "--placement", "buffer", edit=with_groups_of)

    def test_same_accesses_in_another_order_give_other_hits_and_cycles(self):
        """Work-groups of another size hold the same waves, but other ones meet in a core's cache."""
        small, large = self.transposed(WAVE), self.transposed(16 * WAVE)
        few, many = self.counters(small), self.counters(large)
        self.assertEqual((few["core.groups"], many["core.groups"]), (8192, 512))
        for name in ("core.waves", "core.accesses", "core.operations.integer",
                     "load_store.read_lookups", "load_store.write_lookups"):
            self.assertEqual(few[name], many[name], name)
        for name in ("load_store.read_hits", "load_store.read_misses", "l2.read_lookups",
                     "core.active_cycles"):
            self.assertNotEqual(few[name], many[name], name)
        self.assertNotEqual(small["latency"]["exec_ns"], large["latency"]["exec_ns"])

    def test_lookups_equal_those_counted_by_hand(self):
        """A column's neighbours lie on lines of their own, a row's share one, and memory gives each
        line once: the matrix fits the second-level cache."""
        seen = self.counters(self.transposed(4 * WAVE))
        lines = ELEMENTS * 4 // LINE
        self.assertEqual(seen["core.waves"], ELEMENTS // WAVE)
        self.assertEqual(seen["core.accesses"], 2 * ELEMENTS // WAVE)
        self.assertEqual(seen["load_store.read_lookups"], ELEMENTS)
        self.assertEqual(seen["load_store.write_lookups"], lines)
        self.assertEqual(seen["l2.read_misses"], lines)


class Presence(ToyChecks):
    """A counter moves only where a request passes."""

    MODEL = model_of([node("MatMul", "x w", "y")], [32, 64], [weight("w", 64, 96)])
    PACKED = 64 * 96 * 2  # bytes: 64 rows of 24 texels of four halves
    TILED = 64 * 32 * 8  # rows filled up to tiles of 16 x 16 texels

    def moved(self, result):
        return {name for name, value in self.counters(result).items() if value}

    def moved_within(self, names, *blocks):
        return {name for name in names if name.startswith(blocks)}

    def test_buffers_pass_no_texture_unit_and_no_copy_engine(self):
        names = self.moved(self.simulated(self.MODEL, "--placement", "buffer"))
        self.assertEqual(self.moved_within(names, "texture.", "copy."), set())
        self.assertIn("load_store.read_lookups", names)
        self.assertIn("storage.read_bytes", names)

    def test_images_pass_the_texture_unit(self):
        result = self.simulated(self.MODEL, "--placement", "image2d")
        self.assertIn("texture.read_lookups", self.moved(result))
        for launch in result["launches"]:
            if launch["operation"] == "MatMul":
                self.assertGreater(launch["counters"]["texture.read_lookups"], 0)

    def test_streamed_images_pass_the_copy_engine_once(self):
        seen = self.counters(self.simulated(self.MODEL, "--placement", "image2d", "--policy",
                                            "always-next"))
        self.assertEqual(seen["storage.read_bytes"], self.PACKED)
        self.assertEqual((seen["copy.copies"], seen["copy.read_bytes"], seen["copy.written_bytes"]),
                         (1, self.PACKED, self.TILED))

    def test_a_network_without_weights_reads_nothing_from_storage(self):
        names = self.moved(self.simulated(model_of([node("Relu", "x", "y")], [32, 64], [])))
        self.assertEqual(self.moved_within(names, "storage.", "copy."), set())
        self.assertFalse({name for name in names if "storage" in name})

    def test_only_products_multiply(self):
        result = self.simulated(self.MODEL, "--placement", "buffer")
        for launch in result["launches"]:
            product = launch["operation"] == "MatMul"
            self.assertEqual("core.operations.fma" in launch["counters"], product, launch["id"])


if __name__ == "__main__":
    unittest.main()
