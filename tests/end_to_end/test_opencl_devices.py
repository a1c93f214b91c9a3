"""What fmexec makes of devices and drivers: what they offer, claim, are known for, and do not have.

A layer between fmexec and the driver answers in its place (tests/opencl_faults).
"""

import json
import pathlib
import re
import shutil
import tempfile
import unittest

import yaml

from tests.end_to_end import pipeline
from tests.end_to_end.opencl_fault_case import (
    CODES, DEVICE, DONE, LAYER, LOADER, USER, FaultTest, Planned, copying, in_buffers, in_images, streaming)
from tests.end_to_end.tiny_models import classifier, model_of, node, weight


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
