"""How simulated and measured times are compared, on figures small enough to work out by hand."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import numpy
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis/correlation"))

import correlate  # noqa: E402
from agreement import Launch, agreement, long_ones, ranks  # noqa: E402
from cases import nanoseconds  # noqa: E402
from correlation_page import agreement_table, kernel_table, scatter  # noqa: E402
from random_layers import draw_layers  # noqa: E402


def launch(measured, simulated, case="vit", placement="buffer", kernel="matmul"):
    return Launch(case, placement, kernel, measured, 0.01, simulated)


class Agreement(unittest.TestCase):
    def test_ranks_share_ties(self):
        self.assertEqual(list(ranks([30, 10, 20, 20])), [3, 0, 1.5, 1.5])

    def test_a_model_off_by_a_factor_has_the_order_right(self):
        found = agreement([launch(measured, 1.5 * measured) for measured in (1e3, 2e5, 3e6, 4e7)])
        self.assertAlmostEqual(found.rank_correlation, 1)
        self.assertAlmostEqual(found.slope, 1)
        self.assertAlmostEqual(found.ratio, 1.5)
        self.assertAlmostEqual(found.median_error, 0.5)

    def test_errors_are_of_each_launch(self):
        found = agreement([launch(100, 110), launch(200, 160), launch(400, 360), launch(800, 1600)])
        self.assertAlmostEqual(found.median_error, 0.15)
        self.assertAlmostEqual(found.mean_error, (0.1 + 0.2 + 0.1 + 1) / 4)
        self.assertAlmostEqual(found.rank_correlation, 1)

    def test_an_order_reversed_correlates_negatively(self):
        found = agreement([launch(1, 3), launch(2, 2), launch(3, 1)])
        self.assertAlmostEqual(found.rank_correlation, -1)

    def test_few_launches_have_none(self):
        self.assertIsNone(agreement([launch(1, 1)]))
        constant = agreement([launch(1, 1), launch(1, 2)])
        self.assertTrue(numpy.isnan(constant.rank_correlation))

    def test_long_ones_take_above_a_millisecond(self):
        self.assertEqual([each.measured for each in long_ones([launch(1e6, 1), launch(1.1e6, 1)])], [1.1e6])

    def test_times_of_configs(self):
        self.assertEqual(nanoseconds("20 us"), 20e3)
        self.assertEqual(nanoseconds("45700 ns"), 45700)
        self.assertEqual(nanoseconds("1500 ps"), 1.5)


class RandomLayers(unittest.TestCase):
    def test_they_run_in_onnx_runtime_with_the_shapes_they_state(self):
        for number, layer in enumerate(draw_layers(30, seed=5)):
            model = layer.model(number)
            onnx.checker.check_model(model, full_check=True)
            session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            feeds = {name: numpy.ones(shape, numpy.float32) for name, shape in layer.inputs.items()}
            (output,) = session.run(None, feeds)
            self.assertEqual(list(output.shape), *layer.outputs.values(), layer.operator)

    def test_a_seed_says_which_layers_and_more_come_behind(self):
        few, many = draw_layers(5, seed=1), draw_layers(20, seed=1)
        self.assertEqual([layer.inputs for layer in few], [layer.inputs for layer in many[:5]])
        self.assertNotEqual([layer.inputs for layer in many], [layer.inputs for layer in draw_layers(20, seed=2)])
        self.assertGreater(len({layer.operator for layer in draw_layers(50, seed=1)}), 6)


class Page(unittest.TestCase):
    LAUNCHES = [launch(2e6, 1e6), launch(4e6, 5e6), launch(5e3, 6e3, "layer01", "image2d", "conv"),
                launch(7e3, 6e3, "layer02", "image2d", "conv")]

    def test_tables_have_all_groups(self):
        rows = agreement_table(self.LAUNCHES)
        self.assertIn("| buffers: vit | 2 | 1.000 | 38 % | 38 % |", "\n".join(rows))
        self.assertIn("| images: random layers | 2 |", "\n".join(rows))
        self.assertIn("| images: above 1 ms | 0 | – |", "\n".join(rows))
        self.assertIn("| conv | images | 2 | 0.0 ms | 1.20 | 0.86 to 1.20 |", kernel_table(self.LAUNCHES))

    def test_the_picture_and_the_page_are_the_same_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            page, pictures = pathlib.Path(folder) / "page.md", []
            page.write_text("before\n<!-- measured -->\nold\n<!-- end -->\nafter\n")
            for name in ("a.svg", "b.svg"):
                scatter(self.LAUNCHES, pathlib.Path(folder) / name)
                pictures.append((pathlib.Path(folder) / name).read_text())
                correlate.write_page(page, ["new"])
            self.assertEqual(*pictures)
            self.assertEqual(page.read_text(), "before\n<!-- measured -->\nnew\n<!-- end -->\nafter\n")

    def test_wrong_options_are_said(self):
        for words in (["--rounds", "0"], ["--only", "bert"], ["--layers", "-1"]):
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as stopped:
                correlate.parse(words)
            self.assertEqual(stopped.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
