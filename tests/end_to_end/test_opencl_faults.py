"""Each OpenCL call that fmexec makes fails in some run: status 3, one message, nothing half written, no crash or hang.

The faults come from a layer between fmexec and the driver (tests/opencl_faults).
"""

import concurrent.futures
import json
import os
import re
import unittest

import numpy as np

from tests.end_to_end import pipeline
from tests.end_to_end.opencl_fault_case import (
    CODES, DEVICE, DONE, LOADER, FaultTest, Planned, copying, in_buffers, in_images, streaming)
from tests.end_to_end.tiny_models import products

CODE_OF = {
    "clGetPlatformInfo": "CL_INVALID_VALUE", "clGetDeviceInfo": "CL_INVALID_VALUE",
    "clCreateContext": "CL_DEVICE_NOT_AVAILABLE", "clCreateBuffer": "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    "clCreateImage": "CL_MEM_OBJECT_ALLOCATION_FAILURE", "clEnqueueMapBuffer": "CL_MAP_FAILURE",
    "clCreateProgramWithBinary": "CL_INVALID_BINARY", "clCreateKernel": "CL_OUT_OF_HOST_MEMORY",
    "clWaitForEvents": "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    "clEnqueueFillBuffer": "CL_MEM_OBJECT_ALLOCATION_FAILURE",
}
OTHERWISE = "CL_OUT_OF_RESOURCES"

# What fails without harm. A binary that cannot be loaded is built from source.
RELEASES = {"clReleaseContext", "clReleaseCommandQueue", "clReleaseMemObject", "clReleaseProgram", "clReleaseKernel",
            "clReleaseEvent"}
HARMLESS = RELEASES | {"clGetProgramInfo", "clCreateProgramWithBinary"}
# What newer versions of OpenCL ask may stay unanswered; the rest of the function's calls must not fail.
SOMETIMES_HARMLESS = {"clGetDeviceInfo"}
LOADED_FROM_CACHE = {"clBuildProgram", "clCreateKernel"}


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


if __name__ == "__main__":
    unittest.main()
