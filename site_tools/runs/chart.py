"""Stored runs as one picture: a small panel for each statistic, a line for each run.

An axis shows the least and the greatest value that was measured, and nothing else; each
carries the expression that gives it, as every figure in a picture does, and a page that
shows the chart has ``stored_run`` among its names.
"""

from collections.abc import Iterator, Mapping
from html import escape

from ppo_ref.chart import LOOKS, panel, text, width
from ppo_ref.stored_runs import StoredRun
from site_tools.runs.table import Chart, Line, Panel
from site_tools.say import Refusal

PANEL, HEIGHT, ROW, GUTTER, SECOND = 130, 60, 98, 42, 188
SAMPLE = 20  # the piece of a line before its name
ITERATION = {"zh": "轮次", "en": "iteration"}


def draw(chart: Chart, runs: Mapping[str, StoredRun]) -> str:
    """The chart as an SVG file for both languages, 360 pixels wide.

    Raises:
        Refusal: naming the line or panel, for a name that is too long, a statistic
            that a run has not measured at two iterations, or more lines than looks.
    """
    if not 1 <= len(chart.lines) <= len(LOOKS):
        raise Refusal("chart_lines", most=len(LOOKS), count=len(chart.lines))
    top = 24 * ((len(chart.lines) + 1) // 2) + 6 if len(chart.lines) > 1 else 6
    rows = (len(chart.panels) + 1) // 2
    parts = list(_legend(chart.lines)) if len(chart.lines) > 1 else []
    last = max(runs[line.run].column("iteration")[-1] for line in chart.lines)
    for number, shown in enumerate(chart.panels):
        x, y = number % 2 * SECOND + GUTTER, top + number // 2 * ROW + 20
        parts += [f'<g transform="translate({x} {y})">', *_words(shown, PANEL, 0, -6)]
        parts += [*_panel(shown.statistic, chart.lines, runs, last), "</g>"]
    for x in (GUTTER, SECOND + GUTTER)[: len(chart.panels)]:
        below = rows if len(chart.panels) % 2 == 0 or x == GUTTER else rows - 1
        parts += _iterations(x, top + below * ROW - 3, chart.lines, last)
    size = f'viewBox="0 0 360 {top + rows * ROW + 4}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, *parts, "</svg>", ""])


def _legend(lines: tuple[Line, ...]) -> Iterator[str]:
    for number, (line, look) in enumerate(zip(lines, LOOKS, strict=False)):
        x, y = number % 2 * SECOND + 4, 18 + number // 2 * 24
        yield f'<path class="{look}" d="M{x} {y - 4}h{SAMPLE}"/>'
        yield from _words(line, 172 - SAMPLE - 8, x + SAMPLE + 6, y)


def _words(named: Line | Panel, room: int, x: int, y: int) -> Iterator[str]:
    """The name in both languages, once where it is one."""
    for lang, name in (("zh", named.zh), ("en", named.en)):
        if width(name) > room:
            raise Refusal("chart_name_wide", name=name, most=room, wide=width(name))
        if named.zh != named.en or lang == "zh":
            which = f' lang="{lang}"' if named.zh != named.en else ""
            yield f'<text class="start" x="{x}" y="{y}"{which}>{escape(name)}</text>'


def _panel(
    statistic: str,
    lines: tuple[Line, ...],
    runs: Mapping[str, StoredRun],
    last: float,
) -> Iterator[str]:
    columns = [_points(runs[line.run], line.run, statistic) for line in lines]
    joined = " + ".join(f"stored_run('{li.run}').column('{statistic}')" for li in lines)

    def tick(which: str, value: float, x: int, y: int) -> str:
        return _tick(value, f"{which}({joined})", x, y)

    return panel(columns, ends=(1, int(last)), size=(PANEL, HEIGHT), tick=tick)


def _points(run: StoredRun, name: str, statistic: str) -> dict[int, float]:
    lines = [line for line in run.iterations if statistic in line]
    if len(lines) < 2:
        count = len(lines)
        raise Refusal("chart_points", run=name, statistic=statistic, count=count)
    return {int(line["iteration"]): line[statistic] for line in lines}


def _iterations(x: int, y: int, lines: tuple[Line, ...], last: float) -> Iterator[str]:
    """The scale below a column of panels; iterations are numbered from 1."""
    ends = [f"stored_run('{line.run}').column('iteration')" for line in lines]
    joined = " + ".join(ends)
    yield f'<g transform="translate({x} {y})">'
    yield _tick(1, f"min({joined})", 0, 0, "start")
    for lang, word in ITERATION.items():
        place = f'class="muted small" x="{PANEL // 2}" y="0"'
        yield f'<text {place} lang="{lang}">{word}</text>'
    yield _tick(last, f"max({joined})", PANEL, 0)
    yield "</g>"


def _tick(value: float, expression: str, x: int, y: int, anchor: str = "end") -> str:
    return text("", value, x, y, anchor, f' data-is="{expression}"')
