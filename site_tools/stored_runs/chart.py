"""Stored runs as one picture: a small panel for each statistic, a line for each run.

An axis shows the least and the greatest value that was measured, and nothing else; each
carries the expression that gives it, as every figure in a picture does, and a page that
shows the chart has ``stored_run`` among its names.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from ppo_ref.train.stored_runs import StoredRun
from site_tools.messages import Refusal
from site_tools.stored_runs.table import Chart

LINE_STYLES = ("accent", "second dashed", "wrong", "muted dashed")
STROKE = 1.1  # of noisy lines that cross
TENTHS = 10  # of a pixel: heights are rounded to these
PANEL_WIDTH, PANEL_HEIGHT = 130, 60
ROW_HEIGHT, GUTTER, SECOND_COLUMN = 98, 42, 188
LEGEND_ROW, LEGEND_ROOM = 24, 172
SAMPLE = 20  # the piece of a line before its name
ITERATION = {"zh": "轮次", "en": "iteration"}


def draw_chart(chart: Chart, runs: Mapping[str, StoredRun]) -> str:
    """The chart as an SVG file for both languages, 360 pixels wide."""
    count = len(chart.lines)
    if not 1 <= count <= len(LINE_STYLES):
        raise Refusal("chart_lines", most=len(LINE_STYLES), count=count)
    parts: list[str] = []
    top = 6
    if count > 1:
        parts += _legend(chart)
        top += LEGEND_ROW * ((count + 1) // 2)
    last = int(max(runs[name].column("iteration")[-1] for name in chart.lines))
    rows = (len(chart.panels) + 1) // 2
    for number, (statistic, names) in enumerate(chart.panels.items()):
        x = number % 2 * SECOND_COLUMN + GUTTER
        y = number // 2 * ROW_HEIGHT + top + 20
        parts.append(f'<g transform="translate({x} {y})">')
        parts += _both_names(names, PANEL_WIDTH, 0, -6)
        measured = [_measured(runs[name], name, statistic) for name in chart.lines]
        parts += _panel(chart, statistic, measured, last)
        parts.append("</g>")
    for column in range(min(2, len(chart.panels))):
        panels_above = (len(chart.panels) + 1 - column) // 2
        x = column * SECOND_COLUMN + GUTTER
        y = top + panels_above * ROW_HEIGHT - 3
        parts.append(f'<g transform="translate({x} {y})">')
        parts += _iteration_axis(chart, last)
        parts.append("</g>")
    size = f'viewBox="0 0 360 {top + rows * ROW_HEIGHT + 4}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, *parts, "</svg>", ""])


def _legend(chart: Chart) -> Iterator[str]:
    room = LEGEND_ROOM - SAMPLE - 8
    for number, names in enumerate(chart.lines.values()):
        x = number % 2 * SECOND_COLUMN + 4
        y = number // 2 * LEGEND_ROW + 18
        yield f'<path class="{LINE_STYLES[number]}" d="M{x} {y - 4}h{SAMPLE}"/>'
        yield from _both_names(names, room, x + SAMPLE + 6, y)


def _both_names(names: Sequence[str], room: int, x: int, y: int) -> Iterator[str]:
    """The name in both languages, once where it is the same."""
    for name in names:
        wide = _pixels(name)
        if wide > room:
            raise Refusal("chart_name_wide", name=name, most=room, wide=wide)
    chinese, english = names
    place = f'class="start" x="{x}" y="{y}"'
    if chinese == english:
        yield f"<text {place}>{escape(chinese)}</text>"
    else:
        yield f'<text {place} lang="zh">{escape(chinese)}</text>'
        yield f'<text {place} lang="en">{escape(english)}</text>'


def _pixels(words: str, size: int = 13) -> float:
    """About how many pixels words take; a Chinese character is as wide as high."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in words)
    narrow = len(words) - wide
    return round(size * (wide + 0.55 * narrow), 1)


