"""Quantities as people read them: three significant digits and a unit."""


def three_digits(value):
    """0.123, 1.23, 12.3, 123 and 12345."""
    size = abs(value)
    if size == 0 or size >= 99.95:
        return f"{value:.0f}"
    if size < 0.000995:
        return f"{value:.2e}"
    return f"{value:.{1 if size >= 9.995 else 2 if size >= 0.9995 else 3}f}"


def _scaled(value, units, step):
    unit = 0
    while abs(value) >= step - 0.5 and unit + 1 < len(units):
        value /= step
        unit += 1
    return f"{three_digits(value)} {units[unit]}"


def time_text(nanoseconds):
    return _scaled(nanoseconds, ("ns", "µs", "ms", "s"), 1000)


def bytes_text(count):
    return _scaled(count, ("B", "KiB", "MiB", "GiB", "TiB"), 1024)


def energy_text(nanojoules):
    return _scaled(nanojoules, ("nJ", "µJ", "mJ", "J"), 1000)


def count_text(value):
    """All digits in groups of three when whole, else three significant digits."""
    whole = float(value).is_integer() and abs(value) < 2**53
    return f"{int(value):,}".replace(",", "\u202f") if whole else three_digits(value)


def large_text(value):
    """1234567 -> "1.23 M"."""
    return _scaled(value, ("", "k", "M", "G", "T", "P"), 1000).strip()


def percent_text(fraction):
    return f"{three_digits(100 * fraction)} %"


def change_text(fraction):
    """A relative change with its sign; beyond a factor of ten as a factor."""
    if fraction == 0:
        return "="
    if fraction > 9:
        return f"× {three_digits(1 + fraction)}"
    return f"{'+' if fraction > 0 else '−'}{percent_text(abs(fraction))}"
