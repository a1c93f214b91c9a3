"""Runs the command-line tools as a user would, for the end-to-end tests."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin"))
REFERENCE = ROOT / "tests/reference"

# A shell without job control has what it runs in the background ignore Ctrl-C, and tools inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Model -> its ONNX file and the shapes that bind its dynamic dimensions.
MODELS = {
    "vit": ("models/vit.onnx", []),
    "resnet50": ("models/resnet50.onnx", []),
    "gpt-neo-small": ("models/gpt-neo-small.onnx", []),
    "ocr-det": ("tests/data/ch_PP-OCRv4_det_infer.onnx", ["--shape", "x=1,3,192,320"]),
    "ocr-cls": ("tests/data/ch_ppocr_mobile_v2.0_cls_infer.onnx", ["--shape", "x=1,3,48,192"]),
}


def call(*command, status=0, env=None):
    """The finished process of a command; fails with its output unless it ends with `status` (None: any)."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=600, env={**os.environ, **(env or {})})
    if status is not None and done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with {done.returncode}, not "
                             f"{status}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done


def temporary_folder(owner, name):
    """A folder that goes when `owner` does, at the latest at exit."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"flashmem-{name}-"))
    weakref.finalize(owner, shutil.rmtree, folder)
    return folder


def tool(name, *arguments, status=0, env=None):
    return call(BIN / name, *arguments, status=status, env=env)


def reference_tool(name, *arguments):
    return call(sys.executable, REFERENCE / name, *arguments)


class Run:
    """One model with one set of planning options; every product is made on first use, in its own folder."""

    _models = {}  # full ONNX file and reference outputs, shared between runs

    def __init__(self, model, *plan_options, config="mali-g715", exec_options=()):
        self.model = model
        self.plan_options = plan_options
        self.config = config
        self.exec_options = exec_options
        self.folder = temporary_folder(self, model)

    @classmethod
    def onnx_and_reference(cls, model):
        if model not in cls._models:
            folder = temporary_folder(cls, model)
            source, shape = MODELS[model]
            onnx = ROOT / source
            if source.startswith("models/"):
                onnx = folder / f"{model}.onnx"
                tool("fmplan", "fill", "--model", ROOT / source, "--seed", 1, "-o", onnx)
            reference = folder / "ref.npz"
            # One input, so that a test passes always or never; ./fm demo draws a fresh one.
            reference_tool("ort_reference.py", "--model", onnx, *shape, "--seed", 1, "-o", reference)
            cls._models[model] = (onnx, reference)
        return cls._models[model]

    @property
    def onnx(self):
        return self.onnx_and_reference(self.model)[0]

    @property
    def reference(self):
        return self.onnx_and_reference(self.model)[1]

    def _made(self, name, make):
        path = self.folder / name
        if not path.exists():
            make(path)
        return path

    @property
    def plan(self):
        return self._made("plan.yaml", lambda path: tool(
            "fmplan", "--model", self.onnx, "--config", self.config, *MODELS[self.model][1],
            *self.plan_options, "-o", path))

    @property
    def weights(self):
        return self._made("model.fmw", lambda path: tool(
            "fmplan", "pack", "--plan", self.plan, "--model", self.onnx, "-o", path))

    def execute(self, *options, status=0):
        return tool("fmexec", "--plan", self.plan, "--weights", self.weights, "--inputs",
                    self.reference, *self.exec_options, *options, status=status)

    @property
    def trace(self):
        """Recorded while the outputs are verified."""
        return self._made("run.trace", lambda path: self.execute(
            "--verify", self.reference, "--record", path))

    def measured(self, *options):
        path = self.folder / "measured.json"
        self.execute("--verify", self.reference, "--json", "-o", path, *options)
        return json.loads(path.read_text())

    def simulated(self, *options):
        path = self.folder / "simulated.json"
        tool("fmsim", "--config", self.config, "--trace", self.trace, "--json", "-o", path, *options)
        return json.loads(path.read_text())
