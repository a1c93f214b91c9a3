"""Sweeps: what a study asks for, what is refused with its line, keys of points and the table's form."""

import errno
import io
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin"))
sys.path.insert(0, str(ROOT / "analysis/sweep"))

from effective_config import EffectiveConfig, config_words  # noqa: E402
from folder import Folder  # noqa: E402
from measure import bound_of, measures  # noqa: E402
from planned_trace import phone_file  # noqa: E402
from point import Keys, Point, file_digest, plan_words, points_of  # noqa: E402
from problems import StudyError  # noqa: E402
from progress import Progress, duration  # noqa: E402
from parameter_values import column_of, measured  # noqa: E402
from simulator_tools import Refused  # noqa: E402
from slurm_launcher import SlurmLauncher, script  # noqa: E402
from study import read_study  # noqa: E402
from tidy_table import csv_bytes, scaling, sqlite_bytes  # noqa: E402

EXPLAINED = """phone: a phone
DRAM preset lpddr5x-8533 (assumed: fastest)

gpu.cores = {cores}
    shader cores (1 to 64)
    {source}: cited
gpu.fma_per_clock = 128
gpu.registers_per_core = 65536
load_store.cache_size = 32 KiB
texture.cache_size = 32 KiB
local.size = 32 KiB
local.kind = {local}
cluster.size = 0 B
l2.size = 1 MiB
    bytes of the cache (1 KiB to 1 GiB)
    assumed: cited
    a capacity: --capacities scaled moves l2.latency
l2.line = 64 B
slc.size = 8 MiB
storage.read_bandwidth = [[4 KiB, 225 MB/s], [1 MiB, 2100 MB/s]]
"""


def explained(cores=7, source="spec", local="cache_backed"):
    return EXPLAINED.format(cores=cores, source=source, local=local)


