"""One panel of a chart: a frame, the least and greatest value, a line for each run."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from ppo_ref.chart import scale

LOOKS = ("accent", "second dashed", "wrong", "muted dashed")
STROKE = 1.1  # of noisy lines that cross

# Draws a number beside an axis: "min" or "max", the value, and where.
Tick = Callable[[str, float, int, int], str]


def panel(
    columns: Sequence[Mapping[int, float]],
    *,
    ends: tuple[int, int],
    size: tuple[int, int],
    tick: Tick,
) -> Iterator[str]:
    """The panel of one statistic.

    An axis shows the least and the greatest value that was measured, and nothing else.

    Args:
        columns: For each run its values by iteration, at two iterations at least.
        ends: The first and the last iteration of the horizontal axis.
        size: Width and height, in pixels.
        tick: Draws a number.

    Returns:
        Elements of SVG, with the classes of the site's pictures.

    Example:
        >>> drawn = panel([{1: 0.5, 3: 1.0}], ends=(1, 3), size=(130, 60), tick=text)
        >>> for element in drawn:
        ...     print(element)
        <path class="faint" d="M0 0V60H130"/>
        <text class="muted small end" x="-5" y="8">1</text>
        <text class="muted small end" x="-5" y="60">0.500</text>
        <g transform="scale(65 0.1)" stroke-width="1.1">
        <path class="accent" vector-effect="non-scaling-stroke" d="M0 600l2-600"/>
        </g>
    """
    (width, height), (first, last) = size, ends
    measured = [value for values in columns for value in values.values()]
    low, high = min(measured), max(measured)
    yield f'<path class="faint" d="M0 0V{height}H{width}"/>'
    if low != high:
        yield tick("max", high, -5, 8)
    yield tick("min", low, -5, height if low != high else height // 2 + 4)
    stretch = f"scale({width / (last - first):.4g} {1 / scale.TENTHS})"
    yield f'<g transform="{stretch}" stroke-width="{STROKE}">'
    for values, look in zip(columns, LOOKS, strict=False):
        rows = scale.heights([*values.values()], low, high, height)
        d = scale.path([int(iteration) - first for iteration in values], rows)
        stroke = 'vector-effect="non-scaling-stroke"'
        yield f'<path class="{look}" {stroke} d="{d}"/>'
    yield "</g>"


def text(
    which: str, value: float, x: int, y: int, anchor: str = "end", more: str = ""
) -> str:
    """A number beside an axis, as ``panel`` takes it.

    Args:
        which: ``min`` or ``max``; it looks alike.
        value: The number.
        x: Where it stands.
        y: Where its foot stands.
        anchor: Which end of it stands there.
        more: Further attributes.

    Returns:
        An element of SVG.

    Example:
        >>> text("max", 0.25, -5, 8)
        '<text class="muted small end" x="-5" y="8">0.250</text>'
    """
    where = f'class="muted small {anchor}" x="{x}" y="{y}"'
    return f"<text {where}{more}>{scale.tick(value)}</text>"
