"""What the kernel holds of a file in its page cache."""

import os
import subprocess


def drop_from_cache(path):
    """Gives the file's pages back, so that the next reader goes to the disk and what is found later is of that reader."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def cached_bytes(path):
    printed = subprocess.run(["fincore", "--bytes", "--noheadings", "--output", "RES", path], check=True,
                             capture_output=True, text=True).stdout
    return int(printed)
