"""Where a number lies in a panel of a chart, and how it is written beside it."""

import unicodedata

TENTHS = 10  # of a pixel: to these heights are rounded


def tick(value: float) -> str:
    """A number in two or three digits, as logs write it; whole only if it is.

    Args:
        value: Any finite number.

    Returns:
        At most seven characters below a million.

    Example:
        >>> [tick(x) for x in (0.12345, -12.34, 1234.5, 0.00001234, 3.0, -0.0)]
        ['0.123', '−12.3', '1234.5', '1.2e-5', '3', '0']
    """
    size = abs(value)
    if size < 1e5 and float(size).is_integer():
        shown = f"{size:.0f}"
    elif 1e-3 <= size < 1e5:
        digits = 3 if size < 1 else 2 if size < 10 else 1
        shown = f"{size:.{digits}f}"
    else:
        mantissa, _, power = f"{size:.1e}".partition("e")
        shown = f"{mantissa}e{int(power)}"
    return f"−{shown}" if value < 0 else shown


def heights(values: list[float], low: float, high: float, height: int) -> list[int]:
    """Tenths of a pixel below the upper edge of a panel; a constant is in the middle.

    Args:
        values: What is drawn.
        low: The value at the lower edge.
        high: The value at the upper edge.
        height: Of the panel, in pixels.

    Returns:
        One per value.

    Example:
        >>> heights([0.0, 0.5, 1.0], 0.0, 1.0, 60)
        [600, 300, 0]
    """
    whole = height * TENTHS
    if low == high:
        return [whole // 2 for _ in values]
    return [round(whole * (high - value) / (high - low)) for value in values]


def path(columns: list[int], rows: list[int]) -> str:
    """A line through these points, each but the first as steps from the one before.

    Args:
        columns: Horizontal places, at least two.
        rows: Vertical places, as many.

    Returns:
        The ``d`` of an SVG path.

    Example:
        >>> path([0, 1, 2], [600, 300, 310])
        'M0 600l1-300 1 10'
    """
    steps = [
        f"{b - a}{'' if (step := d - c) < 0 else ' '}{step}"
        for a, b, c, d in zip(columns, columns[1:], rows, rows[1:], strict=False)
    ]
    return f"M{columns[0]} {rows[0]}l{' '.join(steps)}"


def width(text: str, size: int = 13) -> float:
    """About how many pixels a text takes.

    Args:
        text: In any script.
        size: Of the letters, in pixels.

    Returns:
        An estimate: a Chinese character is as wide as high, others about half that.

    Example:
        >>> width("熵"), width("kl")
        (13.0, 14.3)
    """
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return round(size * (wide + 0.55 * (len(text) - wide)), 1)
