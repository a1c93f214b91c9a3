"""The recorder layer: what a trace says of other programs is what they did, and they do not notice.

The programs: one of ours that knows nothing of FlashMem (tests/opencl_sample), one through pyopencl, clpeak, fmexec.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import classifier, save

LAYER = pipeline.BIN / "libfmtrace_layer.so"
SAMPLE = pipeline.BIN / "opencl_sample"
MIB, KIB = 2**20, 2**10

PYOPENCL_PROGRAM = """
import numpy, pyopencl
context = pyopencl.Context(pyopencl.get_platforms()[0].get_devices())
queue = pyopencl.CommandQueue(context)
numbers = numpy.arange(65536, dtype=numpy.float32)
flags = pyopencl.mem_flags
source = pyopencl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=numbers)
target = pyopencl.Buffer(context, flags.READ_WRITE, numbers.nbytes)
text = "kernel void increment(global const float* a, global float* b)" \\
       "{ int i = get_global_id(0); b[i] = a[i] + 1; }"
increment = pyopencl.Kernel(pyopencl.Program(context, text).build(), "increment")
for _ in range(7):
    increment(queue, numbers.shape, None, source, target)
result = numpy.empty_like(numbers)
pyopencl.enqueue_copy(queue, result, target)
assert (result == numbers + 1).all()
"""


TINYGRAD_PROGRAM = """
import numpy, tinygrad
from tinygrad import nn
tinygrad.Tensor.manual_seed(0)
first, second, last = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 16, 3, stride=2), nn.Linear(16 * 6 * 6, 10)
image = numpy.random.default_rng(1).random((1, 3, 16, 16), dtype=numpy.float32)
for _ in range(3):
    features = second(first(tinygrad.Tensor(image)).relu()).relu()
    print(last(features.flatten(1)).softmax().tolist())
print(tinygrad.Device.DEFAULT)
"""


class Recorded:
    """A program's run under the layer."""

    def __init__(self, folder, *command, layers=(LAYER,), trace_file=None):
        self.trace = folder / "app.trace"
        environment = {"OPENCL_LAYERS": ":".join(map(str, layers)), "FM_TRACE_FILE": str(trace_file or self.trace)}
        self.run = pipeline.call(*command, env=environment)

    def info(self):
        pipeline.tool("fmtrace", "check", self.trace)
        return json.loads(pipeline.tool("fmtrace", "info", self.trace, "--json").stdout)

    def dump(self):
        return pipeline.tool("fmtrace", "dump", self.trace).stdout.splitlines()

    def launches(self):
        """(kernel, global size, local size or None, measured nanoseconds), in their order."""
        form = re.compile(r".*: launch \S+ (\S+) ([\dx]+)(?: in groups of ([\dx]+))?, (\d+) ns measured")
        return [form.match(line).groups() for line in self.dump() if ": launch " in line]

    def simulated(self):
        """The replay's result and what fmsim said beside it."""
        done = pipeline.tool("fmsim", "--config", "mali-g715", "--trace", self.trace, "--json")
        return json.loads(done.stdout), done.stderr


