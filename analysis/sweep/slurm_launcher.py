"""Runs points as Slurm job arrays: each task is `fmsweep point` and leaves its row file in the sweep's folder."""

import pathlib
import shlex
import shutil
import subprocess
import sys
import time

from atomic_file import make_folder, write_whole
from problems import StudyError

FMSWEEP = pathlib.Path(__file__).resolve().parent / "fmsweep.py"
MOST_TASKS = 1000  # an array of Slurm's default MaxArraySize holds indices up to this
LOOK_S = 1  # between looks for rows
ASK_S = 5  # between questions to Slurm
GRACE_S = 10  # for rows to appear after their job has ended, on file systems that are late


def script(folder, keys_file, tools):
    """The array's batch script: task N runs the key in line N."""
    point = shlex.join([sys.executable, str(FMSWEEP), "point", str(folder), "--bin", str(tools)])
    return (f"#!/bin/sh\nkey=$(sed -n \"${{SLURM_ARRAY_TASK_ID}}p\" {shlex.quote(str(keys_file))})\n"
            f"exec {point} \"$key\"\n")


class SlurmLauncher:
    """`jobs`: most tasks at a time, None for as many as Slurm likes; `options`: words for sbatch."""

    def __init__(self, jobs, options):
        self.jobs, self.options = jobs, options
        self.how = "by Slurm" + (f", {jobs} at a time" if jobs else "")
        if shutil.which("sbatch") is None:
            raise StudyError("--launcher slurm: no sbatch on this computer; install slurm-wlm, or leave the option out")

    # ---- Slurm's own commands
    def _called(self, *words):
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)

    def _submit(self, folder, tools, keys):
        """The id of the array that runs these keys."""
        stem = folder / f"slurm/{keys[0]}"
        write_whole(stem.with_suffix(".keys"), "".join(f"{key}\n" for key in keys))
        write_whole(stem.with_suffix(".sh"), script(folder, stem.with_suffix(".keys"), tools))
        limit = f"%{self.jobs}" if self.jobs else ""
        called = self._called("sbatch", "--parsable", f"--array=1-{len(keys)}{limit}", "--job-name=fmsweep",
                              f"--output={folder / 'slurm/%A_%a.out'}", *self.options, stem.with_suffix(".sh"))
        if called.returncode != 0:
            raise StudyError(f"sbatch: {called.stderr.strip()}; correct --sbatch options or ask who runs the cluster")
        job = called.stdout.strip().split(";")[0]
        write_whole(folder / f"slurm/{job}.job", "".join(f"{key}\n" for key in keys))
        return job

    def _active(self, jobs):
        """Those of the arrays that Slurm still has tasks of; all where it does not answer."""
        active = set()
        for job in jobs:
            called = self._called("squeue", "--noheader", f"--jobs={job}", "--format=%A")
            if called.returncode == 0 and called.stdout.strip() or \
                    called.returncode != 0 and "Invalid job id" not in called.stderr:
                active.add(job)
        return active

    # ---- arrays of this sweep
    def _adopted(self, folder):
        """{job: keys} of arrays that an earlier fmsweep left behind when it was killed."""
        left = {file.stem: file.read_text().split() for file in (folder / "slurm").glob("*.job")}
        active = self._active(left)
        for job in set(left) - active:
            (folder / f"slurm/{job}.job").unlink()
        return {job: left[job] for job in active}

    def run(self, sweep, points, done):
        """`points`: {key: Point}. Calls done(key, row) after each; a stopped sweep cancels its arrays."""
        folder = sweep.folder.path.resolve()
        make_folder(folder / "slurm")
        jobs = self._adopted(folder)
        adopted = {key for keys in jobs.values() for key in keys}
        new = [key for key in points if key not in adopted]
        try:
            for begin in range(0, len(new), MOST_TASKS):
                keys = new[begin:begin + MOST_TASKS]
                jobs[self._submit(folder, sweep.tools.folder.resolve(), keys)] = keys
            self._wait(sweep, set(points), set(jobs), done)
        except BaseException:
            self._called("scancel", *jobs)
            raise
        finally:
            for job in jobs:
                (folder / f"slurm/{job}.job").unlink(missing_ok=True)

    def _wait(self, sweep, waiting, jobs, done):
        """Until each point has its row or its array is gone."""
        asked = ended = None
        while waiting:
            for key in sorted(waiting):
                row = sweep.kept(key)
                if row is not None:
                    waiting.discard(key)
                    done(key, row)
            done(None, None)
            now = time.monotonic()
            if asked is None or now - asked >= ASK_S:
                asked, jobs = now, self._active(jobs)
                ended = None if jobs else ended or now
            if not waiting or ended is not None and now - ended >= GRACE_S:
                return
            time.sleep(LOOK_S)
