"""A sweep's folder: points to run, a row file of each that ran, and by which tools."""

import contextlib
import fcntl
import json

from atomic_file import make_folder, write_whole
from point import ROW_VERSION, Point
from problems import StudyError

OK, REFUSED, FAILED, MISSING = "ok", "refused", "failed", "missing"
# What would end the same way again; a failure may have been the computer's.
FINISHED = (OK, REFUSED)


def _json_bytes(content):
    return (json.dumps(content, indent=1) + "\n").encode()


class Folder:
    def __init__(self, path):
        self.path = path
        for name in ("points", "rows", "traces", "plans", "recordings"):
            make_folder(path / name)

    # ---- versions
    def begin(self, tools):
        """Refuses to mix results of different tools: `tools` {name: digest}."""
        manifest = self.path / "sweep.json"
        try:
            known = json.loads(manifest.read_text())
            version, known_tools = known["row_version"], dict(known["tools"])
        except FileNotFoundError:
            version, known_tools = ROW_VERSION, {}
        except (ValueError, KeyError, TypeError) as error:
            raise StudyError(f"{manifest}: damaged ({error}); remove the folder or give another -o FOLDER") from error
        for name in sorted(known_tools):
            if version != ROW_VERSION or known_tools[name] != tools.get(name, known_tools[name]):
                raise StudyError(f"{manifest}: the rows here were made by another version of "
                                 f"{name if version == ROW_VERSION else 'fmsweep'} (digest {known_tools[name]}, now "
                                 f"{tools.get(name)}); give another -o FOLDER, or remove this one to run all "
                                 "points anew")
        if not tools.items() <= known_tools.items():
            write_whole(manifest, _json_bytes({"row_version": ROW_VERSION, "tools": {**known_tools, **tools}}))

    @contextlib.contextmanager
    def alone(self):
        """For one sweep at a time; a killed one leaves no lock behind."""
        with open(self.path / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise StudyError(f"{self.path}: another fmsweep works here; wait for it, or give another -o FOLDER") \
                    from error
            yield

    @contextlib.contextmanager
    def turn(self, name):
        """One process at a time records for `name`."""
        with open(self.path / f"recordings/{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    # ---- points and rows
    def save_point(self, key, point):
        path = self.path / f"points/{key}.json"
        data = _json_bytes(point.to_json())
        if not path.exists() or path.read_bytes() != data:
            write_whole(path, data)

    def point(self, key):
        path = self.path / f"points/{key}.json"
        try:
            return Point.of_json(json.loads(path.read_text()))
        except OSError as error:
            raise StudyError(f"{path}: {error.strerror}; give the folder of a sweep and a key of its points/") \
                from error
        except (ValueError, KeyError, TypeError) as error:
            raise StudyError(f"{path}: damaged ({error}); start the sweep again, which writes it anew") from error

    def row_file(self, key):
        return self.path / f"rows/{key}.json"

    def save_row(self, key, row):
        write_whole(self.row_file(key), _json_bytes({"point": key, **row}))

    def row(self, key):
        """The row of a point that ran, or None. Raises ValueError for a file that is no row."""
        try:
            row = json.loads(self.row_file(key).read_text())
        except FileNotFoundError:
            return None
        if not isinstance(row, dict) or row.get("point") != key or row.get("status") not in (OK, REFUSED, FAILED):
            raise ValueError("not a row of this point")
        return row
