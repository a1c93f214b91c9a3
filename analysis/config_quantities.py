"""Quantities as configs and command lines give them: "512KiB" is 524288 bytes, "0.3 pJ" 3e-13 joules."""

import re

# Unit of core/device_config_units.cpp: (what columns of tables call it, how many of that it is).
UNITS = {
    "": ("", 1), "%": ("", 0.01),
    "B": ("bytes", 1), "KiB": ("bytes", 1 << 10), "MiB": ("bytes", 1 << 20), "GiB": ("bytes", 1 << 30),
    "Hz": ("hz", 1), "kHz": ("hz", 1e3), "MHz": ("hz", 1e6), "GHz": ("hz", 1e9),
    "MT/s": ("hz", 1e6), "GT/s": ("hz", 1e9),
    "B/s": ("bytes_per_s", 1), "kB/s": ("bytes_per_s", 1e3), "MB/s": ("bytes_per_s", 1e6),
    "GB/s": ("bytes_per_s", 1e9), "KiB/s": ("bytes_per_s", 1 << 10), "MiB/s": ("bytes_per_s", 1 << 20),
    "GiB/s": ("bytes_per_s", 1 << 30),
    "ps": ("ns", 1e-3), "ns": ("ns", 1), "us": ("ns", 1e3), "ms": ("ns", 1e6), "s": ("ns", 1e9),
    "cycle": ("cycles", 1), "cycles": ("cycles", 1),
    "fJ": ("pj", 1e-3), "pJ": ("pj", 1), "nJ": ("pj", 1e3), "uJ": ("pj", 1e6),
    "uW": ("mw", 1e-3), "mW": ("mw", 1), "W": ("mw", 1e3), "mV": ("v", 1e-3), "V": ("v", 1),
    "C": ("celsius", 1), "K": ("kelvin", 1), "K/W": ("kelvin_per_w", 1), "J/K": ("j_per_kelvin", 1),
}
# SI units in one of what columns are in, where it is not one already.
SI = {"ns": 1e-9, "pj": 1e-12, "mw": 1e-3}
NUMBER = re.compile(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([A-Za-z/%]*)\s*")


def split(text):
    """(number, unit) of a value as it is written, or None when it is no number of a known unit."""
    match = NUMBER.fullmatch(str(text))
    if not match or match[2] not in UNITS:
        return None
    return float(match[1]), match[2]


def whole(number):
    return int(number) if float(number).is_integer() else number


def measured(text):
    """(number, what columns call its unit), or None."""
    parts = split(text)
    if parts is None:
        return None
    name, size = UNITS[parts[1]]
    return whole(round(parts[0] * size, 9)), name


def si_number(value):
    """The number of a value in SI units and bytes, or None when it is none."""
    parts = None if isinstance(value, bool) else split(value)
    if parts is None:
        return None
    name, size = UNITS[parts[1]]
    return whole(parts[0] * size * SI.get(name, 1))