class StudyCase(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        for name in ("a.trace", "b.trace", "net.onnx"):
            (self.folder / name).write_text(name)
        self.file = self.folder / "study.yaml"

    def study(self, text):
        self.file.write_text(text)
        return read_study(self.file)

    def refused(self, line, words, text):
        with self.assertRaises(StudyError) as caught:
            self.study(text)
        message = str(caught.exception)
        self.assertTrue(message.startswith(f"{self.file}:{line}: "), message)
        self.assertIn(words, message)


class ReadingTest(StudyCase):
    def test_a_grid_is_every_combination_in_order(self):
        study = self.study("configs: [mali-g715, adreno-750]\ntraces: [a.trace, b.trace]\n"
                           "grid: {gpu.cores: [5, 7], l2.size: [512KiB, 1 MiB]}\n")
        points = points_of(study)
        self.assertEqual(len(points), 2 * 2 * 4)
        self.assertEqual([point.settings for _, _, _, point in points[:4]],
                         [{"gpu.cores": cores, "l2.size": size}
                          for cores in ("5", "7") for size in ("512KiB", "1 MiB")])
        self.assertEqual([point.workload.name for _, _, _, point in points[::4]], ["a", "b", "a", "b"])
        self.assertEqual(study.paths, ["gpu.cores", "l2.size"])

    def test_a_list_is_taken_with_the_grid(self):
        study = self.study("configs: mali-g715\ntraces: a.trace\nset: {l2.slices: 4}\nsample: full\n"
                           "options: [--perfect, dram]\nlist:\n  - {gpu.cores: 5}\n  - {slc.size: 4MiB}\n"
                           "grid: {l2.size: [1MiB, 2MiB]}\n")
        self.assertEqual([point.settings for _, _, _, point in points_of(study)],
                         [{"l2.slices": "4", **entry, "l2.size": size}
                          for entry in ({"gpu.cores": "5"}, {"slc.size": "4MiB"}) for size in ("1MiB", "2MiB")])
        self.assertEqual((study.sample, study.options), ("full", ["--perfect", "dram"]))

    def test_plans_are_made_for_the_point_or_for_the_base(self):
        study = self.study("configs: [mali-g715]\nmodels: [net.onnx]\nplan: {policy: optimal}\nset: {l2.slices: 4}\n"
                           "grid: {plan.mode: [auto, fixed], gpu.cores: [5], plan.budget: [32MiB]}\n")
        auto, fixed = (point for _, _, _, point in points_of(study))
        self.assertEqual(auto.plan, {"policy": "optimal", "budget": "32MiB"})
        self.assertEqual(auto.planned_for, {"l2.slices": "4", "gpu.cores": "5"})
        self.assertEqual(fixed.planned_for, {"l2.slices": "4"})
        self.assertEqual(fixed.settings, auto.settings)

    PLANNED = "configs: [mali-g715]\nmodels: [net.onnx]\n"

    def test_profiles_lie_beside_the_study(self):
        for name in ("a.profile", "b.profile"):
            (self.folder / name).write_text(name)
        study = self.study(self.PLANNED + "plan: {profile: a.profile}\n"
                                          "grid: {plan.learn-from: [b.profile, [a.profile, b.profile]]}\n")
        first, second = (str(self.folder.resolve() / name) for name in ("a.profile", "b.profile"))
        self.assertEqual([point.plan for _, _, _, point in points_of(study)],
                         [{"profile": [first], "learn-from": [second]},
                          {"profile": [first], "learn-from": [first, second]}])
        self.assertEqual(plan_words(points_of(study)[1][3].plan),
                         ["--learn-from", first, "--learn-from", second, "--profile", first])
        self.refused(3, "plan.profile c.profile: no such file", self.PLANNED + "plan: {profile: c.profile}\n")
        self.refused(3, "plan.profile is one file; give several to plan.learn-from",
                     self.PLANNED + "plan: {profile: [a.profile, b.profile]}\n")
        self.refused(4, "plan.learn-from c.profile: no such file",
                     self.PLANNED + "grid:\n  plan.learn-from: [c.profile]\n")

    def test_curves_are_written_as_the_config_language_does(self):
        study = self.study("configs: [mali-g715]\ntraces: [a.trace]\n"
                           "grid: {storage.read_bandwidth: [[[4 KiB, 1 GB/s], [1 MiB, 2 GB/s]], 3GB/s]}\n")
        self.assertEqual([point.settings["storage.read_bandwidth"] for _, _, _, point in points_of(study)],
                         ["[[4 KiB, 1 GB/s], [1 MiB, 2 GB/s]]", "3GB/s"])


class RefusalTest(StudyCase):
    START = "configs: [mali-g715]\ntraces: [a.trace]\n"

    def test_unknown_keys(self):
        self.refused(3, "unknown key gird; did you mean grid?", self.START + "gird: {gpu.cores: [5]}\n")
        self.refused(2, "unknown key modl; did you mean model?", "configs: [mali-g715]\nmodels: [{modl: net.onnx}]\n")
        self.refused(3, "unknown key frequency; known are configs", self.START + "frequency: 1\n")

    def test_missing_files_and_configs(self):
        self.refused(2, "trace c.trace: no such file", "configs: [mali-g715]\ntraces: [c.trace]\n")
        self.refused(1, "no config mali-g716 in configs/; known are adreno-540",
                     "configs: [mali-g716]\ntraces: [a.trace]\n")
        self.refused(1, "a study needs configs", "traces: [a.trace]\n")
        self.refused(1, "either traces: (recorded) or models:", "configs: [mali-g715]\n")
        with self.assertRaisesRegex(StudyError, "no-study.yaml: No such file"):
            read_study(self.folder / "no-study.yaml")

    def test_empty_and_contradictory_parameters(self):
        self.refused(3, "gpu.cores is empty", self.START + "grid: {gpu.cores: []}\n")
        self.refused(3, "grid is empty", self.START + "grid: {}\n")
        self.refused(3, "list is empty", self.START + "list: []\n")
        self.refused(4, "gpu.cores is in list: and in grid:",
                     self.START + "grid: {gpu.cores: [5]}\nlist: [{gpu.cores: 7}]\n")
        self.refused(4, "gpu.cores is in grid: and in set:",
                     self.START + "set: {gpu.cores: 5}\ngrid: {gpu.cores: [7]}\n")
        self.refused(4, "plan.policy is in grid: and in plan:", "configs: [mali-g715]\nmodels: [net.onnx]\n"
                     "plan: {policy: preload}\ngrid: {plan.policy: [optimal]}\n")
        self.refused(3, "gpu.cores needs a list of values", self.START + "grid: {gpu.cores: 5}\n")

    def test_duplicated_points(self):
        self.refused(3, "gpu.cores has 5 twice: duplicated points", self.START + "grid: {gpu.cores: [5, 7, 5]}\n")
        self.refused(5, "the same point as in line 4", self.START + "list:\n - {gpu.cores: 5, l2.size: 1MiB}\n"
                     " - {l2.size: 1MiB, gpu.cores: 5}\n")
        self.refused(2, "trace a is there twice", "configs: [mali-g715]\ntraces: [a.trace, a.trace]\n")
        self.refused(1, "config mali-g715 is there twice", "configs: [mali-g715, mali-g715]\ntraces: [a.trace]\n")
        self.refused(4, "gpu.cores is given twice", self.START + "grid: {gpu.cores: [5],\n  gpu.cores: [7]}\n")

    def test_plans_of_traces(self):
        self.refused(3, "traces were planned when they were recorded", self.START + "plan: {policy: optimal}\n")
        self.refused(3, "traces were planned when they were recorded", self.START + "grid: {plan.policy: [optimal]}\n")
        self.refused(3, "unknown path plan.polcy", "configs: [mali-g715]\nmodels: [net.onnx]\nplan: {polcy: optimal}\n")
        self.refused(3, "plan.mode often: it is auto or fixed",
                     "configs: [mali-g715]\nmodels: [net.onnx]\nplan: {mode: often}\n")

    def test_options_and_samples(self):
        self.refused(3, "option --config", self.START + "options: [--config, adreno-750]\n")
        self.refused(3, "sample some: it is auto or full", self.START + "sample: some\n")

    def test_what_is_no_yaml(self):
        self.refused(2, "not YAML", "configs: [mali-g715\ntraces: a.trace\n")
        self.refused(1, "the study is empty", "# nothing\n")
        with self.assertRaisesRegex(StudyError, "nested too deeply"):
            self.study("[" * 5000)
        self.refused(1, "needs keys with values", "- configs\n")


class ConfigTest(unittest.TestCase):
    def test_a_config_is_its_values_whoever_gave_them(self):
        written_closely = explained().replace("size = 1 MiB", "size = 1024KiB")
        self.assertEqual(EffectiveConfig(explained()).text(), EffectiveConfig(written_closely).text())
        self.assertEqual(EffectiveConfig(explained()).text(), EffectiveConfig(explained(source="assumed")).text())
        self.assertNotEqual(EffectiveConfig(explained()).text(), EffectiveConfig(explained(cores=5)).text())
        self.assertEqual(EffectiveConfig(explained()).values["dram.preset"], "lpddr5x-8533")

    def test_misspelt_paths_have_nearest_ones(self):
        self.assertIn("texture.cache_size", EffectiveConfig(explained()).nearest("tex.cache_size"))
        self.assertEqual(EffectiveConfig(explained()).nearest("l2.siz")[0], "l2.size")

    def test_the_area_proxy_is_sram_and_lanes(self):
        a_core = 32768 + 32768 + 4 * 65536 + 4096 * 128
        shared = (1 << 20) + (8 << 20)
        self.assertEqual(EffectiveConfig(explained()).area_proxy_bytes(), 7 * a_core + shared)
        self.assertEqual(EffectiveConfig(explained(local="dedicated")).area_proxy_bytes(),
                         7 * (a_core + 32768) + shared)

    def test_capacities_are_what_fmsim_says(self):
        self.assertEqual(EffectiveConfig(explained()).capacities, {"l2.size"})

    def test_capacities_of_fmsim_itself(self):
        printed = subprocess.run([BIN / "fmsim", "--config", "mali-g715", "--explain"], capture_output=True, text=True,
                                 check=True, cwd=ROOT).stdout
        self.assertEqual(EffectiveConfig(printed).capacities, {"load_store.cache_size", "texture.cache_size",
                                                               "local.size", "cluster.size", "l2.size", "slc.size"})

    def test_the_preset_is_set_before_what_refines_it(self):
        self.assertEqual(config_words("phone", {"dram.tRCD": "20ns", "dram.preset": "lpddr5-6400"}),
                         ["--config", "phone", "--set", "dram.preset=lpddr5-6400", "--set", "dram.tRCD=20ns"])


class QuantityTest(unittest.TestCase):
    def test_columns_are_numbers_of_one_unit_or_texts(self):
        self.assertEqual(column_of("l2.size", ["512KiB", "1 MiB"]), ("l2.size_bytes", [524288, 1048576]))
        self.assertEqual(column_of("gpu.cores", ["5", "7"]), ("gpu.cores", [5, 7]))
        self.assertEqual(column_of("gpu.clock", ["890 MHz"]), ("gpu.clock_hz", [890000000]))
        self.assertEqual(column_of("dram.preset", ["lpddr5x-8533"]), ("dram.preset", ["lpddr5x-8533"]))
        mixed = ["3GB/s", "[[4 KiB, 1 GB/s]]"]
        self.assertEqual(column_of("storage.read_bandwidth", mixed), ("storage.read_bandwidth", mixed))
        self.assertEqual(measured("6.25 ns"), (6.25, "ns"))
        self.assertIsNone(measured("3 parsecs"))


class FakeTools:
    """Tools whose digests and configs are given."""

    def __init__(self, **digests):
        self.given = digests

    def digests(self, names):
        return {name: self.given.get(name, "1") for name in names}

    def output(self, name, *words):
        assert name == "fmsim" and words[-1] == "--explain"
        settings = dict(word.split("=") for before, word in zip(words, words[1:]) if before == "--set")
        return explained(cores=settings.get("gpu.cores", 7))


class KeyTest(StudyCase):
    def key(self, more="grid: {gpu.cores: [5]}\n", trace="a.trace", **digests):
        study = self.study(f"configs: [mali-g715]\ntraces: [{trace}]\n{more}")
        return Keys(FakeTools(**digests)).key(points_of(study)[0][3])

    def test_a_key_depends_on_contents_only(self):
        key = self.key()
        self.assertEqual(key, self.key("list: [{gpu.cores: 5}]\n"))
        self.assertNotEqual(key, self.key(trace="b.trace"))
        self.assertNotEqual(key, self.key("grid: {gpu.cores: [6]}\n"))
        self.assertNotEqual(key, self.key(fmsim="2"))
        self.assertNotEqual(key, self.key("grid: {gpu.cores: [5]}\nsample: full\n"))
        self.assertNotEqual(key, self.key("grid: {gpu.cores: [5]}\noptions: [--perfect, dram]\n"))
        self.assertEqual(key, self.key(fmplan="2"), "traces are not planned")
        (self.folder / "same.trace").write_text("a.trace")
        self.assertEqual(key, self.key(trace="same.trace"))
        self.assertEqual(self.key(""), self.key("grid: {gpu.cores: [7]}\n"), "the base's own value")

    def test_plans_count_where_they_are_made(self):
        def keys(mode, cores, **digests):
            study = self.study(f"configs: [mali-g715]\nmodels: [net.onnx]\nplan: {{mode: {mode}}}\n"
                               f"grid: {{gpu.cores: [{cores}]}}\n")
            return Keys(FakeTools(**digests)).key(points_of(study)[0][3])
        self.assertNotEqual(keys("auto", 5), keys("fixed", 5))
        self.assertEqual(keys("auto", 7), keys("fixed", 7), "the base's plan is both")
        for tool in ("fmplan", "fmexec", "fmtrace"):
            self.assertNotEqual(keys("auto", 5), keys("auto", 5, **{tool: "2"}))

    def test_profiles_count_by_their_contents(self):
        def key(file, contents):
            (self.folder / file).write_text(contents)
            file_digest.cache_clear()
            study = self.study(f"configs: [mali-g715]\nmodels: [net.onnx]\nplan: {{profile: {file}}}\n")
            return Keys(FakeTools()).key(points_of(study)[0][3])
        self.assertEqual(key("a.profile", "one"), key("b.profile", "one"))
        self.assertNotEqual(key("a.profile", "one"), key("a.profile", "two"))

    def test_points_travel_as_json(self):
        study = self.study("configs: [mali-g715]\nmodels: [{model: net.onnx, options: [--storage, f32]}]\n")
        point = points_of(study)[0][3]
        self.assertEqual(Point.of_json(point.to_json()), point)


class FolderTest(StudyCase):
    ROW = {"status": "ok", "error": "", "measures": {"latency_ns": 1}}

    def test_rows_of_other_versions_are_not_mixed(self):
        folder = Folder(self.folder / "out")
        folder.begin({"fmsim": "1"})
        folder.begin({"fmsim": "1", "fmplan": "1"})
        with self.assertRaisesRegex(StudyError, "sweep.json: the rows here were made by another version of fmsim"):
            folder.begin({"fmsim": "2"})
        with self.assertRaisesRegex(StudyError, "another version of fmplan"):
            folder.begin({"fmsim": "1", "fmplan": "2"})
        (folder.path / "sweep.json").write_text("{")
        with self.assertRaisesRegex(StudyError, "sweep.json: damaged"):
            folder.begin({"fmsim": "1"})

    def test_a_full_disk_leaves_no_half_row(self):
        folder = Folder(self.folder / "out")
        folder.save_row("old", self.ROW)
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with mock.patch("os.replace", side_effect=full), self.assertRaises(StudyError) as caught:
            folder.save_row("new", self.ROW)
        self.assertIn("rows/new.json: No space left on device; to be written are ", str(caught.exception))
        self.assertIn("; finished points are kept: the same command goes on", str(caught.exception))
        self.assertEqual([path.name for path in (folder.path / "rows").iterdir()], ["old.json"])
        self.assertEqual(folder.row("old")["measures"], {"latency_ns": 1})

    def test_interrupted_and_foreign_writes_are_no_rows(self):
        folder = Folder(self.folder / "out")
        folder.save_row("key", self.ROW)
        file = folder.row_file("key")
        whole = file.read_bytes()
        self.assertIsNone(folder.row("other"))
        for content in (whole[:-9], b"", b"[]", whole.replace(b"key", b"kez")):
            file.write_bytes(content)
            with self.assertRaises(ValueError):
                folder.row("key")

    def test_two_sweeps_do_not_share_a_folder(self):
        folder = Folder(self.folder / "out")
        with folder.alone(), self.assertRaisesRegex(StudyError, "another fmsweep works here"):
            with Folder(self.folder / "out").alone():
                pass
        with folder.alone():
            pass


class MeasureTest(unittest.TestCase):
    RESULT = {"latency": {"integrated_ns": 9, "exec_ns": 5, "startup_ns": 2, "init_ns": 4},
              "floor": {"disk_ns": 3, "compute_ns": 4, "dram_ns": 1},
              "memory": {"peak_bytes": 70, "average_bytes": 50}, "energy": {"total_nj": 6},
              "sampling": {"error_bound": 0.01},
              "launches": [{"bound": "alu", "start_ns": 0, "end_ns": 3}, {"bound": "dram", "start_ns": 3, "end_ns": 5},
                           {"bound": "dram", "start_ns": 5, "end_ns": 7}]}

    def test_a_row_of_a_result(self):
        row = measures(self.RESULT, EffectiveConfig(explained()))
        self.assertEqual((row["latency_ns"], row["exec_ns"], row["floor_ns"], row["peak_memory_bytes"], row["bound"]),
                         (9, 5, 4, 70, "dram"))
        self.assertEqual(bound_of([]), "")

    def test_the_law_of_a_capacity_is_named_where_one_is_swept(self):
        config = EffectiveConfig(explained())
        self.assertEqual(scaling(["gpu.cores", "l2.size"], [], config), "iso-latency")
        self.assertIn("square root", scaling(["l2.size"], ["--capacities", "scaled"], config))
        self.assertEqual(scaling(["gpu.cores", "gpu.registers_per_core"], [], config), "")
        self.assertEqual(scaling(["l2.size"], [], Refused("no such config")), "")


class TableTest(unittest.TestCase):
    def test_both_forms_hold_the_same(self):
        names, lines = ["point", "l2.size_bytes", "error"], [["a", 1024, ""], ["b", 2048, "x, \"y\"\nz"]]
        self.assertEqual(csv_bytes(names, lines),
                         b'point,l2.size_bytes,error\na,1024,\nb,2048,"x, ""y""\nz"\n')
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "table.sqlite")
            file.write_bytes(sqlite_bytes({"points": (names, lines)}))
            with sqlite3.connect(file) as base:
                self.assertEqual(base.execute('select point, "l2.size_bytes", error from points').fetchall(),
                                 [("a", 1024, None), ("b", 2048, "x, \"y\"\nz")])


