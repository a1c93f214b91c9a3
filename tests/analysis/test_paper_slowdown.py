"""Figure 2, of curves small enough to work out by hand."""

import unittest

from paper_case import PHONE, PUBLISHED, STUDY, rows_of, text_of
from sections import figure2


def curve(*points):
    return [(0, 100), *points]


def launch(operator, points, size=100, streams=True):
    return {"operator": operator, "input_bytes": size, "curve": points, "streams": streams}


class SlowdownTest(unittest.TestCase):
    def test_between_and_beyond_what_was_simulated(self):
        steps = curve((100, 110), (200, 150))
        self.assertEqual(figure2.slowdown_at(steps, 150), (1.3, False))
        self.assertEqual(figure2.slowdown_at(steps, 200), (1.5, False))
        self.assertEqual(figure2.slowdown_at(steps, 300), (1.9, True))

    def test_where_lines_are_crossed(self):
        steps = curve((100, 110), (200, 150))
        self.assertEqual(figure2.crossing(steps, 1.2), 125)
        self.assertEqual(figure2.crossing(steps, 1.7), 250)
        self.assertIsNone(figure2.crossing(curve((100, 90)), 1.2))

    def test_a_copy_stands_for_kernels_that_do_not_stream(self):
        copied = figure2.copied_curve(time_ns=100, input_bytes=1000, overhead_ns=50, bytes_per_ns=10)
        times, beyond = figure2.slowdown_at(copied, 2000)
        self.assertAlmostEqual(times, (100 + 50 + 200) / 100)
        self.assertFalse(beyond)

    def test_each_launch_once_and_no_tiny_ones(self):
        tensors = [{"id": name, "bytes": size, "shape": shape}
                   for name, size, shape in (("a", "64 KiB", [2]), ("b", "64 KiB", [2]), ("c", "64 KiB", [3]), ("d", "63 KiB", [4]))]

        def kernel(name, read, kernel="matmul"):
            return {"id": name, "kind": "kernel", "kernel": kernel, "global": [1], "local": [1], "arguments": [{"read": read}, {"int": 1}]}

        plan = {"tensors": tensors, "launches": [kernel("L0", "a"), kernel("L1", "b"), kernel("L2", "c"), kernel("L3", "a", "move"),
                                                 kernel("L4", "d"),
                                                 {"id": "C", "kind": "copy"}]}
        self.assertEqual(figure2.distinct_launches(plan), {"L0": ("MatMul", 65536), "L2": ("MatMul", 65536)})

    def found(self, matmul, softmax=400):
        steep = curve((100, softmax))
        return {("ViT", PHONE, "MatMul L1"): launch("MatMul", curve((100, matmul), (200, 2 * matmul - 100))),
                ("ViT", PHONE, "LayerNorm L2"): launch("LayerNorm", steep, streams=False),
                ("ViT", PHONE, "SoftMax L3"): launch("SoftMax", steep, streams=False),
                ("ViT", PHONE, "ElementWise L4"): launch("ElementWise", curve((200, 300)))}

    def test_rows_and_order(self):
        rows = {row[0]: row[1:] for row in rows_of(figure2.SECTION, self.found(110))}
        self.assertEqual(rows["MatMul"], ["1", "inside", "1.05", "1.10", "1.15", "1.20", "2.00", "3.00"])
        self.assertEqual(rows["SoftMax"], ["1", "beside", "2.50", "4.00", "~5.50", "~7.00", "0.07", "0.10"])
        self.assertIn("that order is reproduced", text_of(figure2.SECTION, self.found(110)))

    def test_lines_crossed_by_launches_that_differ(self):
        launches = [launch("LayerNorm", curve((1, 150))), launch("LayerNorm", curve((100, 125)))]
        self.assertEqual(figure2.crossing_text(launches, 1.2), "at once to 0.80")
        self.assertEqual(figure2.crossing_text(launches[:1], 1.2), "at once")
        self.assertEqual(figure2.crossing_text([*launches, launch("LayerNorm", curve((100, 90)))], 1.2), "at once or never")

    def test_another_order_is_said(self):
        text = text_of(figure2.SECTION, self.found(500))
        self.assertIn("MatMul does not (ElementWise does); the two that grow fastest are", text)

    def test_the_picture_has_a_curve_for_each_operator(self):
        (_, figure, _), = figure2.SECTION.pictures(self.found(110), STUDY, PUBLISHED)
        self.assertEqual([trace.name for trace in figure.data], ["MatMul", "ElementWise", "LayerNorm", "SoftMax"])
        self.assertEqual(list(figure.data[0].y), [1, 1.05, 1.1, 1.15, 1.2])


if __name__ == "__main__":
    unittest.main()
