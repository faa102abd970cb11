"""Every statistic of one run as an SVG file of its own, light or dark as the screen."""

from collections.abc import Iterator, Mapping
from html import escape

from ppo_ref.chart.panel import panel, text

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


def draw(title: str, columns: Mapping[str, Mapping[int, float]]) -> str:
    """A panel for each statistic that was measured at two iterations at least.

    Args:
        title: Stands above.
        columns: Values by iteration, by the name of the statistic.

    Returns:
        The file's text.

    Example:
        >>> svg = draw("A run", {"kl": {1: 0.5, 2: 0.25}, "once": {1: 0.5}})
        >>> ">kl</text>" in svg, ">once</text>" in svg
        (True, False)
    """
    drawn = {name: values for name, values in columns.items() if len(values) > 1}
    ends = [iteration for values in drawn.values() for iteration in values] or [0]
    rows = -(-len(drawn) // COLUMNS)
    width, height = COLUMNS * COLUMN, TOP + rows * ROW + 10
    parts = [STYLE, f'<text x="12" y="24">{escape(title)}</text>']
    for number, (name, values) in enumerate(drawn.items()):
        x = number % COLUMNS * COLUMN + GUTTER
        y = TOP + number // COLUMNS * ROW + 24
        parts += [f'<g transform="translate({x} {y})">']
        parts += [*_panel(name, values, (min(ends), max(ends))), "</g>"]
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, *parts, "</svg>", ""])


def _panel(
    name: str, values: Mapping[int, float], ends: tuple[int, int]
) -> Iterator[str]:
    yield f'<text x="0" y="-6">{escape(name)}</text>'
    yield from panel([values], ends=ends, size=(PANEL, HEIGHT), tick=text)
    first, last = ends
    yield text("min", first, 0, HEIGHT + 14, "start")
    yield f'<text class="muted small" x="{PANEL // 2 - 24}" y="{HEIGHT + 14}">'
    yield "iteration</text>"
    yield text("max", last, PANEL, HEIGHT + 14)