class SlurmTest(StudyCase):
    def test_long_sweeps_are_several_arrays_and_lost_tasks_end_them(self):
        folder, asked = Folder(self.folder / "out of the way"), []
        row = {"status": "ok", "simulation_s": 1}

        def slurm(_, *words):
            asked.append([str(word) for word in words])
            return mock.Mock(returncode=0, stdout=f"{len(asked)};cluster\n" if words[0] == "sbatch" else "", stderr="")
        sweep = mock.Mock(folder=folder, tools=mock.Mock(folder=self.folder),
                          kept=lambda key: None if key == "k7" else row)
        done = []
        with mock.patch("shutil.which", return_value="sbatch"), mock.patch("time.sleep"), \
                mock.patch.multiple("slurm_launcher", GRACE_S=0), mock.patch.object(SlurmLauncher, "_called", slurm):
            SlurmLauncher(4, ["--time=30"]).run(sweep, {f"k{number}": None for number in range(2500)},
                                                lambda key, _: done.append(key))
        arrays = [words for words in asked if words[0] == "sbatch"]
        self.assertEqual([words[2] for words in arrays], ["--array=1-1000%4", "--array=1-1000%4", "--array=1-500%4"])
        self.assertEqual([words[-2] for words in arrays], ["--time=30"] * 3)
        self.assertEqual(len(set(done) - {None}), 2499, "k7 left no row")
        with open(arrays[2][-1].replace(".sh", ".keys")) as keys:
            self.assertEqual(keys.read().split(), [f"k{number}" for number in range(2000, 2500)])

    def test_a_task_runs_the_key_of_its_line(self):
        keys = self.folder / "some keys"
        keys.write_text("a\nb\nc\n")
        shown = script(self.folder / "out of the way", keys, "/bin").replace("exec ", "echo ")
        printed = subprocess.run(["sh", "-c", shown], env={**os.environ, "SLURM_ARRAY_TASK_ID": "2"},
                                 capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(printed[-1], "b")
        self.assertEqual(printed[2], "point")


class PhoneTest(unittest.TestCase):
    def test_the_planner_gets_a_phone_with_the_points_values(self):
        """Of a bandwidth that stands for a curve it gets the curve that fmsim made of it."""
        scaled = explained().replace("225 MB/s", "450 MB/s").replace("2100 MB/s", "4200 MB/s")
        settings = {"storage.read_bandwidth": "4200MB/s", "gpu.cores": "5", "dram.preset": "lpddr5-6400"}
        phone = yaml.safe_load(phone_file("mali-g715", settings, EffectiveConfig(scaled)))
        self.assertEqual((phone["name"], phone["base"]), ("mali-g715", "mali-g715"))
        self.assertEqual(phone["storage"]["read_bandwidth"]["value"], [["4 KiB", "450 MB/s"], ["1 MiB", "4200 MB/s"]])
        self.assertEqual(phone["gpu"]["cores"]["value"], "5")
        self.assertEqual(phone["dram"]["preset"]["value"], "lpddr5-6400")


class ProgressTest(unittest.TestCase):
    def test_time_left(self):
        clock = iter([0, 30, 30]).__next__
        progress = Progress(10, io.StringIO(), clock)
        progress.step("a", {"status": "ok"})
        progress.step("b", {"status": "refused"})
        self.assertEqual(progress.line(), "fmsweep: 2 of 10 points, 1 without a result, 2 min 00 s left")
        self.assertEqual(progress.file.getvalue(), "", "silent when piped")
        self.assertEqual((duration(59.4), duration(3700)), ("59 s", "1 h 01 min"))


if __name__ == "__main__":
    unittest.main()
