"""The numbers of a device config by path, in SI units and bytes."""

import pathlib
import sys

from tables import config_entries

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from config_quantities import measured, si_number  # noqa: E402, F401 for the modules here


class DeviceRates:
    """The numbers of a result's config by path; a missing one is None."""

    def __init__(self, config):
        self._values = {path: si_number(value) for path, value, _, _ in config_entries(config)}

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
