"""fmsweep by job arrays of a Slurm that the test starts on this computer alone."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest
from unittest import mock

from tests.end_to_end import pipeline
from tests.end_to_end.test_sweep import FMSWEEP, SLOW, SweepCase, rows_of

CONFIG = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_res
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@unittest.skipUnless(all(map(shutil.which, ("slurmctld", "slurmd", "sbatch"))), "no Slurm here: ./fm setup slurm")
class SlurmTest(SweepCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = pipeline.temporary_folder(cls, "slurm")
        for name in ("state", "spool"):
            (folder / name).mkdir()
        controller, node = free_ports(2)
        config = folder / "slurm.conf"
        config.write_text(CONFIG.format(host=socket.gethostname().split(".")[0], controller=controller, node=node,
                                        user=getpass.getuser(), folder=folder, cpus=os.cpu_count()))
        environment = mock.patch.dict(os.environ, SLURM_CONF=str(config))
        environment.start()
        cls.addClassCleanup(environment.stop)
        cls.slurm = folder
        cls.start_daemon("slurmctld")
        cls.node = cls.start_daemon("slurmd")
        if not cls.node_is_idle():
            raise unittest.SkipTest(f"Slurm does not start here: {(folder / 'slurmd.out').read_text()[-500:]}")

    @classmethod
    def start_daemon(cls, daemon):
        with open(cls.slurm / f"{daemon}.out", "wb") as printed:
            running = subprocess.Popen([daemon, "-D", "-f", cls.slurm / "slurm.conf"], stdout=printed, stderr=printed)
        cls.addClassCleanup(running.wait)
        cls.addClassCleanup(running.kill)
        return running

    @classmethod
    def node_is_idle(cls):
        for _ in range(150):
            if subprocess.run(["sinfo", "-h", "-o", "%t"], capture_output=True, text=True).stdout.strip() == "idle":
                return True
            time.sleep(0.2)
        return False

    def queued(self, columns="%A %t"):
        return subprocess.run(["squeue", "-h", "-o", columns], capture_output=True, text=True, check=True).stdout.strip()

    def kill_node(self):
        """As if the computer lost power: the daemon, the steps it started and what they run."""
        self.node.kill()
        self.node.wait()
        steps = subprocess.run(["pgrep", "-f", "^slurmstepd: "], capture_output=True, text=True).stdout.split()
        for step in steps:
            subprocess.run(["pkill", "-KILL", "-P", step], check=False)
            os.kill(int(step), signal.SIGKILL)

    def start_waiting_tasks(self):
        """What Slurm took back from a dead node waits two minutes before it starts again."""
        for task in self.queued("%i %t").splitlines():
            name, state = task.split()
            if state == "PD":
                subprocess.run(["scontrol", "update", f"JobId={name}", "StartTime=now"], capture_output=True, check=False)

    def start(self, *words):
        command = [str(word) for word in (*FMSWEEP, *words, "-o", self.out, "--launcher", "slurm")]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def test_arrays_make_the_table_that_processes_make(self):
        study = self.of_trace("grid: {gpu.cores: [3, 5, 700]}\n")
        done = self.sweep(study, "--launcher", "slurm")
        self.assertIn("3 to run, by Slurm, 2 at a time", done.stderr)
        here = self.folder / "here"
        self.sweep(study, out=here)
        self.assertEqual((self.out / "table.csv").read_bytes(), (here / "table.csv").read_bytes())
        self.assertEqual([row["status"] for row in rows_of(self.out)], ["ok", "ok", "refused"])
        refused = self.sweep(study, "--launcher", "slurm", "--sbatch=--partition=none", out=self.folder / "other",
                             status=2)
        self.assertRegex(refused.stderr, "fmsweep: error: sbatch: .*partition")

    def test_arrays_of_a_killed_sweep_are_waited_for(self):
        tools = self.simulator(SLOW, seconds=3)
        study = self.of_trace("grid: {gpu.cores: [3, 5]}\n")
        with self.start(study, "--bin", tools) as running:
            while not list(self.out.glob("slurm/*.job")):
                self.assertIsNone(running.poll())
                time.sleep(0.02)
            running.kill()
        self.sweep(study, "--launcher", "slurm", "--bin", tools)
        self.assertEqual([row["status"] for row in rows_of(self.out)], ["ok", "ok"])
        self.assertEqual(len(list(self.out.glob("slurm/*.sh"))), 1, "submitted once")
        self.assertEqual(list(self.out.glob("slurm/*.job")), [])

    def test_a_point_of_a_node_that_dies_runs_again(self):
        tools = self.simulator(SLOW, seconds=3)
        study = self.of_trace("grid: {gpu.cores: [3, 5]}\n")
        with self.start(study, "--jobs", 1, "--bin", tools) as running:
            while len(first := list(self.out.glob("rows/*.json"))) < 1 or "R" not in self.queued("%t"):
                self.assertIsNone(running.poll())
                time.sleep(0.02)
            written = first[0].stat().st_mtime_ns
            self.kill_node()
            type(self).node = self.start_daemon("slurmd")
            while running.poll() is None:
                self.start_waiting_tasks()
                time.sleep(0.5)
        self.assertEqual([row["status"] for row in rows_of(self.out)], ["ok", "ok"])
        self.assertEqual(first[0].stat().st_mtime_ns, written, "finished before, and not run again")

    def test_ctrl_c_cancels_the_arrays(self):
        tools = self.simulator(SLOW, seconds=60)
        with self.start(self.of_trace("grid: {gpu.cores: [3, 5]}\n"), "--bin", tools) as running:
            while not list(self.out.glob("slurm/*.job")):
                self.assertIsNone(running.poll())
                time.sleep(0.02)
            running.send_signal(signal.SIGINT)
            self.assertIn("interrupted: 0 of 2 points are done and kept", running.stderr.read())
            self.assertEqual(running.wait(), 130)
        for _ in range(100):
            if not self.queued():
                return
            time.sleep(0.1)
        self.fail(f"still there: {self.queued()}")


class NoSlurmTest(SweepCase):
    def test_a_computer_without_slurm_says_so(self):
        study = self.of_trace("grid: {gpu.cores: [3]}\n")
        with mock.patch.dict(os.environ, PATH=str(self.folder)):
            done = self.sweep(study, "--launcher", "slurm", status=2)
        self.assertIn("fmsweep: error: --launcher slurm: no sbatch on this computer; install slurm-wlm", done.stderr)
        self.assertIn("--sbatch goes with --launcher slurm", self.sweep(study, "--sbatch=--time=1", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
