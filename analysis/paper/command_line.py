"""The command-line tools as the study calls them, and content keys of what they make."""

import functools
import hashlib
import json
import pathlib
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from whole_file import WriteError, write_whole  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
USER_ERROR = 2


class Refused(Exception):
    """A tool found its input wrong: not this computer's fault, and trying again is of no use."""


class NotKept(Exception):
    """A point would have to be measured, and the study only prints those that are."""


class Tools:
    def __init__(self, folder, only_kept=False):
        self.folder, self.only_kept = pathlib.Path(folder), only_kept

    def measure(self, name, *arguments):
        """run(), of what takes long. Raises NotKept when only finished points are wanted."""
        self.need_to_measure()
        return self.run(name, *arguments)

    def need_to_measure(self):
        if self.only_kept:
            raise NotKept("not measured yet")

    def run(self, name, *arguments):
        """(seconds the tool took, what it printed). Raises Refused for exit status 2, SystemExit for any other."""
        command = [str(self.folder / name), *map(str, arguments)]
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begin
        if done.returncode == USER_ERROR:
            raise Refused(done.stderr.strip())
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
        return seconds, done.stdout

    @functools.lru_cache(maxsize=None)
    def digest(self, name):
        return digest_of((self.folder / name).read_bytes())

    @functools.lru_cache(maxsize=None)
    def config_text(self, config, settings=()):
        """The device's effective config, whatever files it is based on; `settings`: words of fmsim, --set PATH=VALUE."""
        return self.run("fmsim", "--config", config_path(config), *settings, "--explain")[1]


def digest_of(*parts):
    state = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        state.update(str(len(data)).encode() + b":" + data)
    return state.hexdigest()[:16]


def config_path(config):
    """A device of the study: a name in configs/, or a file of this project."""
    return ROOT / config if "/" in config else ROOT / f"configs/{config}.yaml"


def save_json(path, content):
    """Written whole or not at all, so that an interrupted study resumes."""
    try:
        write_whole(path, json.dumps(content))
    except WriteError as error:
        sys.exit(f"{error}; finished points are kept: the same command goes on")
