"""The command-line tools as the study calls them, and content keys of what they make."""

import functools
import hashlib
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
USER_ERROR = 2


class Refused(Exception):
    """A tool found its input wrong: not this computer's fault, and trying again is of no use."""


class Tools:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def run(self, name, *arguments):
        """Seconds the tool took. Raises Refused for exit status 2, SystemExit for any other."""
        command = [str(self.folder / name), *map(str, arguments)]
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begin
        if done.returncode == USER_ERROR:
            raise Refused(done.stderr.strip())
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
        return seconds

    @functools.lru_cache(maxsize=None)
    def digest(self, name):
        return digest_of((self.folder / name).read_bytes())


def digest_of(*parts):
    state = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        state.update(str(len(data)).encode() + b":" + data)
    return state.hexdigest()[:16]


def config_text(name):
    """A device's config with the files it is based on."""
    text = (ROOT / f"configs/{name}.yaml").read_text()
    based = [path.read_text() for folder in ("base", "dram")
             for path in sorted((ROOT / "configs" / folder).glob("*.yaml"))]
    return "".join([text, *based])


def save_json(path, content):
    """Written whole or not at all, so that an interrupted study resumes."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content))
    partial.replace(path)