class RecorderLayer(unittest.TestCase):
    def setUp(self):
        self.folder = pipeline.temporary_folder(self, "layer")

    def sample(self, mode, **options):
        recorded = Recorded(self.folder, SAMPLE, mode, **options)
        self.assertEqual(recorded.run.stdout, pipeline.call(SAMPLE, mode).stdout)
        return recorded

    def test_counts_what_the_program_did(self):
        recorded = self.sample("plain")
        self.assertEqual(recorded.run.stderr, "")
        info = recorded.info()
        self.assertEqual(info["left_out"], {})
        self.assertIn("opencl_sample", info["recorder"])
        self.assertTrue(info["device"]["name"])
        # A part of the first buffer is not memory of its own; the others come when it is gone.
        self.assertEqual(info["objects"], {"buffers": 4, "images": 1, "peak_bytes": MIB + 4 * KIB, "bytes_at_end": 0})
        self.assertEqual(info["host"]["bytes_transferred"], {
            "to_device": MIB + (4 + 32 + 16) * KIB, "from_device": MIB})
        self.assertEqual(info["host"]["bytes_copied"], (1 + 4 + 16) * KIB)
        self.assertEqual([launch[:3] for launch in recorded.launches()], [
            ("scale", "262144", None), ("scale", "65536", None), ("sum_texels", "64x32", "8x8")])
        digests = {kernel["program_digest"] for kernel in info["foreign_kernels"]}
        self.assertEqual(len(digests), 1)
        dump = "\n".join(recorded.dump())
        self.assertIn("image 64x32", dump)
        self.assertRegex(dump, r"copy  pattern to object 1 \+ 0, 1024 bytes")
        self.assertRegex(dump, r"copy  object 2 \+ 0 to object 1 \+ 1024, 4096 bytes")
        self.assertRegex(dump, r"to object 3 rows 16\.\.\.32, 16384 bytes")
        self.assertRegex(dump, r"map object 5, 8192 bytes")

    def test_the_replay_takes_measured_times_and_follows_memory(self):
        recorded = self.sample("plain")
        result, notes = recorded.simulated()
        self.assertIn("3 launches have no access description", notes)
        self.assertIn("not scaled", notes)
        simulated = [(launch["kernel"], launch["end_ns"] - launch["start_ns"]) for launch in result["launches"]]
        self.assertEqual(simulated, [(name, int(time)) for name, _, _, time in recorded.launches()])
        self.assertEqual({launch["bound"] for launch in result["launches"]}, {"measured"})
        self.assertEqual(result["counters"]["gpu.measured_launches"]["value"], 3)
        self.assertEqual(result["counters"]["copy.copies"]["value"], 3)
        # Whole pages of what the trace asks for.
        self.assertEqual(result["memory"]["by_class"]["activations"], MIB + 4 * KIB)
        self.assertEqual(result["memory"]["over_time"][-1]["activations"], 0)

    def test_commands_out_of_order_keep_their_causes(self):
        recorded = self.sample("out-of-order")
        info = recorded.info()
        self.assertEqual(info["host"]["by_kind"]["launch"], 102)
        self.assertEqual(info["left_out"], {"waits for events that the program itself sets later": 1})
        result, notes = recorded.simulated()
        self.assertIn("events that the program itself sets later", notes)
        # The first barrier is behind two launches, the second behind all, and before the copy.
        launches = {launch["id"]: launch for launch in result["launches"]}
        first_end = max(launches[name]["end_ns"] for name in ("K0", "K1"))
        others = [launch for name, launch in launches.items() if name not in ("K0", "K1")]
        self.assertEqual(len(others), 100)
        self.assertGreaterEqual(min(launch["start_ns"] for launch in others), first_end)
        copies = [event for event in result["timeline"] if event["lane"] == "copy"]
        self.assertEqual(len(copies), 1)
        self.assertGreaterEqual(copies[0]["start_ns"], max(launch["end_ns"] for launch in others))

    def test_threads_that_share_a_queue(self):
        for _ in range(3):  # they meet in another order each time
            recorded = self.sample("threads")
            info = recorded.info()
            self.assertEqual(info["objects"]["buffers"], 40)
            # Each thread has one buffer; the driver may not be done with the one before.
            self.assertLessEqual(info["objects"]["peak_bytes"], 2 * 2 * 4096)
            self.assertEqual(info["objects"]["bytes_at_end"], 0)
            self.assertEqual(info["foreign_kernels"][0]["timed"], 40)
            result, _ = recorded.simulated()
            self.assertEqual(len(result["launches"]), 40)

    def test_mistakes_and_questions_get_the_driver_s_answers(self):
        recorded = self.sample("mistakes")  # compares what the program was told
        self.assertIn("profiling -7", recorded.run.stdout)
        info = recorded.info()
        self.assertEqual(info["left_out"], {"commands that the driver refused": 3})
        self.assertEqual(info["objects"]["buffers"], 1)
        self.assertEqual(info["foreign_kernels"][0]["timed"], 1)

    def test_a_killed_program_leaves_a_truncated_trace(self):
        trace = self.folder / "killed.trace"
        child = subprocess.Popen([str(SAMPLE), "endless"], stdout=subprocess.PIPE, env={
            **os.environ, "OPENCL_LAYERS": str(LAYER), "FM_TRACE_FILE": str(trace)})
        with child:
            child.stdout.readline()
            while trace.stat().st_size < 20_000:
                self.assertIsNone(child.poll())
            child.send_signal(signal.SIGKILL)
        for tool in (["fmtrace", "info", trace], ["fmsim", "--config", "mali-g715", "--trace", trace]):
            self.assertIn("is truncated", pipeline.tool(*tool, status=2).stderr)

    def test_without_a_file_to_write_the_program_runs_on(self):
        for path, message in (("/nonexistent/app.trace", "cannot be written: No such file"),
                              ("/dev/full", "writing /dev/full failed")):
            recorded = self.sample("plain", trace_file=path)
            self.assertIn(message, recorded.run.stderr)
        done = pipeline.call(SAMPLE, "plain", env={"OPENCL_LAYERS": str(LAYER), "FM_TRACE_FILE": ""})
        self.assertIn("FM_TRACE_FILE names no file", done.stderr)
        self.assertEqual(done.stdout, pipeline.call(SAMPLE, "plain").stdout)

    def test_the_file_name_may_hold_the_process_id(self):
        Recorded(self.folder, SAMPLE, "mistakes", trace_file=self.folder / "%p.trace")
        self.assertRegex(" ".join(os.listdir(self.folder)), r"^\d+\.trace$")

    def test_queues_that_cannot_be_timed(self):
        faults = pipeline.BIN / "libopencl_faults.so"
        # The layer named first stands nearest to the driver.
        os.environ["FM_FAULT_FACTS"] = "CL_DEVICE_QUEUE_PROPERTIES=0"
        self.addCleanup(os.environ.pop, "FM_FAULT_FACTS")
        recorded = self.sample("plain", layers=(faults, LAYER))
        self.assertIn("cannot be made with CL_QUEUE_PROFILING_ENABLE", recorded.run.stderr)
        info = recorded.info()
        self.assertEqual([kernel["timed"] for kernel in info["foreign_kernels"]], [0, 0])
        _, notes = recorded.simulated()
        self.assertIn("3 launches have neither access description nor measured time", notes)

    def test_fmexec_under_the_layer_shows_the_launches_of_its_own_trace(self):
        model, plan, weights, own = (self.folder / name for name in ("m.onnx", "m.plan.yaml", "m.fmw", "own.trace"))
        save(classifier(), model)
        pipeline.tool("fmplan", "--model", model, "--config", "mali-g715", "-o", plan)
        pipeline.tool("fmplan", "pack", "--plan", plan, "--model", model, "-o", weights)
        run = ("--plan", plan, "--weights", weights)
        pipeline.tool("fmexec", *run, "--record", own)
        recorded = Recorded(self.folder, pipeline.BIN / "fmexec", *run)
        own_info = json.loads(pipeline.tool("fmtrace", "info", own, "--json").stdout)
        programs = {program["id"]: program for program in own_info["programs"]}

        def geometry(number):
            program = programs[int(number)]
            sizes = [local * groups for local, groups in zip(program["local_size"], program["group_count"])]
            return program["kernel"], "x".join(map(str, sizes)), "x".join(map(str, program["local_size"]))

        own_dump = pipeline.tool("fmtrace", "dump", own).stdout
        expected = [geometry(number) for number in re.findall(r": launch L.*?, program (\d+)", own_dump)]
        self.assertGreater(len(expected), 2)
        self.assertEqual([launch[:3] for launch in recorded.launches()], expected)
        # fmexec's own account of objects, by its host recorder.
        self.assertEqual(recorded.info()["objects"]["images"], own_info["objects"]["images"])
        self.assertEqual(recorded.info()["objects"]["peak_bytes"], own_info["objects"]["peak_bytes"])

    def test_a_program_through_pyopencl(self):
        recorded = Recorded(self.folder, sys.executable, "-c", PYOPENCL_PROGRAM)
        info = recorded.info()
        self.assertEqual(info["objects"]["buffers"], 2)
        self.assertEqual(info["objects"]["peak_bytes"], 2 * 65536 * 4)
        self.assertEqual(info["host"]["bytes_transferred"], {"to_device": 65536 * 4, "from_device": 65536 * 4})
        self.assertEqual([launch[:2] for launch in recorded.launches()], [("increment", "65536")] * 7)
        result, _ = recorded.simulated()
        self.assertEqual(len(result["launches"]), 7)

    def test_an_inference_by_tinygrad(self):
        program = (sys.executable, "-c", TINYGRAD_PROGRAM)
        os.environ["DEV"] = "CL"
        self.addCleanup(os.environ.pop, "DEV")
        recorded = Recorded(self.folder, *program)
        self.assertEqual(recorded.run.stdout, pipeline.call(*program).stdout)
        self.assertEqual(recorded.run.stdout.split()[-1], "CL")
        info = recorded.info()
        self.assertEqual(info["left_out"], {})
        # The image goes to the device each time, the ten results come back.
        self.assertGreaterEqual(info["host"]["bytes_transferred"]["to_device"], 3 * 3 * 16 * 16 * 4)
        self.assertEqual(info["host"]["bytes_transferred"]["from_device"], 3 * 10 * 4)
        launches = recorded.launches()
        self.assertEqual(len(launches), info["host"]["by_kind"]["launch"])
        result, _ = recorded.simulated()
        self.assertEqual([(launch["kernel"], launch["end_ns"] - launch["start_ns"]) for launch in result["launches"]],
                         [(name, int(time)) for name, _, _, time in launches])

    def test_clpeak(self):
        recorded = Recorded(self.folder, shutil.which("clpeak") or "clpeak", "--kernel-latency")
        info = recorded.info()
        [kernel] = info["foreign_kernels"]
        self.assertEqual((kernel["kernel"], kernel["timed"]), ("global_bandwidth_v1_local_offset", kernel["launches"]))
        self.assertGreater(kernel["launches"], 1000)
        self.assertEqual(info["host"]["by_kind"]["create"], 2)


if __name__ == "__main__":
    unittest.main()