def _measured(run: StoredRun, name: str, statistic: str) -> dict[int, float]:
    lines = [line for line in run.iterations if statistic in line]
    if len(lines) < 2:
        count = len(lines)
        raise Refusal("chart_points", run=name, statistic=statistic, count=count)
    return {int(line["iteration"]): line[statistic] for line in lines}


def _panel(
    chart: Chart, statistic: str, measured: Sequence[Mapping[int, float]], last: int
) -> Iterator[str]:
    """A frame with the least and the greatest value, and a line for each run."""
    values = [value for column in measured for value in column.values()]
    low, high = min(values), max(values)
    yield f'<path class="faint" d="M0 0V{PANEL_HEIGHT}H{PANEL_WIDTH}"/>'
    if low == high:
        yield _bound_number(chart, statistic, "min", low, -5, PANEL_HEIGHT // 2 + 4)
    else:
        yield _bound_number(chart, statistic, "max", high, -5, 8)
        yield _bound_number(chart, statistic, "min", low, -5, PANEL_HEIGHT)
    scale = f"scale({PANEL_WIDTH / (last - 1):.4g} {1 / TENTHS})"
    yield f'<g transform="{scale}" stroke-width="{STROKE}">'
    for style, column in zip(LINE_STYLES, measured, strict=False):
        line = _polyline(column, low, high)
        yield f'<path class="{style}" vector-effect="non-scaling-stroke" d="{line}"/>'
    yield "</g>"


def _polyline(column: Mapping[int, float], low: float, high: float) -> str:
    """The ``d`` of an SVG path, each point but the first a step from the one before."""
    whole = PANEL_HEIGHT * TENTHS
    path = ""
    before = None
    for iteration, value in column.items():
        # Below the upper edge; a constant runs through the middle.
        y = whole // 2
        if high > low:
            y = round(whole * (high - value) / (high - low))
        x = iteration - 1
        if before is None:
            path = f"M{x} {y}l"
        else:
            step_x, step_y = x - before[0], y - before[1]
            if not path.endswith("l"):
                path += " "
            gap = "" if step_y < 0 else " "
            path += f"{step_x}{gap}{step_y}"
        before = x, y
    return path


def _bound_number(
    chart: Chart,
    statistic: str,
    which: str,
    value: float,
    x: int,
    y: int,
    anchor: str = "end",
) -> str:
    """The least or the greatest value of all runs, and the expression that gives it."""
    columns = [f"stored_run('{run}').column('{statistic}')" for run in chart.lines]
    expression = f"{which}({' + '.join(columns)})"
    place = f'class="muted small {anchor}" x="{x}" y="{y}"'
    return f'<text {place} data-is="{expression}">{short_number(value)}</text>'


def short_number(value: float) -> str:
    """A number in two or three digits, whole only if it is.

    Example:
        >>> [short_number(x) for x in (0.12345, -12.34, 1234.5, 0.00001234, 3.0, -0.0)]
        ['0.123', '−12.3', '1234.5', '1.2e-5', '3', '0']
    """
    size = abs(value)
    if size < 1e5 and float(size).is_integer():
        shown = f"{size:.0f}"
    elif not 1e-3 <= size < 1e5:
        mantissa, _, power = f"{size:.1e}".partition("e")
        shown = f"{mantissa}e{int(power)}"
    elif size < 1:
        shown = f"{size:.3f}"
    elif size < 10:
        shown = f"{size:.2f}"
    else:
        shown = f"{size:.1f}"
    return f"−{shown}" if value < 0 else shown


def _iteration_axis(chart: Chart, last: int) -> Iterator[str]:
    """The iterations below a column of panels, numbered from 1."""
    yield _bound_number(chart, "iteration", "min", 1, 0, 0, "start")
    for language, word in ITERATION.items():
        place = f'class="muted small" x="{PANEL_WIDTH // 2}" y="0"'
        yield f'<text {place} lang="{language}">{word}</text>'
    yield _bound_number(chart, "iteration", "max", last, PANEL_WIDTH, 0)
