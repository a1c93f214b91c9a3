"""The Oclgrind plugin and the workloads of bench/workloads: unmodified programs under both recorders, replayed."""

import json
import shutil
import unittest

from tests.end_to_end import pipeline

PLUGIN = pipeline.BIN / "libfmtrace_oclgrind.so"
LAYER = pipeline.BIN / "libfmtrace_layer.so"
SAMPLE = pipeline.BIN / "opencl_sample"

# Workload, its flags here, its kernels in the order of their launches, the largest trace (bytes).
WORKLOADS = {
    "spmv": (["--rows", "300", "--columns", "500", "--longest-row", "9"], ["multiply"], 8000),
    "bloom_filter": (["--keys", "300"], ["insert", "query"], 8000),
    "cuckoo_filter": (["--keys", "300"], ["insert", "query", "query"], 14000),
    "kmeans": (["--points", "300", "--rounds", "2"], ["assign", "add", "move"] * 2, 6000),
}


def info(trace):
    pipeline.tool("fmtrace", "check", trace)
    return json.loads(pipeline.tool("fmtrace", "info", trace, "--json").stdout)


def under_layer(trace, *command):
    return pipeline.call(*command, env={"OPENCL_LAYERS": str(LAYER), "FM_TRACE_FILE": str(trace)})


def under_oclgrind(trace, *command, plugins=PLUGIN):
    return pipeline.call("oclgrind", "--plugins", plugins, *command,
                         env={"FM_TRACE_FILE": str(trace), "XDG_CACHE_HOME": str(trace.parent)})


def simulated(trace):
    return json.loads(pipeline.tool("fmsim", "--config", "mali-g715", "--trace", trace, "--json").stdout)


@unittest.skipUnless(PLUGIN.exists(), "the Oclgrind plugin is not built: tools/oclgrind/headers.sh")
@unittest.skipUnless(shutil.which("oclgrind"), "the package oclgrind is missing")
class Oclgrind(unittest.TestCase):
    def setUp(self):
        self.folder = pipeline.temporary_folder(self, "oclgrind")

    def test_workloads_under_both_recorders(self):
        for name, (flags, kernels, largest) in WORKLOADS.items():
            with self.subTest(workload=name):
                command = [pipeline.BIN / name, *flags]
                traces = {"layer": self.folder / "layer.trace", "oclgrind": self.folder / "oclgrind.trace"}
                for recorder, run in (("layer", under_layer), ("oclgrind", under_oclgrind)):
                    done = run(traces[recorder], *command)
                    self.assertEqual((done.stdout, done.stderr), (f"{name}: ok\n", ""))
                layer, oclgrind = (info(trace) for trace in traces.values())
                for one in (layer, oclgrind):
                    self.assertEqual(one["left_out"], {})
                self.assertEqual(layer["objects"], oclgrind["objects"])
                self.assertEqual(layer["host"]["bytes_transferred"], oclgrind["host"]["bytes_transferred"])
                self.assertLess(oclgrind["bytes"], largest)
                self.assertEqual(sum(program["groups_checked"] for program in oclgrind["programs"]),
                                 sum(program["groups_total"] for program in oclgrind["programs"]))
                for trace, measured in ((traces["layer"], len(kernels)), (traces["oclgrind"], 0)):
                    result = simulated(trace)
                    self.assertEqual([launch["kernel"] for launch in result["launches"]], kernels)
                    self.assertEqual(result["counters"]["gpu.measured_launches"]["value"], measured)
                    self.assertTrue(all(check["holds"] for check in result["checks"]))

    def test_accesses_become_traffic(self):
        trace = self.folder / "app.trace"
        under_oclgrind(trace, pipeline.BIN / "spmv", "--rows", "300", "--columns", "500")
        counters = simulated(trace)["counters"]
        # 300 results of 4 bytes, each written once, in lines of 64
        self.assertEqual(counters["load_store.write_lookups"]["value"], 19)

    def test_programs_behave_as_without_the_plugin(self):
        for mode in ("plain", "out-of-order", "mistakes"):
            with self.subTest(mode=mode):
                trace = self.folder / f"{mode}.trace"
                with_it = under_oclgrind(trace, SAMPLE, mode)
                without = pipeline.call("oclgrind", SAMPLE, mode, env={"XDG_CACHE_HOME": str(self.folder)})
                self.assertEqual((with_it.stdout, with_it.stderr), (without.stdout, without.stderr))
                self.assertEqual(info(trace)["left_out"], {})

    def test_without_a_file_the_program_runs_and_is_told(self):
        done = pipeline.call("oclgrind", "--plugins", PLUGIN, pipeline.BIN / "kmeans", "--points", "64",
                             env={"FM_TRACE_FILE": ""})
        self.assertEqual(done.stdout, "kmeans: ok\n")
        self.assertIn("fmtrace_oclgrind: FM_TRACE_FILE names no file: nothing is recorded", done.stderr)

    def test_the_process_id_is_part_of_the_name(self):
        under_oclgrind(self.folder / "app.%p.trace", pipeline.BIN / "kmeans", "--points", "64")
        (trace,) = self.folder.glob("app.*.trace")
        self.assertRegex(trace.name, r"^app\.\d+\.trace$")
        self.assertEqual(len(simulated(trace)["launches"]), 9)


class Workloads(unittest.TestCase):
    def test_flags(self):
        for name in WORKLOADS:
            with self.subTest(workload=name):
                self.assertIn("--help", pipeline.tool(name, "--help").stdout)
                self.assertIn("see --help", pipeline.tool(name, "--size-of-it", "3", status=2).stderr)
        self.assertIn("above 0", pipeline.tool("spmv", "--rows", "0", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
