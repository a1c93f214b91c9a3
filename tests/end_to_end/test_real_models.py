"""A pretrained text detector and a direction classifier on a picture of text: read the same as by ONNX Runtime."""

import sys
import unittest

import numpy as np

from tests.end_to_end import pipeline

sys.path.insert(0, str(pipeline.ROOT / "tools/real_models"))
import findings  # noqa: E402

# Letters of 5 x 7 dots, a row of dots a number.
LETTERS = {"F": (31, 16, 16, 30, 16, 16, 16), "L": (16, 16, 16, 16, 16, 16, 31), "A": (14, 17, 17, 31, 17, 17, 17),
           "S": (15, 16, 16, 14, 1, 1, 30), "H": (17, 17, 17, 31, 17, 17, 17), "E": (31, 16, 16, 30, 16, 16, 31),
           "M": (17, 27, 21, 21, 17, 17, 17)}


def word(text, dot):
    """Black letters on white, [7 dots, 6 dots a letter]."""
    rows = np.zeros((7, 6 * len(text)), np.uint8)
    for place, letter in enumerate(text):
        for row, bits in enumerate(LETTERS[letter]):
            rows[row, 6 * place:6 * place + 5] = [bits >> shift & 1 for shift in range(4, -1, -1)]
    return 255 * (1 - np.kron(rows, np.ones((dot, dot), np.uint8)))


def on_paper(picture, height, width, top, left):
    paper = np.full((height, width), 255, np.uint8)
    paper[top:top + picture.shape[0], left:left + picture.shape[1]] = picture
    return paper


def network_input(papers):
    scaled = (np.stack(papers).astype(np.float32) / 255 - 0.5) / 0.5
    return np.ascontiguousarray(np.repeat(scaled[:, None], 3, axis=1))


class RealModelsTest(unittest.TestCase):
    def outputs(self, model, picture, output, *plan_options):
        """What ONNX Runtime and fmexec make of a picture."""
        source, _ = pipeline.MODELS[model]
        onnx = pipeline.ROOT / source
        folder = pipeline.temporary_folder(self, model)
        shape = "x=" + ",".join(map(str, picture.shape))
        np.savez(folder / "in.npz", **{"input:x": picture})
        pipeline.reference_tool("ort_reference.py", "--model", onnx, "--shape", shape, "--inputs", folder / "in.npz",
                                "-o", folder / "ref.npz")
        pipeline.tool("fmplan", "--model", onnx, "--config", "adreno-750", "--shape", shape, *plan_options,
                      "-o", folder / "plan.yaml")
        pipeline.tool("fmplan", "pack", "--plan", folder / "plan.yaml", "--model", onnx, "-o", folder / "model.fmw")
        pipeline.tool("fmexec", "--plan", folder / "plan.yaml", "--weights", folder / "model.fmw", "--inputs",
                      folder / "ref.npz", "--verify", folder / "ref.npz", "--outputs", folder / "out.npz")
        with np.load(folder / "ref.npz") as expected, np.load(folder / "out.npz") as found:
            np.testing.assert_array_equal(expected["input:x"], picture)
            return expected[f"output:{output}"], found[f"output:{output}"]

    def test_text_is_found_where_it_stands(self):
        text = word("FLASHMEM", 3)
        picture = network_input([on_paper(text, 96, 192, 40, 24)])
        expected, found = self.outputs("ocr-det", picture, "sigmoid_0.tmp_0", "--policy", "optimal",
                                       "--placement", "buffer")
        boxes = findings.text_boxes(found)
        self.assertTrue(findings.same(boxes, findings.text_boxes(expected)))
        self.assertEqual(len(boxes), 1)
        left, top, right, bottom = boxes[0].box
        self.assertTrue(24 - 8 < left < right < 24 + text.shape[1] + 8, boxes)
        self.assertTrue(40 - 4 < top < bottom < 40 + 21 + 4, boxes)

    def test_lines_upside_down_are_told_from_others(self):
        upright = on_paper(word("FLASHMEM", 4), 48, 192, 10, 0)
        picture = network_input([upright, upright[::-1, ::-1]])
        expected, found = self.outputs("ocr-cls", picture, "softmax_0.tmp_0", "--storage", "f32",
                                       "--placement", "buffer")
        labels = [finding.text for finding in findings.best_labels(found, ("0", "180"))]
        self.assertEqual(labels, ["0", "180"])
        self.assertEqual(findings.best_labels(found, ("0", "180")), findings.best_labels(expected, ("0", "180")))


if __name__ == "__main__":
    unittest.main()
