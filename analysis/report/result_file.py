"""Reads a result.json of fmexec or fmsim and refuses what is not one, naming the place."""

import functools
import json
import math
import pathlib

import fastjsonschema

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "core/result.schema.json"
# In the order in which they are stacked; described in the schema.
MEMORY_CLASSES = (
    "preloaded", "um_in_flight", "tm_in_flight", "activations", "staging", "driver")


class ResultError(Exception):
    """The file is not a result this version reads; the message says where and why."""


@functools.cache
def _schema():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return schema["properties"]["schema_version"]["const"], fastjsonschema.compile(schema)


def check_result(result):
    """Raises ResultError unless `result` (parsed JSON) is a result of this version."""
    version, validate = _schema()
    if not isinstance(result, dict) or "schema_version" not in result:
        raise ResultError("not a result of fmexec or fmsim: it has no schema_version")
    found = result["schema_version"]
    if found != version:
        raise ResultError(f"schema_version {found} was written by another version; this fmreport "
                          f"reads {version}: make the result anew")
    try:
        validate(result)
    except fastjsonschema.JsonSchemaValueException as error:
        where = error.name.removeprefix("data").lstrip(".")
        reason = error.message.removeprefix(error.name).strip()
        raise ResultError(f"{where}: {reason}" if where else reason) from error


def _number(text):
    """A number as fmexec and fmsim write them: within a double, integers within 64 bits."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is not a finite number")
    if text.lstrip("-").isdigit():
        value = int(text) if abs(value) <= 2**64 else value
    return value


def read_result(path):
    """The result in the file at `path`, checked. Raises ResultError."""
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(
                file, parse_constant=_number, parse_float=_number, parse_int=_number)
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ResultError(f"{path}: not a JSON file: byte {error.start} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ResultError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise ResultError(f"{path}: not a result: nested too deeply") from error
    except ValueError as error:
        raise ResultError(f"{path}: not JSON: {error}") from error
    try:
        check_result(result)
    except ResultError as error:
        raise ResultError(f"{path}: {error}") from error
    return result
