"""Stored runs as one picture: a small panel for each statistic, a line for each run.

An axis shows the least and the greatest value that was measured, and nothing else; each
carries the expression that gives it, as every figure in a picture does, and a page that
shows the chart has ``stored_run`` among its names.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from ppo_ref.chart import LOOKS, panel, text, width
from ppo_ref.train.stored_runs import StoredRun
from site_tools.say import Refusal
from site_tools.stored_runs.table import Chart

PANEL, HEIGHT, ROW, GUTTER, SECOND = 130, 60, 98, 42, 188
SAMPLE = 20  # the piece of a line before its name
ITERATION = {"zh": "轮次", "en": "iteration"}


def draw(chart: Chart, runs: Mapping[str, StoredRun]) -> str:
    """The chart as an SVG file for both languages, 360 pixels wide."""
    if not 1 <= len(chart.lines) <= len(LOOKS):
        raise Refusal("chart_lines", most=len(LOOKS), count=len(chart.lines))
    parts, top = list[str](), 6
    if len(chart.lines) > 1:
        parts, top = [*_legend(chart)], 24 * ((len(chart.lines) + 1) // 2) + 6
    last = int(max(runs[name].column("iteration")[-1] for name in chart.lines))
    rows = (len(chart.panels) + 1) // 2
    for number, (statistic, names) in enumerate(chart.panels.items()):
        x, y = number % 2 * SECOND + GUTTER, top + number // 2 * ROW + 20
        measured = [_measured(runs[name], name, statistic) for name in chart.lines]
        tick = _tick(chart, statistic)
        parts += [f'<g transform="translate({x} {y})">', *_words(names, PANEL, 0, -6)]
        parts += panel(measured, ends=(1, last), size=(PANEL, HEIGHT), tick=tick)
        parts.append("</g>")
    for column in range(min(2, len(chart.panels))):
        below = (len(chart.panels) + 1 - column) // 2
        place = f"{column * SECOND + GUTTER} {top + below * ROW - 3}"
        parts += [f'<g transform="translate({place})">', *_scale(chart, last), "</g>"]
    size = f'viewBox="0 0 360 {top + rows * ROW + 4}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, *parts, "</svg>", ""])


def _legend(chart: Chart) -> Iterator[str]:
    for number, names in enumerate(chart.lines.values()):
        x, y = number % 2 * SECOND + 4, 18 + number // 2 * 24
        yield f'<path class="{LOOKS[number]}" d="M{x} {y - 4}h{SAMPLE}"/>'
        yield from _words(names, 172 - SAMPLE - 8, x + SAMPLE + 6, y)


def _words(names: Sequence[str], room: int, x: int, y: int) -> Iterator[str]:
    """The name in both languages, once where it is one."""
    for name in names:
        if width(name) > room:
            raise Refusal("chart_name_wide", name=name, most=room, wide=width(name))
    for name, language in zip(dict.fromkeys(names), ("zh", "en"), strict=False):
        lang = f' lang="{language}"' if len({*names}) > 1 else ""
        yield f'<text class="start" x="{x}" y="{y}"{lang}>{escape(name)}</text>'


def _measured(run: StoredRun, name: str, statistic: str) -> dict[int, float]:
    lines = [line for line in run.iterations if statistic in line]
    if len(lines) < 2:
        count = len(lines)
        raise Refusal("chart_points", run=name, statistic=statistic, count=count)
    return {int(line["iteration"]): line[statistic] for line in lines}


def _tick(chart: Chart, column: str) -> Callable[..., str]:
    """What writes the least and the greatest value, and the expression of each."""
    columns = [f"stored_run('{run}').column('{column}')" for run in chart.lines]
    joined = " + ".join(columns)

    def tick(which: str, value: float, x: int, y: int, anchor: str = "end") -> str:
        return text(which, value, x, y, anchor, f' data-is="{which}({joined})"')

    return tick


def _scale(chart: Chart, last: int) -> Iterator[str]:
    """The iterations below a column of panels, numbered from 1."""
    tick = _tick(chart, "iteration")
    place = f'class="muted small" x="{PANEL // 2}" y="0"'
    yield tick("min", 1, 0, 0, "start")
    for lang, word in ITERATION.items():
        yield f'<text {place} lang="{lang}">{word}</text>'
    yield tick("max", last, PANEL, 0)
