"""The command-line tools as a sweep calls them: many at a time, and none outlives the sweep."""

import functools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "analysis/paper"), str(ROOT / "analysis/report")]

from command_line import USER_ERROR, Refused, Tools, digest_of  # noqa: E402, F401 for the modules here
from problems import Interrupted, StudyError  # noqa: E402
from quantities import bytes_text, energy_text, time_text  # noqa: E402

# By the unit at the end of a column's name.
UNIT_TEXTS = {"ns": time_text, "bytes": bytes_text, "nj": energy_text}
STOPPED_BY = (-signal.SIGINT, -signal.SIGTERM)
# What the tools print when a disk is full: the disk's fault, not the point's.
FULL_DISK = ("write failed", "No space left on device")


class Broken(Exception):
    """A tool ended by neither success nor refusal: it may go well another time."""


@functools.cache
def _dying_with_parent():
    """Words before a command that end it with this process, however that ends."""
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


class SweepTools(Tools):
    def __init__(self, folder):
        super().__init__(folder)
        self._children, self._lock, self._stopped = set(), threading.Lock(), False

    def output(self, name, *arguments):
        """What the tool printed. Raises Refused, Broken or Interrupted."""
        command = [*_dying_with_parent(), str(self.folder / name), *map(str, arguments)]
        with self._lock:
            if self._stopped:
                raise Interrupted
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
            self._children.add(child)
        try:
            printed, said = child.communicate()
        finally:
            with self._lock:
                self._children.discard(child)
        return self._judged(name, child.returncode, printed, said.strip())

    def _judged(self, name, status, printed, said):
        if status == 0:
            return printed
        if self._stopped or status in STOPPED_BY:
            raise Interrupted
        if any(words in said for words in FULL_DISK):
            raise StudyError(f"{said}; finished points are kept: make room and give the same command again")
        if status == USER_ERROR:
            raise Refused(said)
        how = f"was ended by signal {-status}" if status < 0 else f"ended with {status}"
        last = said.splitlines()[-1:] or ["no message"]
        raise Broken(f"{name} {how}: {last[0]}")

    def stop(self):
        """Ends every child; output() begins no other."""
        with self._lock:
            self._stopped = True
            for child in self._children:
                child.kill()

    def digests(self, names):
        missing = [name for name in names if not os.access(self.folder / name, os.X_OK)]
        if missing:
            raise StudyError(f"{self.folder / missing[0]}: no such program; build it (./fm build) or say --bin FOLDER")
        return {name: self.digest(name) for name in names}
