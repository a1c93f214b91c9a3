"""A device's config as fmsim takes it, and figures of its hardware."""

import difflib
import re

from parameter_values import measured

PRESET = "dram.preset"
# How fmsim marks the size of a memory: sweeping one leaves its latency as it is unless fmsim is told otherwise.
CAPACITY = re.compile(r"^([\w.]+) = .*\n(?:    .*\n)*?    a capacity: ", re.M)
# The area proxy's assumption: a lane of fp32 FMA is as large as this much SRAM.
FMA_LANE_BYTES = 4096


class EffectiveConfig:
    """`explained`: what `fmsim --explain` printed."""

    def __init__(self, explained):
        self.values = dict(re.findall(r"^([\w.]+) = (.*)$", explained, re.M))
        preset = re.search(r"^DRAM preset (\S+)", explained, re.M)
        if preset:
            self.values[PRESET] = preset[1]
        self.capacities = set(CAPACITY.findall(explained))

    def text(self):
        """The values alone, however written and cited: what a simulation depends on."""
        return "\n".join(f"{path} = {measured(value) or value}" for path, value in sorted(self.values.items()))

    def nearest(self, path):
        """Paths like a misspelt one."""
        last = path.rsplit(".", 1)[-1]
        same_word = [known for known in self.values if known.rsplit(".", 1)[-1] == last]
        near = difflib.get_close_matches(path, self.values, 3, 0.5)
        return list(dict.fromkeys([*near, *same_word]))[:3]

    def number(self, path):
        found = measured(self.values.get(path, "0"))
        return found[0] if found else 0

    def area_proxy_bytes(self):
        """Bytes of SRAM, FMA lanes counted as FMA_LANE_BYTES each. An assumption, for comparing only."""
        local = 0 if self.values.get("local.kind") == "cache_backed" else self.number("local.size")
        a_core = (self.number("load_store.cache_size") + self.number("texture.cache_size") + local
                  + 4 * self.number("gpu.registers_per_core") + FMA_LANE_BYTES * self.number("gpu.fma_per_clock"))
        cores = self.number("gpu.cores")
        clusters = cores / max(1, self.number("cluster.cores"))
        return round(cores * a_core + clusters * self.number("cluster.size") + self.number("l2.size")
                     + self.number("slc.size"))


def config_words(config, settings):
    """fmsim's options for a config with values replaced. The preset comes first: it replaces what others refine."""
    ordered = sorted(settings.items(), key=lambda item: item[0] != PRESET)
    return ["--config", config, *(word for path, value in ordered for word in ("--set", f"{path}={value}"))]


def explained(tools, config, settings):
    """The effective config. Raises Refused where fmsim takes it for wrong."""
    return EffectiveConfig(tools.output("fmsim", *config_words(config, settings), "--explain"))
