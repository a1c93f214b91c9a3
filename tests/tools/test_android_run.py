"""tools/android/run.sh against an adb whose phone is a folder of this computer."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import numpy
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin"))
RUN = ROOT / "tools/android/run.sh"
FOLDER = "/data/local/tmp/flashmem"

ADB = """\
    #!{python}
    import os, shutil, subprocess, sys
    phone = os.environ["PHONE"]
    where = lambda path: path.replace("/data/local/tmp", phone)
    with open(os.path.join(phone, "log"), "a") as log:
        print(*sys.argv[1:], file=log)
    verb, *arguments = [word for word in sys.argv[1:] if word != "--sync"]
    if verb == "get-state":
        print(os.environ["STATE"])
    elif verb == "push":
        if "full" in os.environ["STATE"]: sys.exit(1)
        shutil.copy(arguments[0], where(arguments[1]))
    elif verb == "pull":
        shutil.copy(where(arguments[0]), arguments[1])
    elif verb == "shell":
        sys.exit(subprocess.run(["sh", "-c", where(arguments[0])]).returncode)
    """


class Phone(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.phone = self.folder / "phone"
        self.phone.mkdir()
        adb = self.folder / "adb"
        adb.write_text(textwrap.dedent(ADB.format(python=sys.executable)))
        adb.chmod(0o755)

    def run_script(self, *options, state="device"):
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "PHONE": str(self.phone), "STATE": state}
        return subprocess.run([RUN, *map(str, options)], cwd=self.folder, env=environment, capture_output=True, text=True)

    def make_network(self):
        """(plan, weights, arrays with the result that NumPy has)"""
        weight = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
        value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [value("x", [2, 3])],
                                  [value("y", [2, 4])], [onnx.numpy_helper.from_array(weight, "w")])
        model, plan, weights, arrays = (self.folder / name for name in ("m.onnx", "m plan.yaml", "m.fmw", "m.npz"))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=7), model)
        subprocess.run([BIN / "fmplan", "--model", model, "--config", "mali-g715", "--storage", "f32", "-o", plan],
                       check=True, capture_output=True)
        subprocess.run([BIN / "fmplan", "pack", "--plan", plan, "--model", model, "-o", weights], check=True, capture_output=True)
        x = numpy.ones((2, 3), numpy.float32)
        numpy.savez(arrays, **{"input:x": x, "output:y": x @ weight})
        return plan, weights, arrays

    def test_runs_the_plan_and_brings_back_what_it_left(self):
        plan, weights, arrays = self.make_network()
        options = ("--plan", plan, "--weights", weights, "--verify", arrays, "--fmexec", BIN / "fmexec", "-o", "results")
        done = self.run_script(*options, "--", "--repeat", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        results = self.folder / "results"
        self.assertEqual({path.name for path in results.iterdir()}, {"result.json", "run.trace", "outputs.npz", "phone.txt"})
        numpy.testing.assert_allclose(numpy.load(results / "outputs.npz")["output:y"], numpy.load(arrays)["output:y"])

    def test_status_is_that_of_fmexec_and_old_results_do_not_come_back(self):
        plan, weights, arrays = self.make_network()
        options = ("--plan", plan, "--weights", weights, "--fmexec", BIN / "fmexec", "--no-trace", "-o", "results")
        self.assertEqual(self.run_script(*options, "--verify", arrays).returncode, 0)
        numpy.savez(arrays, **{"input:x": numpy.ones((2, 3), numpy.float32), "output:y": numpy.zeros((2, 4), numpy.float32)})
        self.assertEqual(self.run_script(*options, "--verify", arrays).returncode, 4)
        (self.folder / "results/result.json").unlink()
        failed = self.run_script(*options, "--", "--no-such-option")
        self.assertEqual(failed.returncode, 2)
        self.assertFalse((self.folder / "results/result.json").exists())

    def test_dry_run_prints_commands_that_a_shell_reads_as_meant_and_runs_none(self):
        done = self.run_script("--dry-run", "--plan", "it's a plan.yaml", "--weights", "w.fmw", "--serial", "A1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"+ adb -s A1 push --sync 'it'\\''s a plan.yaml' {FOLDER}/plan.yaml", done.stderr)
        self.assertFalse((self.phone / "log").exists())
        self.assertFalse((self.folder / "out").exists())

    def test_what_is_missing_is_named(self):
        for options, state, status, told in (
                ((), "device", 2, "no --plan"),
                (("--plan",), "device", 2, "--plan needs a value"),
                (("--plan", "p", "--weights", "w"), "device", 2, "no file 'p'"),
                (("--plan", RUN, "--weights", RUN), "device", 2, "cmake --build --preset android-arm64"),
                (("--plan", RUN, "--weights", RUN, "--fmexec", RUN), "offline", 3, "no phone"),
                (("--repeat", "2"), "device", 2, "fmexec's own come after --")):
            done = self.run_script(*options, state=state)
            self.assertEqual((done.returncode, told in done.stderr), (status, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
