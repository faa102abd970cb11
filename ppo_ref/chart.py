"""What a run measured, drawn as SVG: the site's charts and those of a run's folder.

A panel is a frame with the least and the greatest value that was measured, and a line
for each run. ``draw`` makes a file of its own, light or dark as the screen is.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

LOOKS = ("accent", "second dashed", "wrong", "muted dashed")
STROKE = 1.1  # of noisy lines that cross
TENTHS = 10  # of a pixel: heights are rounded to these
PANEL, HEIGHT = 190, 60
COLUMNS, COLUMN, ROW, GUTTER, TOP = 3, 268, 112, 56, 44
STYLE = """<style>
svg { background: #fcfbf8; color: #22262b; font: 13px system-ui, sans-serif }
path { fill: none; stroke: currentColor; stroke-width: 1.5 }
g path { stroke-width: inherit }
text { fill: currentColor }
.small { font-size: 11px } .end { text-anchor: end }
.accent { color: #0b665a } .muted { color: #5b616a } .faint { color: #dedad0 }
@media (prefers-color-scheme: dark) {
svg { background: #16191d; color: #dadde1 }
.accent { color: #6cc7b3 } .muted { color: #a0a7b0 } .faint { color: #363c44 }
}
</style>"""

# Draws a number beside an axis: "min" or "max", the value, and where.
Tick = Callable[[str, float, int, int], str]


def draw(title: str, columns: Mapping[str, Mapping[int, float]]) -> str:
    """An SVG file with a panel for each statistic that was measured twice."""
    measured = {name: values for name, values in columns.items() if len(values) > 1}
    iterations = [number for values in measured.values() for number in values] or [0]
    ends = min(iterations), max(iterations)
    width = COLUMNS * COLUMN
    height = TOP + -(-len(measured) // COLUMNS) * ROW + 10
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', STYLE]
    parts.append(f'<text x="12" y="24">{escape(title)}</text>')
    for number, (name, values) in enumerate(measured.items()):
        x = number % COLUMNS * COLUMN + GUTTER
        y = TOP + number // COLUMNS * ROW + 24
        parts.append(f'<g transform="translate({x} {y})">')
        parts.append(f'<text x="0" y="-6">{escape(name)}</text>')
        parts += panel([values], ends=ends, size=(PANEL, HEIGHT), tick=text)
        parts.append(text("min", ends[0], 0, HEIGHT + 14, "start"))
        below = f'x="{PANEL // 2 - 24}" y="{HEIGHT + 14}"'
        parts.append(f'<text class="muted small" {below}>iteration</text>')
        parts.append(text("max", ends[1], PANEL, HEIGHT + 14) + "</g>")
    return "\n".join([*parts, "</svg>", ""])


def panel(
    columns: Sequence[Mapping[int, float]],
    *,
    ends: tuple[int, int],
    size: tuple[int, int],
    tick: Tick,
) -> Iterator[str]:
    """The SVG elements of one statistic: each run's values by iteration, as a line."""
    (width, height), (first, last) = size, ends
    values = [value for column in columns for value in column.values()]
    low, high = min(values), max(values)
    yield f'<path class="faint" d="M0 0V{height}H{width}"/>'
    if low != high:
        yield tick("max", high, -5, 8)
    yield tick("min", low, -5, height if low != high else height // 2 + 4)
    scale = f"scale({width / (last - first):.4g} {1 / TENTHS})"
    yield f'<g transform="{scale}" stroke-width="{STROKE}">'
    for column, look in zip(columns, LOOKS, strict=False):
        # Below the upper edge; a constant runs through the middle.
        whole, span = height * TENTHS, high - low
        rows = [
            round(whole * (high - value) / span) if span else whole // 2
            for value in column.values()
        ]
        line = _line([number - first for number in column], rows)
        yield f'<path class="{look}" vector-effect="non-scaling-stroke" d="{line}"/>'
    yield "</g>"


def text(
    which: str, value: float, x: int, y: int, anchor: str = "end", more: str = ""
) -> str:
    """A number beside an axis, as ``panel`` takes it; ``more`` are attributes."""
    place = f'class="muted small {anchor}" x="{x}" y="{y}"'
    return f"<text {place}{more}>{tick(value)}</text>"


def tick(value: float) -> str:
    """A number in two or three digits, whole only if it is.

    Example:
        >>> [tick(x) for x in (0.12345, -12.34, 1234.5, 0.00001234, 3.0, -0.0)]
        ['0.123', '−12.3', '1234.5', '1.2e-5', '3', '0']
    """
    size = abs(value)
    if size < 1e5 and float(size).is_integer():
        shown = f"{size:.0f}"
    elif 1e-3 <= size < 1e5:
        shown = f"{size:.{3 if size < 1 else 2 if size < 10 else 1}f}"
    else:
        mantissa, _, power = f"{size:.1e}".partition("e")
        shown = f"{mantissa}e{int(power)}"
    return f"−{shown}" if value < 0 else shown


def width(text: str, size: int = 13) -> float:
    """About how many pixels a text takes; a Chinese character is as wide as high."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return round(size * (wide + 0.55 * (len(text) - wide)), 1)


def _line(columns: list[int], rows: list[int]) -> str:
    """The ``d`` of an SVG path, each point but the first a step from the one before."""
    steps = [
        f"{b - a}{'' if (step := d - c) < 0 else ' '}{step}"
        for a, b, c, d in zip(columns, columns[1:], rows, rows[1:], strict=False)
    ]
    return f"M{columns[0]} {rows[0]}l{' '.join(steps)}"
