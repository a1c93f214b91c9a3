"""Values around a config's own: a parameter a few percent lower and higher."""

import re

from parameter_values import UNITS, split

# Where a step of a few percent is refused (a cache of a whole number of sets), the next one.
FALLBACKS = (0.5, 2.0)


def _number_text(value, digits=10):
    return f"{value:.{digits}g}"


def _whole_step(number, factor):
    """A count moves by one at least."""
    moved = round(number * factor)
    return moved if moved != number else number + (1 if factor > 1 else -1)


def _scaled_number(text, factor):
    number, unit = split(text)
    name, size = UNITS[unit]
    if name == "bytes":  # a size that is no round number of KiB is written in bytes
        return f"{_whole_step(round(number * size), factor)} B"
    counted = number == int(number) and name in ("", "cycles")
    moved = _number_text(_whole_step(int(number), factor) if counted else number * factor)
    return f"{moved} {unit}".strip()


def scaled(text, factor):
    """A value times a factor, a curve's y values all by it; None where it is no number or does not move."""
    if text.startswith("["):
        return re.sub(r"(\[[^\[\],]+, )([^\[\],]+)(\])",
                      lambda pair: pair[1] + _scaled_y(pair[2], factor) + pair[3], text)
    parts = split(text)
    return None if parts is None or parts[0] == 0 else _scaled_number(text, factor)


def _scaled_y(text, factor):
    number, unit = split(text)
    return f"{_number_text(number * factor)} {unit}".strip()


def size_of(text):
    """What changes are measured by: the number of a value, of a curve its last y."""
    if text.startswith("["):
        text = re.findall(r", ([^\[\],]+)\]", text)[-1]
    number, unit = split(text)
    return number * UNITS[unit][1]


def short(text):
    """For people: a curve's last y stands for it, and nothing for no value."""
    if text is None:
        return "–"
    return text if not text.startswith("[") else ".. " + text.split(", ")[-1].rstrip("]")


def steps(percent):
    """Factors to try downwards and upwards, the wanted one first."""
    low, high = FALLBACKS
    return (1 - percent / 100, low), (1 + percent / 100, high)
