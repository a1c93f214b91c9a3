"""Running a program under a memory limit: a control group of Linux, version 1 or 2.

What counts is what the kernel charges to the group: anonymous memory, and pages of files that the program is the
first to read. The kernel gives the latter back when the limit is near; when that is not enough it kills the program.
Swap is not used.
"""

import os
import pathlib
import signal
import subprocess
import uuid

ROOT = pathlib.Path("/sys/fs/cgroup")


class NotAvailable(Exception):
    """No control group for memory can be made here; says why."""


class Finished:
    """What became of a program in a group."""

    def __init__(self, process, peak, kills):
        self.status, self.stdout, self.stderr = process.returncode, process.stdout, process.stderr
        self.peak = peak  # bytes charged to the group at most; None where the kernel does not say
        self.killed = kills > 0 and process.returncode == -signal.SIGKILL  # for its memory


class _Group:
    """A control group that goes at the end of its `with`."""

    def __enter__(self):
        self._second = not (ROOT / "memory").is_dir()
        parent = ROOT if self._second else ROOT / "memory"
        if self._second:
            offered = parent / "cgroup.subtree_control"
            if not offered.exists():
                raise NotAvailable(f"{ROOT} has no control groups")
            if "memory" not in offered.read_text().split():
                raise NotAvailable(f"{offered} does not offer memory")
        self._folder = parent / f"flashmem-{uuid.uuid4().hex[:12]}"
        try:
            self._folder.mkdir()
        except OSError as error:
            raise NotAvailable(f"{parent}: {error.strerror} (making groups takes root)") from error
        return self

    def __exit__(self, *_):
        self._folder.rmdir()

    def set_limit(self, limit):
        if self._second:
            self._write("memory.max", limit)
            swap, allowed = "memory.swap.max", 0
        else:
            self._write("memory.limit_in_bytes", limit)
            swap, allowed = "memory.memsw.limit_in_bytes", limit
        if (self._folder / swap).exists():
            self._write(swap, allowed)

    def join(self):
        self._write("cgroup.procs", os.getpid())

    def kills(self):
        name = "memory.events" if self._second else "memory.oom_control"
        lines = (line.split() for line in (self._folder / name).read_text().splitlines())
        return next((int(value) for key, value in lines if key == "oom_kill"), 0)

    def peak(self):
        file = self._folder / ("memory.peak" if self._second else "memory.max_usage_in_bytes")
        return int(file.read_text()) if file.exists() else None

    def _write(self, name, value):
        (self._folder / name).write_text(str(value))


def run_in_group(command, limit=None):
    """Runs the command in a group of its own, of at most `limit` bytes, and waits for it. Raises NotAvailable."""
    with _Group() as group:
        if limit is not None:
            group.set_limit(limit)
        process = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                                 preexec_fn=group.join)
        return Finished(process, group.peak(), group.kills())
