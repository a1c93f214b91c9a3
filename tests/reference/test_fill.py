"""The seeded weight generator and the committed skeletons (models/README.md)."""

import concurrent.futures
import csv
import io
import os
import pathlib
import struct
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "models"))

import fill
from write_test_vectors import rows

MASK = 2**64 - 1


def as_float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def float32_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def scalar_value(name, seed, index, mean, half_range):
    """The generator as models/README.md words it, in Python integers and doubles.

    A double holds the product and the sum of two float32 closely enough to round them once.
    """
    gamma, key = 0x9E3779B97F4A7C15, 0xCBF29CE484222325
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001B3 & MASK
    key ^= mix((seed + gamma) & MASK)
    z = mix((key + (index + 1) * gamma) & MASK)
    product = as_float32(as_float32(half_range) * (((z >> 40) - 2**23) * 2.0**-23))
    return as_float32(as_float32(mean) + product)


def seeded_tensor(name, dims, mean, half_range):
    tensor = TensorProto(name=name, dims=dims, data_type=TensorProto.FLOAT)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", fill.LOCATION), ("mean", mean), ("half_range", half_range)):
        tensor.external_data.add(key=key, value=value)
    return tensor


class Destinations(unittest.TestCase):
    def test_a_file_appears_whole_and_a_pipe_stays_a_pipe(self):
        with tempfile.TemporaryDirectory() as folder:
            path, pipe = pathlib.Path(folder, "file"), pathlib.Path(folder, "pipe")
            os.mkfifo(pipe)
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                piped = pool.submit(pipe.read_bytes)
                for target in (path, pipe):
                    fill.write_whole(target, lambda file: np.savez(file, x=np.arange(5)))
                self.assertTrue(pipe.is_fifo())
                with np.load(io.BytesIO(piped.result(timeout=60))) as a, np.load(path) as b:
                    np.testing.assert_array_equal(a["x"], b["x"])
            self.assertEqual(sorted(os.listdir(folder)), ["file", "pipe"])


class Generator(unittest.TestCase):
    def test_committed_vectors_equal_an_independent_implementation(self):
        path = os.path.join(ROOT, "tests", "data", "seeded_weights.csv")
        with open(path, encoding="utf-8", newline="") as file:
            vectors = list(csv.DictReader(file))
        self.assertGreater(len(vectors), 100)
        for row in vectors:
            value = scalar_value(row["name"], int(row["seed"]), int(row["index"]),
                                 float(row["mean"]), float(row["half_range"]))
            self.assertEqual(f"{float32_bits(value):08x}", row["float32_bits"], row)

    def test_committed_vectors_equal_fill(self):
        path = os.path.join(ROOT, "tests", "data", "seeded_weights.csv")
        with open(path, encoding="utf-8", newline="") as file:
            committed = [tuple(row) for row in list(csv.reader(file))[1:]]
        self.assertEqual(committed, [tuple(map(str, row)) for row in rows()])

    def test_filled_tensor_equals_element_by_element_draws_across_chunks(self):
        count = fill.CHUNK + 3
        tensor = seeded_tensor("layer.weight", [count], "0.25", "0.125")
        fill.fill_tensor(tensor, 9)
        values = np.frombuffer(tensor.raw_data, dtype="<f4")
        self.assertEqual(tensor.data_location, TensorProto.DEFAULT)
        self.assertEqual(values.shape, (count,))
        for index in (0, 1, fill.CHUNK - 1, fill.CHUNK, count - 1):
            self.assertEqual(values[index], scalar_value("layer.weight", 9, index, 0.25, 0.125))

    def test_values_are_uniform_over_the_range(self):
        values = fill.draw(5, "w", np.arange(200000, dtype=np.uint64), 1.0, 0.5)
        self.assertGreaterEqual(values.min(), 0.5)
        self.assertLessEqual(values.max(), 1.5)
        counts, _ = np.histogram(values, bins=10, range=(0.5, 1.5))
        self.assertLess(np.abs(counts - 20000).max(), 5 * np.sqrt(20000))

    def test_other_name_or_seed_gives_unrelated_values(self):
        indices = np.arange(100000, dtype=np.uint64)
        base = fill.draw(1, "a", indices, 0.0, 1.0)
        for other in (fill.draw(2, "a", indices, 0.0, 1.0), fill.draw(1, "b", indices, 0.0, 1.0)):
            self.assertLess(abs(np.corrcoef(base, other)[0, 1]), 0.02)

    def test_ordinary_initializers_stay(self):
        kept = helper.make_tensor("shape", TensorProto.INT64, [2], [1, -1])
        before = kept.SerializeToString()
        fill.fill_tensor(kept, 1)
        self.assertEqual(kept.SerializeToString(), before)


class Skeletons(unittest.TestCase):
    def check(self, name, parameters):
        path = os.path.join(ROOT, "models", name + ".onnx")
        self.assertLess(os.path.getsize(path), 1 << 20)
        model = onnx.load(path, load_external_data=False)
        tensors = model.graph.initializer
        for tensor in tensors:
            facts = {entry.key: entry.value for entry in tensor.external_data}
            self.assertEqual(facts.pop("location"), "seeded-weights", tensor.name)
            self.assertEqual(set(facts), {"mean", "half_range"})
            self.assertGreater(float(facts["half_range"]), 0.0)
            self.assertFalse(tensor.HasField("raw_data"))
        self.assertEqual(len({tensor.name for tensor in tensors}), len(tensors))
        self.assertEqual(sum(int(np.prod(tensor.dims)) for tensor in tensors), parameters)
        self.assertIn(model.opset_import[0].version, range(13, 18))
        return model

    def test_vit(self):
        self.check("vit", 86567656)  # torchvision's documented parameter count

    def test_resnet50_keeps_its_batch_normalisations(self):
        running_statistics = 2 * 26560
        model = self.check("resnet50", 25557032 + running_statistics)
        kinds = [node.op_type for node in model.graph.node]
        self.assertEqual((kinds.count("Conv"), kinds.count("BatchNormalization")), (53, 53))


if __name__ == "__main__":
    unittest.main()
