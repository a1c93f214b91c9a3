"""Each OpenCL call that fmexec makes fails in some run: status 3, one message, nothing half written, no crash or hang.

The faults come from a layer between fmexec and the driver (tests/opencl_faults).
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
import yaml

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
CODE_OF = {
    "clGetPlatformInfo": "CL_INVALID_VALUE", "clGetDeviceInfo": "CL_INVALID_VALUE",
    "clCreateContext": "CL_DEVICE_NOT_AVAILABLE", "clCreateBuffer": "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    "clCreateImage": "CL_MEM_OBJECT_ALLOCATION_FAILURE", "clEnqueueMapBuffer": "CL_MAP_FAILURE",
    "clCreateProgramWithBinary": "CL_INVALID_BINARY", "clCreateKernel": "CL_OUT_OF_HOST_MEMORY",
    "clWaitForEvents": "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    "clEnqueueFillBuffer": "CL_MEM_OBJECT_ALLOCATION_FAILURE",
}
OTHERWISE = "CL_OUT_OF_RESOURCES"

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
# What fails without harm. A binary that cannot be loaded is built from source.
RELEASES = {"clReleaseContext", "clReleaseCommandQueue", "clReleaseMemObject", "clReleaseProgram", "clReleaseKernel",
            "clReleaseEvent"}
HARMLESS = RELEASES | {"clGetProgramInfo", "clCreateProgramWithBinary"}
# What newer versions of OpenCL ask may stay unanswered; the rest of the function's calls must not fail.
SOMETIMES_HARMLESS = {"clGetDeviceInfo"}
LOADED_FROM_CACHE = {"clBuildProgram", "clCreateKernel"}


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
    caches = pathlib.Path(tempfile.mkdtemp(prefix="flashmem-fault-caches-"))
    unittest.addModuleCleanup(shutil.rmtree, caches)

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


class EachCallFails(FaultTest):
    """Counts the calls of a run by function; then the first, a middle and the last of each fail in turn."""

    tried = set()  # functions, over all scenarios

    def fail_each(self, words, cached=True, positions=(0.0, 0.5, 1.0), only=None):
        baseline, folder = self.run_fmexec(words, cached=cached)
        if cached:  # the first run filled the cache
            baseline, folder = self.run_fmexec(words, cached=cached)
        self.assertEqual(baseline.returncode, DONE, baseline.stderr)
        outputs = self.outputs(folder)
        cases = []
        for function, count in self.counts(folder).items():
            if count == 0 or (only and function not in only):
                continue
            calls = sorted({1 + round(position * (count - 1)) for position in positions})
            cases += [(function, call) for call in calls]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for (function, call), result in zip(cases, pool.map(lambda case: self.faulty(words, case, cached), cases)):
                self.check(function, call, result, outputs, cached)
        type(self).tried |= {function for function, _ in cases}

    def outputs(self, folder):
        if not (folder / "out.npz").exists():
            return {}
        with np.load(folder / "out.npz") as arrays:
            return {name: arrays[name] for name in arrays.files}

    def faulty(self, words, case, cached):
        function, call = case
        settings = {"FM_FAULT": f"{function}:{call}:{CODES[CODE_OF.get(function, OTHERWISE)]}"}
        if function in RELEASES:  # what is not released leaks
            settings["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        return self.run_fmexec(words, settings, cached)

    def check(self, function, call, result, outputs, cached):
        done, folder = result
        said = f"{function} failed at call {call}\n{done.args}\n{done.returncode}\n{done.stdout}\n{done.stderr}"
        with self.subTest(function=function, call=call):
            harmless = function in HARMLESS | SOMETIMES_HARMLESS or (cached and function in LOADED_FROM_CACHE)
            never_came = self.counts(folder)[function] < call  # how threads meet differs from run to run
            if (harmless or never_came) and done.returncode == DONE:
                self.assertEqual(self.outputs(folder).keys(), outputs.keys(), said)
                for name, values in self.outputs(folder).items():
                    np.testing.assert_array_equal(values, outputs[name], said)
                return
            self.assertNotIn(function, HARMLESS, said)
            self.check_failure(done, folder, function, CODE_OF.get(function, OTHERWISE), said)

    def run_words(self, planned, *options):
        return ["--plan", planned.plan, "--weights", planned.weights, "--outputs", "{out}/out.npz", "--json",
                "-o", "{out}/out.json", *options]

    def test_1_streaming_by_copies(self):
        self.fail_each(self.run_words(copying(), "--record", "{out}/out.trace"))

    def test_2_streaming_in_kernels(self):
        self.fail_each(self.run_words(streaming(), "--warmup", 1), only={
            "clCreateBuffer", "clCreateImage", "clSetKernelArg", "clEnqueueNDRangeKernel", "clRetainEvent", "clFlush",
            "clWaitForEvents", "clEnqueueMapBuffer", "clEnqueueUnmapMemObject", "clFinish", "clReleaseEvent"})

    def test_3_preloaded_and_built_from_source(self):
        self.fail_each(self.run_words(in_buffers()), cached=False)

    def test_4_results_read_back(self):
        self.fail_each(self.run_words(in_images(), "--check-finite"),
                       only={"clEnqueueReadImage", "clEnqueueWriteImage", "clEnqueueFillImage", "clEnqueueReadBuffer"})

    def test_5_recording_without_weights(self):
        self.fail_each(["--plan", in_buffers().plan, "--record", "{out}/out.trace"], cached=False)

    def test_6_tuning(self):
        planned = Planned.get("tiny", products(width=16, layers=1), "--placement", "image2d")
        self.fail_each(["tune", "--plan", planned.plan, "-o", "{out}/out.yaml"], cached=False, positions=(0.5,))

    def test_7_microbenchmarks(self):
        self.fail_each(["microbench", "--record", "{out}", "--only", "pointer_chase_buffer"], cached=False,
                       positions=(0.0,))

    def test_8_listing_devices(self):
        self.fail_each(["--list-devices"])

    def test_9_no_function_was_left_out(self):
        functions = set(re.findall(r"X\((cl\w+)\)", LOADER.read_text()))
        only_after_failures = {"clGetProgramBuildInfo"}  # Builds
        self.assertEqual(functions - self.tried, only_after_failures)


class Lost(FaultTest):
    """The device stops in the middle of a run, for good, or has no more memory."""

    def lose(self, planned, fault, code, words, options=()):
        command = ["--plan", planned.plan, "--weights", planned.weights, "--record", "{out}/out.trace", *options]
        done, folder = self.run_fmexec(command, {"FM_FAULT": fault})
        said = f"{fault}\n{done.stdout}\n{done.stderr}"
        # Once nothing works, the thread that is heard first tells of its own call.
        self.check_failure(done, folder, r"cl\w+" if "*" in fault else fault.split(":")[0], code, said)
        for word in words:
            self.assertRegex(done.stderr, word, said)
        return done.stderr

    def test_each_function_after_which_nothing_works(self):
        lost = CODES["CL_DEVICE_NOT_AVAILABLE"]
        for planned in (copying(), streaming()):
            for function in ("clCreateBuffer", "clEnqueueMapBuffer", "clEnqueueCopyBufferToImage", "clSetKernelArg",
                             "clEnqueueNDRangeKernel", "clFlush", "clWaitForEvents", "clEnqueueReadBuffer"):
                with self.subTest(function):
                    self.lose(planned, f"{function}:1*:{lost}", "CL_DEVICE_NOT_AVAILABLE", ["the device was lost"])

    def test_what_was_held_is_told_by_class(self):
        """The third launch of a plan that streams, after the ring and the pools were made."""
        fault = f"clEnqueueNDRangeKernel:3:{CODES['CL_OUT_OF_RESOURCES']}"
        said = self.lose(copying(), fault, "CL_OUT_OF_RESOURCES", ["launch L", "now freed: ", "--budget"])
        held = re.search(r"now freed: (.*)", said).group(1)
        classes = dict(re.findall(r"(\w[\w ]*) ([\d.]+) MiB", held))
        self.assertLessEqual({"activations"}, classes.keys(), said)
        self.assertTrue(all(float(size) > 0 for size in classes.values()), said)

    def test_weights_that_do_not_fit(self):
        """Preloaded weights are held when the last buffer finds no room; that one is not among them."""
        planned = Planned.get("chain", products(width=256, layers=4), "--placement", "buffer")
        rows = 256 * 256 * 2  # bytes of a weight, half of a quarter of a MiB
        done, folder = self.run_fmexec(["--plan", planned.plan, "--weights", planned.weights])
        last = self.counts(folder)["clCreateBuffer"]
        self.assertEqual(done.returncode, DONE, done.stderr)
        fault = f"clCreateBuffer:{last - 4}:{CODES['CL_MEM_OBJECT_ALLOCATION_FAILURE']}"
        said = self.lose(planned, fault, "CL_MEM_OBJECT_ALLOCATION_FAILURE", [rf"{rows} bytes for weight \w+ \(w\d\)"])
        self.assertRegex(said, r"now freed: preloaded 0\.\d+ MiB")


class Builds(FaultTest):
    """A compiler that refuses kernels: the log is shown, and what is plainer tried."""

    def run_words(self, planned, *options):
        return ["--plan", planned.plan, "--weights", planned.weights, "--verify", planned.reference, *options]

    def test_options_that_are_refused_are_left_out_and_that_is_told(self):
        for refused in ("-cl-std", "-cl-mad-enable"):
            with self.subTest(refused):
                done, folder = self.run_fmexec(
                    self.run_words(in_buffers(), "--json", "-o", "{out}/out.json", "--record", "{out}/out.trace"),
                    {"FM_FAULT_BUILD": refused}, cached=False)
                self.assertEqual(done.returncode, DONE, done.stderr)
                for kernel in ("move", "conv", "reduction", "matmul"):
                    self.assertRegex(done.stderr, rf'note: kernel {kernel} was refused as planned, and built with '
                                                  rf'"-D[^"]*" instead: building kernel {kernel} with "-cl-std')
                    self.assertRegex(done.stdout, rf"kernel fallback +{kernel}, built with -D")
                self.assertIn("option refused", done.stderr)  # the compiler's log
                self.assertIn("CL_BUILD_PROGRAM_FAILURE", done.stderr)
                result = json.loads((folder / "out.json").read_text())
                self.assertEqual(result["counters"]["programs.fallbacks"]["value"], 4)
                self.assertEqual(result["config"]["device"]["kernel_fallbacks"], "conv matmul move reduction")
                info = pipeline.tool("fmtrace", "info", folder / "out.trace").stdout
                self.assertIn("kernel_fallbacks: conv matmul move reduction", info)

    def test_a_compiler_that_fails_when_it_optimises(self):
        """Of the three builds of each of four kernels only that with -cl-opt-disable succeeds."""
        builds = [f"clBuildProgram:{call}:{CODES['CL_BUILD_PROGRAM_FAILURE']}" for call in (1, 2, 4, 5, 7, 8, 10, 11)]
        done, _ = self.run_fmexec(self.run_words(in_buffers()), {"FM_FAULT": ",".join(builds)}, cached=False)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(len(re.findall(r'note: kernel \w+ .* -cl-opt-disable" instead', done.stderr)), 4, done.stderr)

    def test_a_compiler_that_fails_when_kernels_are_created(self):
        """As Mali's does, which compiles then."""
        code = CODES["CL_OUT_OF_RESOURCES"]
        done, folder = self.run_fmexec(self.run_words(in_buffers(), "--json", "-o", "{out}/out.json"),
                                       {"FM_FAULT": f"clCreateKernel:1:{code},clCreateKernel:2:{code}"}, cached=False)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, r'note: kernel \w+ was refused as planned, .* -cl-opt-disable" instead: creating '
                                      r"kernel \w+: clCreateKernel failed with CL_OUT_OF_RESOURCES")
        result = json.loads((folder / "out.json").read_text())
        self.assertEqual(result["counters"]["programs.fallbacks"]["value"], 1)
        done, folder = self.run_fmexec(self.run_words(in_buffers()), {"FM_FAULT": f"clCreateKernel:1+:{code}"},
                                       cached=False)
        self.check_failure(done, folder, "clCreateKernel", "CL_OUT_OF_RESOURCES", done.stderr)
        self.assertIn("-cl-opt-disable, failed too", done.stderr)

    def test_nothing_builds(self):
        done, folder = self.run_fmexec(self.run_words(in_buffers(), "--record", "{out}/out.trace"),
                                       {"FM_FAULT_BUILD": "-D"}, cached=False)
        said = done.stdout + done.stderr
        self.check_failure(done, folder, "clBuildProgram", "CL_BUILD_PROGRAM_FAILURE", said)
        for word in ("kernel move", "-cl-std=CL1.2", "-DX_LAYOUT", "option refused", "-cl-opt-disable", "--device"):
            self.assertIn(word, done.stderr)

    def test_nothing_builds_and_there_is_no_log(self):
        fault = f"clGetProgramBuildInfo:1+:{CODES['CL_OUT_OF_HOST_MEMORY']}"
        done, folder = self.run_fmexec(self.run_words(in_buffers()), {"FM_FAULT": fault, "FM_FAULT_BUILD": "-D"},
                                       cached=False)
        self.check_failure(done, folder, "clBuildProgram", "CL_BUILD_PROGRAM_FAILURE", done.stderr)
        self.assertIn("(no build log)", done.stderr)

    def test_recording_and_tuning_fall_back_too(self):
        done, folder = self.run_fmexec(["--plan", in_buffers().plan, "--record", "{out}/out.trace"],
                                       {"FM_FAULT_BUILD": "-cl-mad"})
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("kernel fallback      recording kernel conv", done.stdout)
        pipeline.tool("fmtrace", "check", folder / "out.trace")
        planned = Planned.get("tiny", products(width=16, layers=1), "--placement", "image2d")
        done, folder = self.run_fmexec(["tune", "--plan", planned.plan, "-o", "{out}/out.yaml"],
                                       {"FM_FAULT_BUILD": "-cl-mad"})
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("note: kernel matmul was refused as planned", done.stderr)


