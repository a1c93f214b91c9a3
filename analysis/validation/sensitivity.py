"""How results move when a number that nobody publishes moves by half."""

import re
import subprocess

import curves

# What is watched: benchmark, its point, how it is called.
WATCHED = (
    ("pointer_chase_image", ("footprint=65536", "stride=16"), "hop, 64 KiB"),
    ("pointer_chase_buffer", ("footprint=4194304", "stride=64"), "hop, 4 MiB"),
    ("bandwidth_buffer", ("footprint=65536", "width=16"), "read, 64 KiB"),
    ("copy_to_image", ("bytes=1048576", "texel=8"), "copy, 1 MiB"),
)
# Keys that change no memory traffic of these benchmarks, or belong to host, storage, power and the
# rest of the phone.
LEFT_OUT = re.compile(
    r"^(energy|limits|storage|host|queue|allocator|governor|thermal|traffic"
    r"|gpu\.(isa|scheduler|clock|cores|streaming_registers)|.*\.(size|line|preset|atomic_time)$)")


def assumed_keys(fmsim, config):
    """Keys with source `assumed` and a plain number: {key: (number, unit)}."""
    text = subprocess.run([str(fmsim), "--config", config, "--explain"], capture_output=True,
                          text=True, check=True, cwd=curves.ROOT).stdout
    keys = {}
    entry = r"^(\S+) = (\d+(?:\.\d+)?)(?: (\S+))?\n    .*\n    assumed:"
    for key, number, unit in re.findall(entry, text, re.M):
        if not LEFT_OUT.match(key):
            keys[key] = (float(number), unit or "")
    return keys


def _moved(number, unit, factor):
    value = number * factor
    if unit == "cycles" or (not unit and number == int(number)):
        value = max(1, round(value))  # a count; what is given with a fraction is a share
    return f"{value:g}{' ' + unit if unit else ''}"


def table(simulator, config):
    """[(key, value, [(change at -50 %, change at +50 %) of each watched])], changes in percent,
    None where the config refuses the value."""
    keys = assumed_keys(simulator.fmsim, config)
    runs = []
    for key, (number, unit) in keys.items():
        for factor in (0.5, 1.5):
            setting = f"{key}={_moved(number, unit, factor)}"
            runs += [(config, (setting,), name, at) for name, at, _ in WATCHED]
    runs += [(config, (), name, at) for name, at, _ in WATCHED]
    simulator.simulate(runs)

    def change(key, number, unit, factor, watched):
        name, at, _ = watched
        moved = simulator.curves(config, (f"{key}={_moved(number, unit, factor)}",), name, at)
        if moved is None:
            return None
        base = simulator.curves(config, (), name, at)
        value, before = (run["curves"][name]["points"][0]["value"] for run in (moved, base))
        return 100 * (value / before - 1)

    return [(key, f"{number:g} {unit}".strip(),
             [tuple(change(key, number, unit, factor, watched) for factor in (0.5, 1.5))
              for watched in WATCHED])
            for key, (number, unit) in keys.items()]
