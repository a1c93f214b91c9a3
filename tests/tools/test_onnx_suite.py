"""The ONNX suite's runner: what counts as equal, as a refusal, as a test of plain types."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "onnx_suite"))

import cases  # noqa: E402
import report  # noqa: E402
import verdict  # noqa: E402
from verdict import FAILED, PASSED, REFUSED, Verdict  # noqa: E402


def case(name="test_x", types=(TensorProto.FLOAT,), op_type="Relu", domain="", extra_inputs=()):
    values = [helper.make_tensor_value_info(f"x{i}", kind, [2]) for i, kind in enumerate(types)]
    node = helper.make_node(op_type, [value.name for value in values] + list(extra_inputs), ["y"])
    graph = helper.make_graph([node], "g", values + [
        helper.make_tensor_value_info(extra, TensorProto.INT64, [1]) for extra in extra_inputs],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, 13)])
    return cases.Case(name, pathlib.Path(), model, op_type)


class Comparison(unittest.TestCase):
    def test_equal_within_the_tolerance_of_onnx(self):
        self.assertEqual(verdict.difference("y", np.float32([1, np.nan, np.inf]),
                                            np.float32([1.0009, np.nan, np.inf])), "")
        self.assertIn("1 of 2 values differ, the first at [1]",
                      verdict.difference("y", np.float32([1, 2]), np.float32([1, 2.01])))

    def test_nan_and_sign_of_infinity_count(self):
        self.assertTrue(verdict.difference("y", np.float32([1]), np.float32([np.nan])))
        self.assertTrue(verdict.difference("y", np.float32([np.inf]), np.float32([-np.inf])))

    def test_integers_must_be_exact(self):
        self.assertEqual(verdict.difference("y", np.int64([10**6]), np.int64([10**6])), "")
        self.assertTrue(verdict.difference("y", np.int64([10**6]), np.int64([10**6 + 1])))

    def test_type_shape_and_presence_count(self):
        self.assertIn("float32, not int64", verdict.difference("y", np.int64([1]), np.float32([1])))
        self.assertIn("shape [1], not []", verdict.difference("y", np.float32(1), np.float32([1])))
        self.assertIn("missing", verdict.difference("y", np.float32(1), None))
        self.assertIn("0.0, not 1.0", verdict.difference("y", np.float32(1), np.zeros((), np.float32)))


class Classification(unittest.TestCase):
    def test_a_refusal_names_an_operator(self):
        self.assertEqual(verdict.of_exit("fmplan", 2, "error: LSTM\nis unsupported", {"LSTM"}),
                         Verdict(REFUSED, "error: LSTM is unsupported"))
        self.assertEqual(verdict.of_exit("fmplan", 2, "error: no", {"LSTM"}).status, FAILED)

    def test_crashes_and_faults_are_failures(self):
        self.assertIn("signal 11", verdict.of_exit("fmplan", -11, "LSTM", {"LSTM"}).reason)
        self.assertIn("ended with 1", verdict.of_exit("fmexec", 1, "LSTM", {"LSTM"}).reason)

    def test_plain_types(self):
        self.assertTrue(case().is_plain())
        self.assertFalse(case(types=(TensorProto.FLOAT, TensorProto.DOUBLE)).is_plain())
        self.assertFalse(case(domain="ai.onnx.preview.training").is_plain())

    def test_parameters_are_inputs_that_decide_shapes(self):
        self.assertEqual(case(op_type="Reshape", extra_inputs=("shape",)).parameter_inputs(), {"shape"})
        self.assertEqual(case(op_type="Relu").parameter_inputs(), set())

    def test_values_are_written_exactly(self):
        self.assertEqual(cases.value_flag("k", np.int64([3, -1])), "k=3,-1")
        self.assertEqual(cases.value_flag("s", np.float32(0.1)), "s=0.10000000149011612")
        self.assertEqual(cases.value_flag("b", np.bool_(True)), "b=1")
        self.assertEqual(cases.value_flag("e", np.zeros(0, np.int64)), "e=")

    def test_stored_arrays_are_found_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            tensor = numpy_helper.from_array(np.float32([3, 4]))
            (pathlib.Path(folder) / "input_0.pb").write_bytes(tensor.SerializeToString())
            found = cases.arrays(pathlib.Path(folder), "input", case().model.graph.input)
        np.testing.assert_array_equal(found["x0"], np.float32([3, 4]))


class Tables(unittest.TestCase):
    results = [(case("test_a"), Verdict(PASSED)), (case("test_b"), Verdict(FAILED, "no")),
               (case("test_c", types=(TensorProto.DOUBLE,), op_type="Add"), Verdict(REFUSED, "Add"))]

    def test_counts(self):
        self.assertEqual(report.summary(self.results), "3 tests: 1 passed, 1 failed, 1 refused; of the 2 with only "
                         "float32, int32, int64 and bool 1 passed")
        self.assertIn("| Relu | 1 | 1 | 0 |", report.table(self.results))
        self.assertEqual(report.as_json(self.results, 1)["operators"]["Add"][REFUSED], 1)

    def test_the_page_keeps_what_stands_around_the_table(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
            report.write_docs(page, self.results)
            text = page.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertNotIn("old", text)


if __name__ == "__main__":
    unittest.main()
