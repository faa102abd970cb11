"""A measured number as a reader sees it: three digits and a unit."""

from decimal import Decimal

Units = tuple[tuple[float, str, str], ...]

# From the largest: its size, its name in English and in Chinese.
UNITS: dict[str, Units] = {
    "seconds": (
        (1.0, "s", "秒"),
        (1e-3, "ms", "毫秒"),
        (1e-6, "µs", "微秒"),
        (1e-9, "ns", "纳秒"),
    ),
    "bytes": ((1e9, "GB", "GB"), (1e6, "MB", "MB"), (1e3, "kB", "kB"), (1.0, "B", "B")),
}


def three(value: float) -> str:
    """Three significant digits, thousands apart, never in scientific notation.

    Example:
        >>> [three(x) for x in (0.012345, 1, 37.44, 999.6, 12345)]
        ['0.0123', '1.00', '37.4', '1,000', '12,300']
    """
    return format(Decimal(f"{value:.2e}"), ",f")


def times(value: float) -> str:
    """A ratio.

    Example:
        >>> times(1234.5)
        '1,230×'
    """
    return f"{three(value)}×"


def amount(value: float, unit: str, lang: str) -> str:
    """A number with the unit that keeps it short.

    Example:
        >>> amount(0.0004567, "seconds", "en"), amount(0.0004567, "seconds", "zh")
        ('457 µs', '457 微秒')
        >>> amount(0.0009999, "seconds", "en"), amount(131072000, "bytes", "zh")
        ('1.00 ms', '131 MB')
    """
    size, name = _unit(value, unit, lang)
    return f"{three(value / size)} {name}"


def span(low: float, high: float, unit: str, lang: str) -> str:
    """Two numbers in the unit of the second.

    Example:
        >>> span(0.0009, 0.0012, "seconds", "en")
        '0.900–1.20 ms'
    """
    size, name = _unit(high, unit, lang)
    return f"{three(low / size)}–{three(high / size)} {name}"


def power_of_ten(power: int, unit: str, lang: str) -> str:
    """The label of an axis.

    Example:
        >>> [power_of_ten(power, "seconds", "en") for power in (-5, -3, 0)]
        ['10 µs', '1 ms', '1 s']
    """
    size, name = _unit(10.0**power, unit, lang)
    return f"{round(10.0**power / size)} {name}"


def _unit(value: float, unit: str, lang: str) -> tuple[float, str]:
    rounded = float(f"{value:.2e}") * (1 + 1e-9)
    fits = [known for known in UNITS[unit] if known[0] <= rounded]
    size, english, chinese = fits[0] if fits else UNITS[unit][-1]
    return size, chinese if lang == "zh" else english
