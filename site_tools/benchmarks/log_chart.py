"""Charts with logarithmic axes, as SVG: lines over a size, and dots in rows.

A straight line is a power; its slope is the exponent.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from ppo_ref.chart import LOOKS, width
from site_tools.benchmarks.amounts import power_of_ten
from site_tools.benchmarks.record import Spread

WIDTH, GUTTER, HEIGHT, LEGEND, ROW = 360, 52, 190, 22, 22
NAMES = 142  # pixels for the names of rows
SMALL = 11  # pixels: the letters of an axis
DOTS = {LOOKS[0]: "●"}


class Axis(NamedTuple):
    """A logarithmic axis: from ``first`` to ``last``, over so many pixels."""

    first: float
    last: float
    pixels: int

    def at(self, value: float) -> float:
        """Where a value lies, in pixels from the first.

        Example:
            >>> [Axis(1, 100, 200).at(x) for x in (1, 10, 100)]
            [0.0, 100.0, 200.0]
        """
        whole = math.log(self.last / self.first)
        return round(self.pixels * math.log(value / self.first) / whole, 1)

    def powers(self) -> range:
        """The powers of ten on it, at most six."""
        low, high = round(math.log10(self.first)), round(math.log10(self.last))
        return range(low, high + 1, -(-(high - low) // 5))


def decades(values: Sequence[float], pixels: int) -> Axis:
    """An axis of whole powers of ten that holds all values.

    Example:
        >>> decades([0.02, 3], 100)
        Axis(first=0.01, last=10.0, pixels=100)
    """
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    return Axis(10.0**low, 10.0**high, pixels)


def lines(
    named: Mapping[str, Mapping[int, float]], *, below: str, unit: str, lang: str
) -> str:
    """A line for each name, over sizes.

    Args:
        named: Values by size, two at least, by the words of the legend.
        below: The name of the horizontal axis.
        unit: Of the values.
        lang: The language of the units.

    Raises:
        ValueError: for more lines than looks.
    """
    if len(named) > len(LOOKS):
        raise ValueError(f"chart: lines must be 1 to {len(LOOKS)}, got {len(named)}")
    sizes = sorted({size for line in named.values() for size in line})
    across = Axis(sizes[0], sizes[-1], WIDTH - GUTTER - 16)
    values = [value for line in named.values() for value in line.values()]
    up = decades(values, HEIGHT)
    top = LEGEND * len(named) + 14
    parts = [*_legend([*named]), f'<g transform="translate({GUTTER} {top})">']
    parts += [*_grid_up(up, across.pixels, unit, lang), *_sizes(across, sizes)]
    for look, line in zip(LOOKS, named.values(), strict=False):
        points = [f"{across.at(x)} {HEIGHT - up.at(line[x])}" for x in sorted(line)]
        parts.append(f'<path class="{look}" d="M{"L".join(points)}"/>')
    middle = f'x="{across.pixels // 2}" y="{HEIGHT + 34}"'
    parts += [f'<text class="muted small" {middle}>{escape(below)}</text>', "</g>"]
    return _svg(parts, top + HEIGHT + 42)


def rows(groups: Mapping[str, Mapping[str, Spread]], *, unit: str, lang: str) -> str:
    """A dot for each median, a bar between its quartiles, under headings.

    Args:
        groups: By heading what was measured by the name of the row.
        unit: Of the values.
        lang: The language of the units.
    """
    spreads = [spread for group in groups.values() for spread in group.values()]
    ends = [end for s in spreads for end in (s.lower_quartile, s.upper_quartile)]
    axis = decades(ends, WIDTH - NAMES - 22)
    height = ROW * sum(len(group) + 1 for group in groups.values())
    parts = [f'<g transform="translate({NAMES} 8)">']
    parts += _grid_across(axis, height, unit, lang)
    y = 0
    for heading, group in groups.items():
        y += ROW
        place = f'class="muted small start" x="{-NAMES + 4}" y="{y - 6}"'
        parts.append(f"<text {place}>{escape(heading)}</text>")
        for name, spread in group.items():
            y += ROW
            parts += _dot(name, spread, axis, y - ROW // 2)
    return _svg([*parts, "</g>"], height + 30)


def _dot(name: str, spread: Spread, axis: Axis, y: int) -> Iterator[str]:
    yield f'<text class="end" x="-8" y="{y + 4}">{escape(name)}</text>'
    low, high = axis.at(spread.lower_quartile), axis.at(spread.upper_quartile)
    yield f'<path class="accent" d="M{low} {y}H{high}"/>'
    place = f'cx="{axis.at(spread.median)}" cy="{y}" r="4"'
    yield f'<g class="accent"><circle {place} fill="currentColor"/></g>'


def _legend(names: Sequence[str]) -> Iterator[str]:
    for number, (name, look) in enumerate(zip(names, LOOKS, strict=False)):
        y = LEGEND * (number + 1) - 4
        yield f'<path class="{look}" d="M{GUTTER} {y - 4}h24"/>'
        yield f'<text class="start" x="{GUTTER + 32}" y="{y}">{escape(name)}</text>'


def _grid_up(up: Axis, width: int, unit: str, lang: str) -> Iterator[str]:
    for power in up.powers():
        y = HEIGHT - up.at(10.0**power)
        yield f'<path class="faint" d="M0 {y}H{width}"/>'
        yield f'<text class="muted small end" x="-6" y="{y + 4}">'
        yield f"{power_of_ten(power, unit, lang)}</text>"


def _grid_across(axis: Axis, height: int, unit: str, lang: str) -> Iterator[str]:
    """A line for each power, and a label where the one before leaves room."""
    free = -math.inf
    for power in axis.powers():
        x, label = axis.at(10.0**power), power_of_ten(power, unit, lang)
        yield f'<path class="faint" d="M{x} 0V{height}"/>'
        half = width(label, SMALL) / 2
        if x - half >= free:
            free = x + half + 0.75 * SMALL
            yield f'<text class="muted small" x="{x}" y="{height + 16}">{label}</text>'


def _sizes(across: Axis, sizes: Sequence[int]) -> Iterator[str]:
    """As many sizes as have room, the last among them."""
    step = -(-len(sizes) // 6)
    for size in sizes[::-1][::step]:
        x = across.at(size)
        yield f'<path class="faint" d="M{x} {HEIGHT}v4"/>'
        yield f'<text class="muted small" x="{x}" y="{HEIGHT + 17}">{size:,}</text>'


def _svg(parts: Sequence[str], height: int) -> str:
    inside = "\n".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {height}">\n{inside}\n</svg>\n'
