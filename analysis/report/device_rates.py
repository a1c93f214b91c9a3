"""Quantities of a device config ("2 MiB", "890 MHz", "0.3 pJ") as numbers in SI units and bytes."""

import re

from tables import config_entries

PREFIXES = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9,
            "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
QUANTITY = re.compile(r"([0-9.eE+-]+)\s*([KMGT]i|[pnuµmkKMGT])?(B/s|B|Hz|T/s|s|J|W|cycles?)?")


def quantity(value):
    """The number of a config's value, or None when it is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    found = QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        return float(found[1]) * PREFIXES[found[2] or ""] if found else None
    except ValueError:
        return None


class DeviceRates:
    """The numbers of a result's config by path; a missing one is None."""

    def __init__(self, config):
        self._values = {path: quantity(value) for path, value, _, _ in config_entries(config)}

    def __getitem__(self, path):
        return self._values.get(path)

    def product(self, *paths):
        """The product of the entries, or None when one is missing."""
        whole = 1
        for path in paths:
            if self[path] is None:
                return None
            whole *= self[path]
        return whole

    def dram_burst_bytes(self):
        bits = self.product("dram.burst_length", "dram.channel_width_bits")
        return None if bits is None else bits / 8
