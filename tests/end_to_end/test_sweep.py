"""fmsweep with the real tools, on small networks."""

import csv
import json
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

from tests.end_to_end import pipeline, tiny_models

FMSWEEP = [sys.executable, pipeline.ROOT / "analysis/sweep/fmsweep.py"]
# Simulators that take so long that a test can stop the sweep meanwhile, and one that crashes.
HANGING = '#!/bin/sh\ncase "$*" in *--explain*) exec {fmsim} "$@" ;; esac\nexec sleep 20\n'
SLOW = '#!/bin/sh\ncase "$*" in *--explain*) ;; *) sleep {seconds} ;; esac\nexec {fmsim} "$@"\n'
CRASHING = '#!/bin/sh\ncase "$*" in *gpu.cores=5*--trace*) test -e {mended} || kill -9 $$ ;; esac\nexec {fmsim} "$@"\n'


def rows_of(folder):
    with open(folder / "table.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class SweepCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = pipeline.temporary_folder(cls, "sweep-trace")
        tiny_models.save(tiny_models.products(), cls.made / "products.onnx")
        pipeline.tool("fmplan", "--model", cls.made / "products.onnx", "--config", "mali-g715", "-o",
                      cls.made / "p.yaml")
        pipeline.tool("fmexec", "--plan", cls.made / "p.yaml", "--record", cls.made / "products.trace")

    def setUp(self):
        self.folder = pipeline.temporary_folder(self, "sweep")
        self.out = self.folder / "out"

    def study(self, text, name="study.yaml"):
        file = self.folder / name
        file.write_text(text)
        return file

    def of_trace(self, text):
        return self.study(f"configs: [mali-g715]\ntraces: [{self.made / 'products.trace'}]\n{text}")

    def sweep(self, study, *more, out=None, status=0):
        return pipeline.call(*FMSWEEP, study, "-o", out or self.out, "--jobs", 2, *more, status=status)

    def simulator(self, script, **values):
        """A folder of tools whose fmsim is a script."""
        tools = self.folder / "bin"
        tools.mkdir()
        (tools / "fmsim").write_text(script.format(fmsim=pipeline.BIN / "fmsim", **values))
        (tools / "fmsim").chmod(0o755)
        return tools


class SweepTest(SweepCase):
    GRID = "grid: {gpu.cores: [3, 5, 7], l2.size: [512KiB, 1MiB]}\n"

    def test_a_grid_becomes_a_table(self):
        done = self.sweep(self.of_trace(self.GRID))
        rows = rows_of(self.out)
        self.assertEqual([(row["gpu.cores"], row["l2.size_bytes"]) for row in rows],
                         [(cores, size) for cores in "357" for size in ("524288", "1048576")])
        self.assertIn("6 points: 6 ok", done.stdout)
        self.assertIn("capacities: iso-latency", done.stdout)
        self.assertEqual({row["capacity_scaling"] for row in rows}, {"iso-latency"})
        alone = self.folder / "alone.json"
        pipeline.tool("fmsim", "--config", "mali-g715", "--set", "gpu.cores=3", "--set", "l2.size=512KiB", "--trace",
                      self.made / "products.trace", "--sample", "auto", "--json", "-o", alone)
        self.assertIn(f'"integrated_ns": {rows[0]["latency_ns"]}', alone.read_text())
        with sqlite3.connect(self.out / "table.sqlite") as base:
            kept = base.execute("select latency_ns, energy_nj, seconds from points join times using (point)").fetchall()
        self.assertEqual([(str(latency), str(energy)) for latency, energy, _ in kept],
                         [(row["latency_ns"], row["energy_nj"]) for row in rows])
        self.assertTrue(all(seconds > 0 for _, _, seconds in kept))

    def test_a_grown_study_runs_only_what_is_new(self):
        self.sweep(self.of_trace("grid: {gpu.cores: [3, 5]}\n"))
        done = self.sweep(self.of_trace("grid: {gpu.cores: [3, 5, 9]}\n"))
        self.assertIn("3 points, 2 finished before; 1 to run", done.stderr)
        self.assertEqual([row["gpu.cores"] for row in rows_of(self.out)], ["3", "5", "9"])
        again = self.sweep(self.of_trace("grid: {gpu.cores: [3, 5, 9]}\n"))
        self.assertIn("3 finished before; 0 to run", again.stderr)

    def test_killed_and_resumed_it_gives_the_same_table(self):
        study = self.of_trace(self.GRID)
        whole = self.folder / "whole"
        tools = self.simulator(SLOW, seconds=0.3)
        self.sweep(study, "--bin", tools, out=whole)
        command = [str(word) for word in (*FMSWEEP, study, "-o", self.out, "--jobs", "2", "--bin", tools)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
            while not list(self.out.glob("rows/*.json")):
                self.assertIsNone(running.poll())
                time.sleep(0.01)
            running.kill()
        kept = len(list(self.out.glob("rows/*.json")))
        self.assertIn(kept, range(1, 6), "it was stopped in the middle")
        done = self.sweep(study, "--bin", tools)
        self.assertIn(f"{kept} finished before; {6 - kept} to run", done.stderr)
        self.assertEqual((self.out / "table.csv").read_bytes(), (whole / "table.csv").read_bytes())

    def test_ctrl_c_says_how_to_go_on(self):
        study = self.of_trace(self.GRID)
        tools = self.simulator(HANGING)
        command = [str(word) for word in (*FMSWEEP, study, "-o", self.out, "--jobs", "2", "--bin", tools)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
            self.assertIn("6 to run", running.stderr.readline())
            begin = time.monotonic()
            running.send_signal(signal.SIGINT)
            said = running.stderr.read()
            self.assertEqual(running.wait(), 130)
        self.assertLess(time.monotonic() - begin, 10, "children end with it")
        self.assertIn("interrupted: 0 of 6 points are done and kept; go on with: ./fm sweep "
                      f"{study} -o {self.out}", said)
        self.assertEqual([row["status"] for row in rows_of(self.out)], ["missing"] * 6)
        self.assertEqual(list(self.out.glob("rows/*")), [])

    def test_failures_are_rows(self):
        done = self.sweep(self.of_trace("grid: {limits.app_memory: [1MiB, 4GiB], gpu.cores: [5, 700]}\n"))
        rows = rows_of(self.out)
        self.assertEqual([row["status"] for row in rows], ["refused", "refused", "ok", "refused"])
        self.assertIn("4 points: 3 refused, 1 ok", done.stdout)
        self.assertRegex(rows[3]["error"], "gpu.cores.*64")
        self.assertEqual(rows[3]["latency_ns"], "")
        self.assertIn("4 finished before; 0 to run", self.sweep(self.of_trace(
            "grid: {limits.app_memory: [1MiB, 4GiB], gpu.cores: [5, 700]}\n")).stderr)
        refused = self.sweep(self.of_trace("grid: {gpu.cores: [700]}\n"), status=2)
        self.assertIn("no point has a result; the first ended with: ", refused.stderr)

    def test_a_crash_is_a_row_and_is_tried_again(self):
        mended = self.folder / "mended"
        tools = self.simulator(CRASHING, mended=mended)
        study = self.of_trace("grid: {gpu.cores: [3, 5]}\n")
        self.sweep(study, "--bin", tools)
        self.assertEqual([(row["status"], row["error"]) for row in rows_of(self.out)],
                         [("ok", ""), ("failed", "fmsim was ended by signal 9: no message")])
        mended.touch()
        self.assertIn("1 finished before; 1 to run", self.sweep(study, "--bin", tools).stderr)
        self.assertEqual([row["status"] for row in rows_of(self.out)], ["ok", "ok"])

    def test_a_point_runs_by_itself(self):
        study = self.of_trace("grid: {gpu.cores: [3, 5]}\n")
        self.sweep(study)
        table = (self.out / "table.csv").read_bytes()
        key = rows_of(self.out)[1]["point"]
        (self.out / f"rows/{key}.json").unlink()
        self.sweep(study, "--only-kept")
        self.assertEqual([row["status"] for row in rows_of(self.out)], ["ok", "missing"])
        self.assertIn(f"{key} ok", pipeline.call(*FMSWEEP, "point", self.out, key).stdout)
        self.sweep(study, "--only-kept")
        self.assertEqual((self.out / "table.csv").read_bytes(), table)
        self.assertIn("points/nothing.json: No such file", pipeline.call(*FMSWEEP, "point", self.out, "nothing",
                                                                         status=2).stderr)
        self.assertIn("not the folder of a sweep", pipeline.call(*FMSWEEP, "point", self.folder, key, status=2).stderr)


class PlanTest(SweepCase):
    STUDY = ("configs: [mali-g715]\nmodels: [{name: net, model: MODEL}]\nplan: {policy: optimal}\n"
             "grid: {plan.mode: [auto, fixed], storage.command_latency: [74us, 500us]}\n")

    def of_model(self, text=STUDY):
        return self.study(text.replace("MODEL", str(self.made / "products.onnx")))

    def test_hardware_and_planning_effects_are_told_apart(self):
        study = self.of_model()
        self.sweep(study)
        rows = {(row["plan.mode"], row["storage.command_latency_ns"]): row for row in rows_of(self.out)}
        self.assertEqual(len(rows), 4)
        base, slow = ("74000", "500000")
        self.assertEqual(rows["auto", base]["point"], rows["fixed", base]["point"], "the base's plan is both: run once")
        # Streaming costs more than waiting at the start when commands are slow, and only a new plan sees it.
        self.assertLess(int(rows["auto", slow]["exec_ns"]), int(rows["fixed", slow]["exec_ns"]))
        self.assertGreater(int(rows["auto", slow]["peak_memory_bytes"]), int(rows["fixed", slow]["peak_memory_bytes"]))
        self.assertEqual(len(list(self.out.glob("rows/*.json"))), 3)
        self.assertEqual(len(list(self.out.glob("traces/*.trace"))), 2)

        # The same from launches that are recorded anew: times of the recording have no part in it.
        table = (self.out / "table.csv").read_bytes()
        for made in ("rows/*.json", "recordings/*.trace", "traces/*.trace"):
            for file in self.out.glob(made):
                file.unlink()
        self.sweep(study)
        self.assertEqual((self.out / "table.csv").read_bytes(), table)

    def test_a_plan_is_that_of_fmplan_for_such_a_phone(self):
        self.sweep(self.of_model("configs: [mali-g715]\nmodels: [MODEL]\n"
                                 "list: [{storage.command_latency: 500us, "
                                 "storage.read_bandwidth: [[4 KiB, 1 GB/s], [1 MiB, 3 GB/s]], "
                                 "plan.policy: optimal}]\n"))
        phone = self.folder / "phone.yaml"
        phone.write_text("schema: 1\nname: mali-g715\ndescription: slow commands\nbase: mali-g715\nstorage:\n"
                         "  command_latency: {value: 500 us, source: assumed, cite: test}\n"
                         "  read_bandwidth: {value: [[4 KiB, 1 GB/s], [1 MiB, 3 GB/s]], source: assumed, cite: test}\n")
        pipeline.tool("fmplan", "--model", self.made / "products.onnx", "--config", phone, "--policy", "optimal", "-o",
                      self.folder / "plan.yaml")
        made, = self.out.glob("plans/*.plan.yaml")
        self.assertEqual(made.read_text(), (self.folder / "plan.yaml").read_text())

    def test_a_profile_beside_the_study_plans_as_it_does_without_a_sweep(self):
        times = self.folder / "net.json"
        pipeline.tool("fmsim", "--config", "mali-g715", "--trace", self.made / "products.trace", "--json", "-o", times)
        self.sweep(self.of_model("configs: [mali-g715]\nmodels: [MODEL]\n"
                                 "plan: {policy: optimal, budget: 4MiB, profile: net.json}\n"))
        pipeline.tool("fmplan", "--model", self.made / "products.onnx", "--config", "mali-g715", "--policy", "optimal",
                      "--budget", "4MiB", "--profile", times, "-o", self.folder / "plan.yaml")
        made, = self.out.glob("plans/*.plan.yaml")
        self.assertEqual(made.read_text(), (self.folder / "plan.yaml").read_text())
        times.write_text("{}")
        again = self.sweep(self.folder / "study.yaml", status=2)
        self.assertIn("net.json: is no result of fmsim or fmexec", again.stderr)

    def test_a_plan_that_cannot_be_is_a_row(self):
        done = self.sweep(self.of_model("configs: [mali-g715]\nmodels: [MODEL]\nplan: {policy: optimal}\n"
                                        "grid: {plan.budget: [1KiB, 4MiB]}\n"))
        self.assertIn("2 points: 1 refused, 1 ok", done.stdout)
        refused, planned = rows_of(self.out)
        self.assertIn("fmplan: error: --budget", refused["error"])
        self.assertEqual((refused["plan.budget_bytes"], planned["status"]), ("1024", "ok"))


class RankingTest(SweepCase):
    def sensitivity(self, *words, status=0):
        return pipeline.call(*FMSWEEP, "sensitivity", *words, "-o", self.out, "--measure", "exec_ns", status=status)

    def ranking(self):
        with open(self.out / "ranking.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_parameters_of_a_phone_are_ranked(self):
        run = ("--config", "mali-g715", "--trace", self.made / "products.trace")
        done = self.sensitivity(*run, "--parameter", "l2.size", "--parameter", "gpu.clock", "--parameter",
                                "storage.read_bandwidth")
        ranking = {row["parameter"]: row for row in self.ranking()}
        self.assertEqual(list(ranking)[0], "gpu.clock")
        self.assertLess(float(ranking["gpu.clock"]["elasticity"]), 0)
        size = ranking["l2.size"]
        self.assertEqual((size["low"], size["high"]), ("524288 B", "2097152 B"), "10 % is no whole number of sets")
        alone = self.folder / "alone.json"
        changes = []
        for setting in ("1 MiB", "524288 B"):
            pipeline.tool("fmsim", "--config", "mali-g715", "--trace", self.made / "products.trace", "--sample", "auto",
                          "--set", f"l2.size={setting}", "--json", "-o", alone)
            changes.append(json.loads(alone.read_text())["latency"]["exec_ns"])
        self.assertAlmostEqual(float(size["change_low_percent"]), 100 * (changes[1] / changes[0] - 1), places=3)
        self.assertIn("tornado.products.svg", done.stdout)
        self.assertIn("<svg", (self.out / "tornado.products.svg").read_text())
        again = self.sensitivity(*run, "--parameter", "l2.size")
        self.assertIn("3 finished before; 0 to run", again.stderr)

    def test_a_study_says_what_is_varied(self):
        self.sensitivity(self.of_trace("grid: {gpu.clock: [600MHz, 700MHz]}\n"))
        self.assertEqual([row["parameter"] for row in self.ranking()], ["gpu.clock"])
        refused = self.sensitivity(self.of_trace("grid: {dram.preset: [lpddr5x-9600]}\n"), status=2)
        self.assertIn("parameter dram.preset is a word or zero", refused.stderr)
        self.assertIn("give either STUDY.yaml, or --config and --trace",
                      self.sensitivity("--config", "mali-g715", status=2).stderr)

    def test_undominated_points_are_marked(self):
        self.sweep(self.of_trace("grid: {gpu.cores: [3, 5], l2.size: [512KiB, 1MiB]}\n"))
        done = pipeline.call(*FMSWEEP, "pareto", self.out, "--objective", "exec_ns", "--objective", "area_proxy_bytes")
        self.assertIn("rows are undominated in exec_ns, area_proxy_bytes", done.stdout)
        with open(self.out / "pareto.csv", encoding="utf-8", newline="") as file:
            marks = [row["undominated"] for row in csv.DictReader(file)]
        self.assertEqual(marks[0], "yes", "nothing is smaller")
        self.assertIn("no column area", pipeline.call(*FMSWEEP, "pareto", self.out, "--objective", "area",
                                                      status=2).stderr)


class RefusalTest(SweepCase):
    def refused(self, study, *more):
        return self.sweep(study, *more, status=2).stderr

    def test_unknown_paths_have_nearest_names(self):
        study = self.of_trace("grid:\n  l2.siz: [1MiB]\n")
        self.assertIn(f"fmsweep: error: {study}:4: mali-g715 has no parameter l2.siz; nearest: l2.size",
                      self.refused(study))

    def test_values_that_mean_the_same_are_duplicated_points(self):
        study = self.of_trace("grid: {l2.size: [1MiB, 1024 KiB]}\n")
        self.assertIn(f"{study}:3: duplicated points: l2.size=1024 KiB is the same as l2.size=1MiB",
                      self.refused(study))

    def test_another_simulator_needs_another_folder(self):
        study = self.of_trace("grid: {gpu.cores: [3]}\n")
        self.sweep(study)
        tools = self.simulator(SLOW, seconds=0)
        self.assertRegex(self.refused(study, "--bin", tools), "sweep.json: the rows here were made by another version "
                         "of fmsim .*; give another -o FOLDER")

    def test_damaged_rows_run_again(self):
        study = self.of_trace("grid: {gpu.cores: [3, 5]}\n")
        self.sweep(study)
        table = (self.out / "table.csv").read_bytes()
        row = next(self.out.glob("rows/*.json"))
        row.write_bytes(row.read_bytes()[:20])
        done = self.sweep(study)
        self.assertRegex(done.stderr, r"note: .*\.json: damaged .*: runs again")
        self.assertEqual((self.out / "table.csv").read_bytes(), table)

    def test_a_simulator_that_cannot_even_explain_is_our_fault(self):
        tools = self.simulator("#!/bin/sh\necho broken >&2\nexit 1\n")
        done = self.sweep(self.of_trace("grid: {gpu.cores: [3]}\n"), "--bin", tools, status=1)
        self.assertEqual(done.stderr, "fmsweep: error: fmsim ended with 1: broken\n")

    def test_what_is_no_trace_is_said(self):
        (self.folder / "some.trace").write_text("nothing")
        study = self.study("configs: [mali-g715]\ntraces: [some.trace]\ngrid: {gpu.cores: [3, 5]}\n")
        self.assertRegex(self.refused(study), "study.yaml: no point has a result; the first ended with: fmsim: error")
        self.assertEqual([row["status"] for row in rows_of(self.out)], ["refused", "refused"])

    def test_a_folder_that_cannot_be_written(self):
        study = self.of_trace("grid: {gpu.cores: [3]}\n")
        self.assertIn("study.yaml/folder/points: Not a directory",
                      self.sweep(study, out=study / "folder", status=2).stderr)
        self.assertIn("no such program; build it", self.refused(study, "--bin", self.folder))

    def test_a_full_disk_stops_the_sweep_and_keeps_what_is_done(self):
        study = self.of_trace("grid: {gpu.cores: [3]}\n")
        self.sweep(study)
        table = self.out / "table.csv"
        kept = table.read_bytes()
        wider = self.of_trace("grid: {gpu.cores: [3, 5]}\n")
        code = ("import errno, os, sys; sys.path.insert(0, sys.argv[1]); import fmsweep\n"
                "def full(*_): raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
                "os.replace = full\nsys.exit(fmsweep.main(sys.argv[2:]))")
        done = pipeline.call(sys.executable, "-c", code, FMSWEEP[1].parent, wider, "-o", self.out, status=2)
        self.assertRegex(done.stderr, "fmsweep: error: .*: No space left on device; .*; finished points are kept")
        self.assertEqual(table.read_bytes(), kept)
        self.assertIn("1 finished before; 1 to run", self.sweep(wider).stderr)


if __name__ == "__main__":
    unittest.main()
