"""Files that appear whole or not at all, whatever ends the process."""

import os
import threading


class WriteError(Exception):
    """What was to be written has no place; the message says where, why and what would help."""

    def __init__(self, where, error, data):
        super().__init__(f"{where}: {error.strerror}; to be written are {len(data):,} bytes: make room, or name another "
                         "place")


def _replace(path, data):
    """Writes beside `path` and renames; of what was interrupted or failed nothing is left."""
    partial = f"{path}.{os.getpid()}.{threading.get_ident()}.partial"
    try:
        with open(partial, "wb") as file:
            file.write(data)
        os.replace(partial, path)
    except BaseException:
        if os.path.exists(partial):
            os.unlink(partial)
        raise


def write_whole(path, content):
    """`content`: text or bytes, to a file, or in place to a device or pipe. Raises WriteError; what was there stays
    then."""
    data = content.encode() if isinstance(content, str) else content
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            _replace(path, data)
    except OSError as error:
        raise WriteError(path, error, data) from error
