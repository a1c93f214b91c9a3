"""Writes a finished report where it belongs: whole or not at all."""

import pathlib
import signal
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from whole_file import WriteError, write_whole  # noqa: E402


class Interrupted(Exception):
    """The user or the system asked the program to end."""


def end_by_exception():
    """Makes the signals that end a program exceptions, so that what was begun is cleaned up."""
    def interrupted(number, _):
        raise Interrupted(f"interrupted by {signal.Signals(number).name}")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)


def _write_to_standard_output(content):
    data = content.encode()
    try:
        # Not sys.stdout.buffer: unbuffered (PYTHONUNBUFFERED) it may write a part only.
        with open(sys.stdout.fileno(), "wb", closefd=False) as file:
            file.write(data)
    except OSError as error:
        raise WriteError("standard output", error, data) from error


def write_report(path, content):
    """To a file, a device or pipe, or standard output ("-"). Raises WriteError."""
    if path == "-":
        _write_to_standard_output(content)
    else:
        write_whole(path, content)
