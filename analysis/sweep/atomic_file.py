"""Files that appear whole or not at all, whatever ends the process."""

import os

from problems import StudyError


def write_whole(path, data):
    """`data`: bytes. Raises StudyError when the disk does not take it; nothing of it is left then."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with open(partial, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StudyError(f"{path}: {error.strerror}; finished points are kept: make room and give the same command "
                         "again") from error


def make_folder(path):
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror}; give another -o FOLDER") from error
