"""Writes a finished report where it belongs: whole or not at all."""

import os
import signal
import sys
import tempfile


class WriteError(Exception):
    """The report cannot be written; the message says where, why and what would help."""


class Interrupted(Exception):
    """The user or the system asked the program to end."""


def end_by_exception():
    """Makes the signals that end a program exceptions, so that what was begun is cleaned up."""
    def interrupted(number, _):
        raise Interrupted(f"interrupted by {signal.Signals(number).name}")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)


def _replace(path, content):
    """Writes beside `path` and renames, so that an interrupted run leaves no half file."""
    folder = os.path.dirname(path) or "."
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=os.path.basename(path) + ".")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_report(path, content):
    """To a file, a device or pipe (in place), or standard output ("-"). Raises WriteError."""
    try:
        if path == "-":
            # Not sys.stdout.buffer: unbuffered (PYTHONUNBUFFERED) it may write a part only.
            with open(sys.stdout.fileno(), "wb", closefd=False) as file:
                file.write(content.encode())
        elif os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(content)
        else:
            _replace(path, content)
    except OSError as error:
        where = "standard output" if path == "-" else path
        raise WriteError(f"{where}: {error.strerror}; the report needs {len(content.encode()):,} bytes") from error
