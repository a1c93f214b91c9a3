"""Files that a study names, relative to its own folder or to this checkout."""

import pathlib

from simulator_tools import ROOT


def found_file(text, folder):
    """The file in the folder, else in this checkout; None where there is no such file."""
    return next(((base / text).resolve() for base in (folder, ROOT) if (base / text).is_file()), None)


def file_of(node, what):
    """The file that a value of a study names."""
    folder = pathlib.Path(node.file).resolve().parent
    found = found_file(node.text(), folder)
    if found is None:
        node.fail(f"{what} {node.text()}: no such file, neither in {folder} nor in {ROOT}; correct the path")
    return str(found)
