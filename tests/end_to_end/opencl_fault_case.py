"""Runs of fmexec over a layer that makes OpenCL calls fail and drivers say other things (tests/opencl_faults)."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import classifier, model_of, node, products, save, weight

DONE, USER, DEVICE = 0, 2, 3
LAYER = pipeline.BIN / "libopencl_faults.so"
LOADER = pipeline.ROOT / "executor/opencl_loader.hpp"

# Codes that the OpenCL specification lets functions return.
CODES = {
    "CL_DEVICE_NOT_FOUND": -1, "CL_DEVICE_NOT_AVAILABLE": -2, "CL_MEM_OBJECT_ALLOCATION_FAILURE": -4,
    "CL_OUT_OF_RESOURCES": -5, "CL_OUT_OF_HOST_MEMORY": -6, "CL_PROFILING_INFO_NOT_AVAILABLE": -7,
    "CL_BUILD_PROGRAM_FAILURE": -11, "CL_MAP_FAILURE": -12,
    "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST": -14, "CL_INVALID_VALUE": -30,
    "CL_INVALID_BINARY": -42, "CL_INVALID_BUILD_OPTIONS": -43,
}

# What the message names besides function and code.
SUBJECTS = {
    "clEnqueueNDRangeKernel": r"launch L\d+ \(\w+\)|kernel \w+ \(recording\)",
    "clSetKernelArg": r"argument \d+ of (launch L\d+ \(\w+\)|kernel \w+ \(recording\))",
    "clWaitForEvents": r"launch \w+ \([\w ]+\)|kernel \w+ \(recording\)",
    "clGetEventProfilingInfo": r"launch \w+ \([\w ]+\)",
    "clCreateBuffer": r"bytes for (pool|weight|tensor|the staging ring|kernel|recorded|the recording log)",
    "clCreateSubBuffer": r"tensor \w+ \(", "clCreateImage": r"texels for (pool|weight|tensor|kernel)",
    "clEnqueueCopyBufferToImage": r"weight \w+ \(\w+\)", "clEnqueueMapBuffer": r"weight \w+ \(\w+\)",
    "clEnqueueUnmapMemObject": r"weight \w+ \(\w+\)", "clEnqueueFillBuffer": r"(pool|tensor) \w+",
    "clEnqueueFillImage": r"(pool|tensor) \w+", "clEnqueueReadBuffer": r"tensor \w+ \(\w+\)|recording log",
    "clEnqueueReadImage": r"tensor \w+ \(\w+\)", "clEnqueueWriteImage": r"tensor \w+ \(\w+\)",
    "clEnqueueWriteBuffer": r"tensor \w+ \(\w+\)|recorded (groups|indices)",
    "clCreateProgramWithSource": r"kernel \w+", "clBuildProgram": r'kernel \w+ with "-cl-std', "clCreateKernel": r"kernel \w+",
}


def two_parts():
    """A concatenation in an image, which two launches write."""
    nodes = [node("Conv", "x k", "c", pads=[1, 1, 1, 1]), node("Conv", "x l", "e", pads=[1, 1, 1, 1]),
             node("Relu", "c", "r"), node("Concat", "r e", "z", axis=1), node("Sigmoid", "z", "y")]
    return model_of(nodes, [1, 3, 8, 8], [weight("k", 4, 3, 3, 3), weight("l", 4, 3, 3, 3)])


class Planned:
    _made = {}

    @classmethod
    def get(cls, name, model, *options):
        if name not in cls._made:
            cls._made[name] = cls(name, model, options)
        return cls._made[name]

    def __init__(self, name, model, options):
        folder = pipeline.temporary_folder(self, name)
        onnx = save(model, folder / "m.onnx")
        self.plan, self.weights = folder / "m.plan.yaml", folder / "m.fmw"
        pipeline.tool("fmplan", "--model", onnx, "--config", "adreno-750", *options, "-o", self.plan)
        pipeline.tool("fmplan", "pack", "--plan", self.plan, "--model", onnx, "-o", self.weights)
        self.reference = folder / "ref.npz"
        pipeline.reference_tool("ort_reference.py", "--model", onnx, "--seed", 5, "-o", self.reference)


def copying():
    return Planned.get("copying", products(width=64), "--policy", "always-next", "--placement", "image2d")


def streaming():
    planned = Planned.get("streaming", products(width=256, layers=5), "--policy", "lc-opg", "--placement", "image2d")
    assert "STREAMS" in planned.plan.read_text(), "no kernel of the plan streams"
    return planned


def in_buffers():
    return Planned.get("buffers", classifier(), "--placement", "buffer")


def in_images():
    return Planned.get("images", two_parts(), "--placement", "image2d")


class FaultTest(unittest.TestCase):
    caches = pipeline.temporary_folder(Planned, "fault-caches")

    def environment(self, folder, settings, cached=True):
        """PoCL's own cache stays where it is; fmexec's is shared by all runs, or empty."""
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        return {**os.environ, "OPENCL_LAYERS": str(LAYER),
                "POCL_CACHE_DIR": os.environ.get("POCL_CACHE_DIR") or str(cache / "pocl/kcache"),
                "XDG_CACHE_HOME": str(self.caches if cached else folder / "cache"),
                "FM_FAULT_COUNTS": str(folder / "counts"), **settings}

    def run_fmexec(self, words, settings=None, cached=True, tool="fmexec"):
        """(finished process, folder it wrote to); {out} in the words is that folder."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="flashmem-faults-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        command = [str(pipeline.BIN / tool), *(str(word).replace("{out}", str(folder)) for word in words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                              env=self.environment(folder, settings or {}, cached))
        return done, folder

    def counts(self, folder):
        return {name: int(count) for name, count in map(str.split, (folder / "counts").read_text().splitlines())}

    def check_failure(self, done, folder, function, code, said):
        self.assertEqual(done.returncode, DEVICE, said)
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, said)
        self.assertRegex(errors[0], rf"^fmexec: error: .*\b{function} failed with {code} \({CODES[code]}\)", said)
        self.assertRegex(errors[0], SUBJECTS.get(function, "fmexec"), said)
        self.assertNotRegex(done.stderr, r"terminate called|std::|what\(\)|Sanitizer", said)
        left = {path.name for path in folder.iterdir()} - {"counts", "cache", "out.npz"}
        self.assertEqual(left, set(), said)
        self.check_outputs_whole(folder, said)

    def check_outputs_whole(self, folder, said):
        """Outputs are written before the trace: they may be there, but whole."""
        if (folder / "out.npz").exists():
            with np.load(folder / "out.npz") as arrays:
                self.assertTrue(all(arrays[name].size for name in arrays.files), said)
