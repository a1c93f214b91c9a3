"""Reads a result.json of fmexec or fmsim and refuses what is not one, naming the place."""

import json
import math

SCHEMA_VERSION = 1
MEMORY_CLASSES = (
    "preloaded", "um_in_flight", "tm_in_flight", "activations", "staging", "driver")

NUMBER, TEXT, FLAG = "a number", "a string", "true or false"


class ResultError(Exception):
    """The file is not a result this version reads; the message says where and why."""


class ListOf:
    def __init__(self, item):
        self.item = item


class MapOf:
    """An object with any keys, all of whose values look alike."""

    def __init__(self, item):
        self.item = item


BY_CLASS = {name: NUMBER for name in MEMORY_CLASSES}
# What the report reads, as result.schema.json has it; other keys are left alone.
RESULT = {
    "config": {},
    "trace": {"file": TEXT, "digest": TEXT},
    "sampling": {"mode": TEXT, "error_bound": NUMBER},
    "latency": {"integrated_ns": NUMBER, "startup_ns": NUMBER, "init_ns": NUMBER, "exec_ns": NUMBER},
    "floor": {"disk_ns": NUMBER, "compute_ns": NUMBER, "dram_ns": NUMBER},
    "memory": {"peak_bytes": NUMBER, "average_bytes": NUMBER, "by_class": BY_CLASS,
               "over_time": ListOf({"time_ns": NUMBER, **BY_CLASS})},
    "timeline": ListOf({"lane": TEXT, "name": TEXT, "start_ns": NUMBER, "end_ns": NUMBER}),
    "peaks": MapOf(NUMBER),
    "energy": {"total_nj": NUMBER, "by_component": MapOf(NUMBER)},
    "launches": ListOf({"id": TEXT, "kernel": TEXT, "operation": TEXT, "start_ns": NUMBER,
                        "end_ns": NUMBER, "bound": TEXT, "macs": NUMBER, "weight_bytes": NUMBER,
                        "stalls": MapOf(NUMBER), "counters": MapOf(NUMBER)}),
    "counters": MapOf({"value": NUMBER, "unit": TEXT, "description": TEXT}),
    "checks": ListOf({"law": TEXT, "left": NUMBER, "right": NUMBER, "holds": FLAG}),
}


def _is(value, kind):
    if kind is NUMBER:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, str if kind is TEXT else bool)


def _is_finite(number):
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer beyond a double
        return False


def _check(value, wanted, path):
    if isinstance(wanted, str):
        if not _is(value, wanted):
            raise ResultError(f"{path}: {wanted} is needed, not {json.dumps(value)[:40]}")
        if wanted is NUMBER and not _is_finite(value):
            raise ResultError(f"{path}: a finite number is needed")
    elif isinstance(wanted, ListOf):
        if not isinstance(value, list):
            raise ResultError(f"{path}: a list is needed")
        for index, item in enumerate(value):
            _check(item, wanted.item, f"{path}[{index}]")
    elif not isinstance(value, dict):
        raise ResultError(f"{path}: an object is needed")
    elif isinstance(wanted, MapOf):
        for key, item in value.items():
            _check(item, wanted.item, f"{path}.{key}")
    else:
        for key, item in wanted.items():
            if key not in value:
                raise ResultError(f"{path}.{key}: is missing" if path else f"{key}: is missing")
            _check(value[key], item, f"{path}.{key}" if path else key)


def check_result(result):
    """Raises ResultError unless `result` (parsed JSON) is a result of this version."""
    if not isinstance(result, dict) or "schema_version" not in result:
        raise ResultError("not a result of fmexec or fmsim: it has no schema_version")
    version = result["schema_version"]
    if version != SCHEMA_VERSION:
        raise ResultError(f"schema_version {version} was written by another version; this "
                          f"fmreport reads {SCHEMA_VERSION}: make the result anew")
    _check(result, RESULT, "")


def read_result(path):
    """The result in the file at `path`, checked. Raises ResultError."""
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ResultError(f"{path}: not a JSON file: byte {error.start} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ResultError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise ResultError(f"{path}: not a result: nested too deeply") from error
    except ValueError as error:  # an integer of thousands of digits
        raise ResultError(f"{path}: not JSON as results are: {error}") from error
    try:
        check_result(result)
    except ResultError as error:
        raise ResultError(f"{path}: {error}") from error
    return result
