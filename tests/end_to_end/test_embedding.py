"""Embeddings: rows read from disk by the input's values, and a table tied to the head stored once."""

import json
import pathlib
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import node, save, weight

ROWS, WIDTH, TOKENS = 1000, 64, 6
TABLE_BYTES = ROWS * WIDTH * 2


def language_model(tied):
    """ids [1, 6] -> rows of a table -> Relu -> logits, by the table turned or a matrix of its own."""
    nodes = [node("Gather", "table ids", "x"), node("Relu", "x", "h")]
    weights = [weight("table", ROWS, WIDTH)]
    if tied:
        nodes.append(node("Transpose", "table", "head", perm=[1, 0]))
    else:
        weights.append(weight("head", WIDTH, 40, seed=2))
    nodes.append(node("MatMul", "h head", "y"))
    graph = helper.make_graph(
        nodes, "tiny", [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, TOKENS])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
    model.ir_version = 8
    return onnx.shape_inference.infer_shapes(model)


class EmbeddingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flashmem-embedding-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def prepare(self, tied, *options):
        model = save(language_model(tied), self.folder / "m.onnx")
        self.reference, self.plan = self.folder / "ref.npz", self.folder / "m.plan.yaml"
        self.weights = self.folder / "m.fmw"
        pipeline.reference_tool("ort_reference.py", "--model", model, "--seed", 5, "-o", self.reference)
        pipeline.tool("fmplan", "--model", model, "--config", "mali-g715", *options, "-o", self.plan)
        pipeline.tool("fmplan", "pack", "--plan", self.plan, "--model", model, "-o", self.weights)

    def execute(self, *options, status=0):
        return pipeline.tool("fmexec", "--plan", self.plan, "--weights", self.weights, *options,
                             status=status)

    def report(self):
        path = self.folder / "report.json"
        self.execute("--verify", self.reference, "--json", "-o", path, "--record",
                     self.folder / "m.trace")
        return json.loads(path.read_text())

    def test_a_tied_table_is_stored_once_and_outputs_match(self):
        for policy in ("preload", "always-next"):
            for placement in ("buffer", "image2d"):
                self.prepare(True, "--policy", policy, "--placement", placement)
                self.assertLess(self.weights.stat().st_size, TABLE_BYTES + 3 * 4096)
                ids = np.load(self.reference)["input:ids"]
                read = self.report()["counters"]["disk.read"]["value"]
                rows = len(set(ids.ravel().tolist())) * WIDTH * 2
                self.assertGreaterEqual(read, TABLE_BYTES + rows)
                self.assertLess(read, TABLE_BYTES + rows + 2 * 4096)

    def test_a_table_of_its_own_is_never_loaded(self):
        self.prepare(False, "--policy", "preload", "--placement", "buffer")
        report = self.report()
        self.assertLess(report["counters"]["disk.read"]["value"], TABLE_BYTES / 4)
        self.assertLess(report["memory"]["by_class"]["preloaded"], TABLE_BYTES / 4)
        self.assertEqual(report["memory"]["by_class"]["um_in_flight"], TOKENS * WIDTH * 2)

    def test_the_simulator_replays_the_reads_of_rows(self):
        self.prepare(False)
        self.report()
        result = self.folder / "simulated.json"
        composed = self.folder / "composed.trace"
        pipeline.tool("fmtrace", "compose", "--plan", self.plan, "--traces", self.folder / "m.trace",
                      "-o", composed)
        for trace in (self.folder / "m.trace", composed):
            pipeline.tool("fmtrace", "check", trace)
            pipeline.tool("fmsim", "--config", "mali-g715", "--trace", trace, "--json", "-o", result)
            simulated = json.loads(result.read_text())
            for law in simulated["checks"]:
                self.assertEqual(law["left"], law["right"], law["law"])
            # A request a row, whatever the ids drawn: some may be equal.
            self.assertGreater(simulated["counters"]["storage.requests"]["value"], TOKENS - 2)

    def test_indices_outside_the_table_are_refused(self):
        self.prepare(False)
        for outside in (ROWS, -ROWS - 1):
            inputs = self.folder / "bad.npz"
            np.savez(inputs, **{"input:ids": np.array([[0, 1, 2, outside, 4, 5]])})
            done = self.execute("--inputs", inputs, status=2)
            for word in ("ids", str(outside), "position 3", f"{ROWS} rows"):
                self.assertIn(word, done.stderr)

    def test_negative_indices_count_from_the_end(self):
        self.prepare(False)
        outputs = []
        for ids in ([0, 1, 2, -1, -ROWS, 5], [0, 1, 2, ROWS - 1, 0, 5]):
            inputs, output = self.folder / "in.npz", self.folder / "out.npz"
            np.savez(inputs, **{"input:ids": np.array([ids])})
            self.execute("--inputs", inputs, "--outputs", output)
            outputs.append(np.load(output)["output:y"])
        np.testing.assert_array_equal(*outputs)


if __name__ == "__main__":
    unittest.main()