class Clocks(FaultTest):
    """Devices that do not measure: launches are timed by the host, and that is told."""

    UNAVAILABLE = CODES["CL_PROFILING_INFO_NOT_AVAILABLE"]
    REFUSALS = {
        "queues with profiling": {"FM_FAULT_FACTS": "CL_DEVICE_QUEUE_PROPERTIES=0"},
        "times": {"FM_FAULT": f"clGetEventProfilingInfo:1+:{UNAVAILABLE}"},
        "all but the first time": {"FM_FAULT": f"clGetEventProfilingInfo:2+:{UNAVAILABLE}"},
        "a clock that runs": {"FM_FAULT_FACTS": ",".join(f"CL_PROFILING_COMMAND_{name}=0"
                                                         for name in ("QUEUED", "SUBMIT", "START", "END"))},
        "a clock that runs forwards": {"FM_FAULT_FACTS": "CL_PROFILING_COMMAND_START=7,CL_PROFILING_COMMAND_END=5"},
    }

    def test_a_device_that_measures_is_believed(self):
        for planned in (copying(), streaming(), in_buffers()):
            done, folder = self.run_fmexec(["--plan", planned.plan, "--weights", planned.weights, "--repeat", 20,
                                            "--json", "-o", "{out}/out.json"])
            self.assertEqual((done.returncode, done.stderr), (DONE, ""))
            result = json.loads((folder / "out.json").read_text())
            self.assertEqual(result["counters"]["runs.host_timed"]["value"], 0)
            self.assertNotIn("launch_clock", result["config"]["device"])

    def test_the_run_goes_on_by_the_hosts_clock(self):
        for planned in (copying(), streaming()):
            for lacking, settings in self.REFUSALS.items():
                with self.subTest(lacking):
                    self.check_run(planned, settings)

    def check_run(self, planned, settings):
        done, folder = self.run_fmexec(["--plan", planned.plan, "--weights", planned.weights, "--verify",
                                        planned.reference, "--json", "-o", "{out}/out.json", "--record",
                                        "{out}/out.trace"], settings)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^fmexec: note: the driver gives no profiling times .*host's clock")
        self.assertIn("launch clock         the host's", done.stdout)
        result = json.loads((folder / "out.json").read_text())
        self.assertEqual(result["config"]["device"]["launch_clock"], "host")
        self.assertGreaterEqual(result["counters"]["runs.host_timed"]["value"], len(result["launches"]))
        launches = sorted((launch["start_ns"], launch["end_ns"]) for launch in result["launches"]
                          if launch["kernel"])
        for start, end in launches:
            self.assertLess(start, end)
        for (_, end), (start, _) in zip(launches, launches[1:]):  # one queue runs them one by one
            self.assertLessEqual(end, start)
        self.assertLess(launches[-1][1], 60e9)
        pipeline.tool("fmtrace", "check", folder / "out.trace")

    def test_tuning(self):
        """By the host's clock short launches are timed together, and the time is still that of one."""
        planned = Planned.get("tiny", products(width=16, layers=1), "--placement", "image2d")
        _, exact = self.tuned(planned, {})
        for lacking, settings in self.REFUSALS.items():
            with self.subTest(lacking):
                done, launches = self.tuned(planned, settings)
                self.assertIn("host's clock", done.stderr)
                self.assertGreater(launches, 10 * exact)
                for time in re.findall(r"([\d.]+) ms", done.stdout):
                    self.assertLess(float(time), 10)  # together they take 16

    def test_tuning_a_gpu_times_short_launches_together(self):
        planned = Planned.get("tiny", products(width=16, layers=1), "--placement", "image2d")
        (_, exact), (_, launches) = self.tuned(planned, {}), self.tuned(planned, {"FM_FAULT_FACTS": "CL_DEVICE_TYPE=4"})
        self.assertGreater(launches, 10 * exact)

    def tuned(self, planned, settings):
        """(fmexec tune, the launches it made)"""
        done, folder = self.run_fmexec(["tune", "--plan", planned.plan, "-o", "{out}/out.yaml"], settings)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done, self.counts(folder)["clEnqueueNDRangeKernel"]

    def test_probing(self):
        for lacking, settings in self.REFUSALS.items():
            with self.subTest(lacking):
                done, folder = self.probe("local_memory", settings)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertIn("host's clock", done.stderr)
                pipeline.tool("fmsim", "--config", folder / "out.yaml", "--explain")

    def test_probing_without_a_clock(self):
        done, folder = self.probe("local_memory", {"FM_FAULT_FACTS": "CL_DEVICE_MAX_CLOCK_FREQUENCY=0"})
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("clock taken from pocl-host", done.stderr)
        self.assertNotIn("clock: {", (folder / "out.yaml").read_text())

    def test_probing_a_device_that_is_lost(self):
        code = CODES["CL_OUT_OF_RESOURCES"]
        for call in (1, 9, 60):
            with self.subTest(call):
                done, folder = self.probe("local_memory", {"FM_FAULT": f"clEnqueueNDRangeKernel:{call}*:{code}"})
                self.check_failure_of_probe(done, folder)

    def test_probing_a_device_that_refuses_some(self):
        code = CODES["CL_OUT_OF_RESOURCES"]
        done, folder = self.probe("map", {"FM_FAULT": f"clEnqueueMapBuffer:20:{code}"})
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, "note: map bytes=16777216 failed: .*clEnqueueMapBuffer")
        self.assertIn("map_overhead: {", (folder / "out.yaml").read_text())

    def probe(self, curve, settings):
        words = ["-o", "{out}/out.yaml", "--base", "pocl-host", "--only", curve, "--time-limit", 20]
        return self.run_fmexec(words, settings, tool="fmprobe")

    def check_failure_of_probe(self, done, folder):
        self.assertEqual(done.returncode, DEVICE, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^fmprobe: error: .*clEnqueueNDRangeKernel failed")
        self.assertNotRegex(done.stderr, r"terminate called|std::|what\(\)")
        self.assertFalse((folder / "out.yaml").exists())


class Lies(FaultTest):
    """Drivers that misstate what the device can do."""

    def answer(self, planned, facts):
        command = ["--plan", planned.plan, "--weights", planned.weights, "--verify", planned.reference]
        done, folder = self.run_fmexec(command, {"FM_FAULT_FACTS": facts})
        said = f"{facts}\n{done.stdout}\n{done.stderr}"
        self.assertNotRegex(done.stderr, r"terminate called|std::|what\(\)|Sanitizer", said)
        self.assertLessEqual(done.stderr.count("error:"), 1, said)
        return done

    def test_answers_that_no_device_may_give(self):
        for fact in ("CL_DEVICE_MAX_MEM_ALLOC_SIZE=0", "CL_DEVICE_MAX_WORK_GROUP_SIZE=0", "CL_DEVICE_LOCAL_MEM_SIZE=0",
                     "CL_DEVICE_MAX_COMPUTE_UNITS=0", "CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS=0",
                     "CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS=4294967295"):
            with self.subTest(fact):
                done = self.answer(in_images(), fact)
                self.assertEqual(done.returncode, DEVICE, done.stderr)
                for word in (fact.split("=")[0], "--device", "driver"):
                    self.assertIn(word, done.stderr)

    def test_limits_too_small_for_the_plan(self):
        cases = {"CL_DEVICE_IMAGE_SUPPORT=0": ["no images", "--placement buffer"],
                 "CL_DEVICE_IMAGE2D_MAX_WIDTH=0": ["image too large", "0 x", "--placement buffer"],
                 "CL_DEVICE_IMAGE2D_MAX_WIDTH=1": ["image too large", "1 x", "--placement buffer"],
                 "CL_DEVICE_MAX_MEM_ALLOC_SIZE=16": ["allocation too large", "16 bytes"],
                 "CL_DEVICE_MAX_WORK_GROUP_SIZE=1": ["launch L", "work-groups", "allows 1"]}
        for fact, words in cases.items():
            with self.subTest(fact):
                done = self.answer(in_images(), fact)
                self.assertEqual(done.returncode, USER, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)

    def test_answers_that_do_not_matter(self):
        for planned in (in_images(), in_buffers()):
            for fact in ("CL_DEVICE_EXTENSIONS=", "CL_DEVICE_NAME=", "CL_DEVICE_MEM_BASE_ADDR_ALIGN=0",
                         "CL_DEVICE_MAX_CLOCK_FREQUENCY=0", "CL_DEVICE_GLOBAL_MEM_SIZE=0", "CL_DEVICE_TYPE=0",
                         "CL_DEVICE_PROFILING_TIMER_RESOLUTION=0", "CL_DEVICE_IMAGE2D_MAX_WIDTH=18446744073709551615",
                         "CL_DEVICE_MAX_MEM_ALLOC_SIZE=18446744073709551615"):
                with self.subTest(fact):
                    done = self.answer(planned, fact)
                    self.assertEqual(done.returncode, DONE, done.stderr)

    def test_a_limit_that_is_larger_than_the_truth(self):
        """The image is refused by the driver alone: the message is about the weight it is for."""
        wide = model_of([node("MatMul", "x w", "y")], [2, 9000], [weight("w", 9000, 4)])
        planned = Planned.get("wide", wide, "--placement", "image2d")
        done, folder = self.run_fmexec(
            ["--plan", planned.plan, "--weights", planned.weights],
            {"POCL_MEMORY_LIMIT": "2", "FM_FAULT_FACTS": "CL_DEVICE_IMAGE2D_MAX_WIDTH=99999"
                                                         ",CL_DEVICE_IMAGE2D_MAX_HEIGHT=99999"})
        self.assertEqual(done.returncode, DEVICE, done.stderr)
        self.assertRegex(done.stderr, r"error: creating an image of \d+ x \d+ texels for (pool|weight) .*: "
                                      r"clCreateImage failed with CL_")


class Allocations(FaultTest):
    """Devices that allow no buffer as large as the plan's pools."""

    def largest(self, planned):
        """(bytes of the largest tensor, bytes of the largest pool)"""
        def bytes_of(entry):
            count, unit = entry["bytes"].split()
            return int(count) * {"B": 1, "KiB": 1024, "MiB": 1024 ** 2}[unit]

        plan = yaml.safe_load(planned.plan.read_text())
        return max(map(bytes_of, plan["tensors"])), max(map(bytes_of, plan["pools"]))

    def test_pools_become_several_buffers(self):
        planned = Planned.get("pools", self.deep(), "--placement", "buffer")
        tensor, pool = self.largest(planned)
        self.assertGreater(pool, tensor)
        words = ["--plan", planned.plan, "--weights", planned.weights, "--verify", planned.reference, "--record",
                 "{out}/out.trace"]
        whole, folder = self.run_fmexec(words)
        buffers = self.counts(folder)["clCreateBuffer"]
        split, folder = self.run_fmexec(words, {"FM_FAULT_FACTS": f"CL_DEVICE_MAX_MEM_ALLOC_SIZE={tensor}"})
        self.assertEqual((whole.returncode, split.returncode), (DONE, DONE), split.stderr)
        self.assertGreater(self.counts(folder)["clCreateBuffer"], buffers)
        pipeline.tool("fmtrace", "check", folder / "out.trace")

    def deep(self):
        """Convolutions of growing width, whose results share a pool."""
        nodes = [node("Conv", f"{'x' if i == 0 else f'h{i - 1}'} k{i}", "y" if i == 3 else f"h{i}", pads=[1, 1, 1, 1])
                 for i in range(4)]
        widths = [3, 8, 16, 8, 4]
        return model_of(nodes, [1, 3, 32, 32],
                        [weight(f"k{i}", widths[i + 1], widths[i], 3, 3, seed=i) for i in range(4)])

    def test_a_tensor_that_is_too_large_alone_is_named(self):
        planned = Planned.get("pools", self.deep(), "--placement", "buffer")
        tensor, _ = self.largest(planned)
        done, _ = self.run_fmexec(["--plan", planned.plan, "--weights", planned.weights],
                                  {"FM_FAULT_FACTS": f"CL_DEVICE_MAX_MEM_ALLOC_SIZE={tensor - 1}"})
        self.assertEqual(done.returncode, USER, done.stderr)
        self.assertRegex(done.stderr, rf"allocation too large .*: tensor t\d+ \(.*\) takes {tensor} bytes.*"
                                      r"--storage f16")


class Features(FaultTest):
    """What the device offers is found by query, and the trace says what was made of it."""

    def traced(self, planned, facts=""):
        done, folder = self.run_fmexec(["--plan", planned.plan, "--weights", planned.weights, "--verify",
                                        planned.reference, "--record", "{out}/out.trace"], {"FM_FAULT_FACTS": facts})
        self.assertEqual(done.returncode, DONE, done.stderr)
        info = json.loads(pipeline.tool("fmtrace", "info", folder / "out.trace", "--json").stdout)
        text = pipeline.tool("fmtrace", "info", folder / "out.trace").stdout
        features = {feature["name"]: feature for feature in info["features"]}
        for name, feature in features.items():
            self.assertIn(f"feature     {name}: {feature['found']}; ", text)
            self.assertTrue(feature["reason"])
        return features

    def test_the_trace_says_what_was_used(self):
        images, buffers = self.traced(in_images())["images"], self.traced(in_buffers())["images"]
        self.assertTrue(images["used"])
        self.assertRegex(images["reason"], r"^\d+ tensors of the plan are image2d")
        self.assertFalse(buffers["used"])
        self.assertIn("in buffers", buffers["reason"])
        self.assertRegex(images["found"], r"^\d+ x \d+ texels")

    def test_extensions_are_only_used_when_they_are_there(self):
        features = self.traced(in_buffers(), "CL_DEVICE_EXTENSIONS=")
        for name in ("cl_khr_fp16", "cl_khr_command_buffer", "cl_khr_image2d_from_buffer", "cl_qcom_perf_hint"):
            self.assertEqual((features[name]["found"], features[name]["used"]), ("no", False))

    def test_extensions_of_vendors_are_listed(self):
        features = self.traced(in_buffers(), "CL_DEVICE_EXTENSIONS=cl_qcom_recordable_queues cl_arm_import_memory")
        for name in ("cl_qcom_recordable_queues", "cl_arm_import_memory"):
            self.assertEqual((features[name]["found"], features[name]["used"]), ("yes", False))

    def test_an_extension_that_is_there_in_name_only(self):
        """PoCL knows no property of Qualcomm's: the context is made without."""
        hint = self.traced(in_buffers(), "CL_DEVICE_EXTENSIONS=cl_qcom_perf_hint")["cl_qcom_perf_hint"]
        self.assertEqual((hint["found"], hint["used"]), ("yes", False))
        self.assertIn("refused", hint["reason"])

    def test_half_arithmetic_in_name_only(self):
        facts = "CL_DEVICE_EXTENSIONS=cl_khr_fp16,CL_DEVICE_HALF_FP_CONFIG=0"
        self.assertRegex(self.traced(in_buffers(), facts)["cl_khr_fp16"]["found"], "^no: it is claimed")
        planned = Planned.get("half", classifier(), "--placement", "buffer", "--accumulate", "half")
        done, _ = self.run_fmexec(["--plan", planned.plan, "--weights", planned.weights], {"FM_FAULT_FACTS": facts})
        self.assertEqual(done.returncode, USER, done.stderr)
        self.assertIn("cl_khr_fp16", done.stderr)

    def test_versions(self):
        for version, words in {"OpenCL 1.1 old": ["OpenCL 1.2 or newer is needed", "--device"],
                               "OpenCL 3.0 new": [], "no version at all": []}.items():
            with self.subTest(version):
                done, _ = self.run_fmexec(
                    ["--plan", in_buffers().plan, "--weights", in_buffers().weights, "--verify",
                     in_buffers().reference], {"FM_FAULT_FACTS": f"CL_DEVICE_VERSION={version}"})
                self.assertEqual(done.returncode, DEVICE if words else DONE, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)

    def test_a_device_without_a_compiler(self):
        done, _ = self.run_fmexec(["--plan", in_buffers().plan, "--weights", in_buffers().weights],
                                  {"FM_FAULT_FACTS": "CL_DEVICE_COMPILER_AVAILABLE=0"})
        self.assertEqual(done.returncode, DEVICE, done.stderr)
        self.assertIn("CL_DEVICE_COMPILER_AVAILABLE", done.stderr)


class Quirks(FaultTest):
    """Drivers with known faults, told by their names."""

    MALI = "CL_DEVICE_NAME=Mali-G76,CL_PLATFORM_NAME=ARM Platform"
    ROCM = "CL_DEVICE_NAME=gfx906,CL_PLATFORM_NAME=AMD Accelerated Parallel Processing,CL_DRIVER_VERSION=3098.0"
    ADRENO = "CL_DEVICE_NAME=QUALCOMM Adreno(TM),CL_DRIVER_VERSION=QUALCOMM build: 1 Compiler E031.38.11.14"

    def quirky(self, facts, *names, **settings):
        """Runs twice with one cache; the second run's process, its calls, and the trace's table is checked."""
        planned = in_buffers()
        command = ["--plan", planned.plan, "--weights", planned.weights, "--verify", planned.reference,
                   "--record", "{out}/out.trace", "--json", "-o", "{out}/out.json"]
        self.run_fmexec(command, {"FM_FAULT_FACTS": facts, **settings})
        done, folder = self.run_fmexec(command, {"FM_FAULT_FACTS": facts, **settings})
        self.assertEqual(done.returncode, DONE, done.stderr)
        info = json.loads(pipeline.tool("fmtrace", "info", folder / "out.trace", "--json").stdout)
        self.assertEqual([quirk["name"] for quirk in info["quirks"]], list(names))
        text = pipeline.tool("fmtrace", "info", folder / "out.trace").stdout
        for quirk in info["quirks"]:
            for said in (done.stderr, done.stdout, text):
                self.assertRegex(said, f"{quirk['name']}: .*{quirk['effect']} .{quirk['link']}")
        listed, _ = self.run_fmexec(["--list-devices"], {"FM_FAULT_FACTS": facts})
        for name in names:
            self.assertIn(f"quirk {name}: ", listed.stdout)
        told = json.loads((folder / "out.json").read_text())["config"]["device"].get("driver_quirks", "")
        self.assertEqual(told.split(), sorted(names))
        return done, self.counts(folder)

    def test_a_driver_without_known_faults(self):
        _, counts = self.quirky("")
        self.assertGreater(counts["clCreateProgramWithBinary"], 0)

    def test_binaries_that_crash_are_not_loaded(self):
        _, counts = self.quirky(self.MALI, "mali-binaries")
        self.assertEqual(counts["clCreateProgramWithBinary"], 0)

    def test_a_compiler_that_may_not_optimise(self):
        """It is asked for plain code: here it refuses just that, which shows."""
        done, _ = self.quirky(self.ROCM, "rocm-3-dead-code", "rocm-3-images", FM_FAULT_BUILD="-cl-opt-disable")
        self.assertRegex(done.stderr, r'kernel conv was refused as planned.* with "-cl-std=CL1.2 .* -cl-opt-disable"')

    def test_faults_without_a_remedy_are_told(self):
        self.quirky(self.ADRENO, "adreno-e031")


class Flushing(FaultTest):
    """Launches are handed over as the vendor's driver likes it; the results are the same."""

    def flushes(self, planned, device, ahead):
        plan = planned.plan.with_name("ahead.yaml")
        plan.write_text(re.sub(r"enqueue_ahead: \d+", f"enqueue_ahead: {ahead}", planned.plan.read_text()))
        done, folder = self.run_fmexec(["--plan", plan, "--weights", planned.weights, "--verify", planned.reference],
                                       {"FM_FAULT_FACTS": f"CL_DEVICE_NAME={device}"})
        self.assertEqual(done.returncode, DONE, done.stderr)
        return self.counts(folder)["clFlush"]

    def test_by_vendor(self):
        planned = in_buffers()
        launches = len(re.findall("kind: kernel", planned.plan.read_text()))
        self.assertEqual(self.flushes(planned, "some GPU", 40), launches)
        for device in ("Mali-G715", "QUALCOMM Adreno(TM)"):
            self.assertEqual(self.flushes(planned, device, 40), 1)
            self.assertLessEqual(self.flushes(planned, device, 1), launches)

    def test_copies_and_kernels_that_stream(self):
        for planned in (copying(), streaming()):
            for ahead in (1, 2, 40):
                self.assertGreater(self.flushes(planned, "Mali-G715", ahead), 0)


class SeveralDevices(FaultTest):
    """One that does not answer does not keep the others from being listed and used."""

    TWO = {"POCL_DEVICES": "pthread basic"}
    FIRST_SILENT = {**TWO, "FM_FAULT": f"clGetDeviceInfo:1:{CODES['CL_INVALID_VALUE']}"}

    def test_both_are_listed(self):
        done, _ = self.run_fmexec(["--list-devices"], self.TWO)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^0: basic[\s\S]*^1: pthread")

    def test_one_that_does_not_answer(self):
        for tool in ("fmexec", "fmprobe"):
            done, _ = self.run_fmexec(["--list-devices"], self.FIRST_SILENT, tool=tool)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertRegex(done.stdout, r"(?m)^1: pthread")
            self.assertRegex(done.stdout, r"(?m)^device 0 cannot be used: .*clGetDeviceInfo failed with "
                                          r"CL_INVALID_VALUE")

    def test_the_other_one_is_taken(self):
        planned = in_buffers()
        command = ["--plan", planned.plan, "--weights", planned.weights, "--verify", planned.reference]
        for device in ([], ["--device", "1"], ["--device", "pthread"]):
            done, _ = self.run_fmexec([*command, *device], self.FIRST_SILENT)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("pthread", done.stdout)
        done, _ = self.run_fmexec([*command, "--device", "0"], self.FIRST_SILENT)
        self.assertEqual(done.returncode, USER, done.stderr)
        for word in ("no such device", "1: pthread", "device 0 cannot be used"):
            self.assertIn(word, done.stderr)


class Drivers(FaultTest):
    """Nothing to run on."""

    def fails(self, settings, *words):
        done, _ = self.run_fmexec(["--list-devices"], settings)
        self.assertEqual(done.returncode, DEVICE, done.stderr)
        self.assertRegex(done.stderr, "^fmexec: error: ")
        for word in words:
            self.assertIn(word, done.stderr)

    def test_a_platform_without_devices(self):
        self.fails({"FM_FAULT": f"clGetDeviceIDs:1:{CODES['CL_DEVICE_NOT_FOUND']}"}, "no OpenCL device found",
                   "pocl-opencl-icd", "clinfo")

    def test_no_platform(self):
        self.fails({"OCL_ICD_VENDORS": str(self.caches)}, "no OpenCL platform found", "pocl-opencl-icd")

    def libraries(self, make):
        """A folder where the loader finds what `make` makes, under each name that it tries."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="flashmem-libraries-"))
        self.addCleanup(shutil.rmtree, folder)
        for name in re.findall(r'"(lib[\w.-]+)",', LOADER.with_suffix(".cpp").read_text()):
            make(folder / name)
        return {"LD_LIBRARY_PATH": str(folder)}

    def test_no_library_that_can_be_loaded(self):
        self.fails(self.libraries(pathlib.Path.touch), "no OpenCL library found (tried libOpenCL.so.1 [",
                   "file too short", "ocl-icd-libopencl1", "uses-native-library")

    def test_a_library_that_is_not_opencl(self):
        self.fails(self.libraries(lambda path: shutil.copy(LAYER, path)), "libOpenCL.so.1 has no clGetPlatformIDs",
                   "OpenCL 1.2")


if __name__ == "__main__":
    unittest.main()
