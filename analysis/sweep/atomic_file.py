"""A sweep's files and folders: they appear whole or not at all, and the sweep stops where they cannot."""

import pathlib
import sys

from problems import StudyError

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import whole_file  # noqa: E402


def write_whole(path, content):
    """`content`: text or bytes. Raises StudyError when the disk does not take it; nothing of it is left then."""
    try:
        whole_file.write_whole(path, content)
    except whole_file.WriteError as error:
        raise StudyError(f"{error}; finished points are kept: the same command goes on") from error


def make_folder(path):
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror}; give another -o FOLDER") from error
