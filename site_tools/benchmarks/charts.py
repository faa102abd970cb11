"""The charts of about/benchmarks: what they show, and in words for who listens."""

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import NamedTuple

from site_tools.benchmarks import log_chart, words
from site_tools.benchmarks.amounts import amount, three
from site_tools.benchmarks.costs import LOG_PROBS, same_tokens
from site_tools.benchmarks.record import Record, Spread
from site_tools.benchmarks.words import word

SAME_TOKENS = ("同样多 token 的 GAE", "GAE of as many tokens")
OUTSIDE = ("copy",)
SLOPE = ("{name}，斜率 {slope}", "{name}, slope {slope}")
LENGTH = ("response 的长度 T", "length of a response, T")
END = ("{name} {low} 到 {high}", "{name} {low} to {high}")
MEDIANS = ("对数坐标上的中位数。", "Medians on a logarithmic axis. ")
GROWTH = (
    "双对数坐标，T 从 {first} 到 {last}：",
    "On logarithmic axes, T from {first} to {last}: ",
)


NAME = re.compile(r"benchmarks\.(?P<device>cpu|cuda)\.(?P<chart>costs|growth)\.svg")


class Chart(NamedTuple):
    """A picture, and what it shows in words."""

    svg: str
    alt: str


def image(name: str, record: Record, lang: str) -> str:
    """The place of a chart on the page; the site puts the picture there.

    Args:
        name: One of ``CHARTS``.
        record: What was measured.
        lang: The language of the words.
    """
    alt = escape(CHARTS[name](record, lang).alt)
    return f'<p><img alt="{alt}" src="benchmarks.{record.device}.{name}.svg"></p>'


def costs(record: Record, lang: str) -> Chart:
    """Log-probs and entropy beside GAE of as many tokens, as dots on one axis."""
    groups: dict[str, Mapping[str, Spread]] = {}
    results = record.about(LOG_PROBS)
    if gae := same_tokens(record, results[0]):
        kept = {n: s for n, s in gae.contenders.items() if n not in OUTSIDE}
        groups[word(SAME_TOKENS, lang)] = kept
    for result in results:
        groups[words.setting(result.setting, lang)] = result.contenders
    unit = results[0].unit
    shown = {
        heading: {words.plain(name, lang): spread for name, spread in group.items()}
        for heading, group in groups.items()
    }
    told = [
        _heard(heading, {name: s.median for name, s in group.items()}, unit, lang)
        for heading, group in shown.items()
    ]
    alt = word(MEDIANS, lang) + _joined(told, lang)
    return Chart(log_chart.rows(shown, unit=unit, lang=lang), alt)


def growth(record: Record, lang: str) -> Chart:
    """Seconds of GAE over the length of a response, the fitted slopes in the legend."""
    named: dict[str, dict[int, float]] = {}
    told = []
    for slope in record.slopes:
        if slope.over != "time":
            continue
        results = [r for r in record.about(slope.subject) if r.over == slope.over]
        line = {
            result.sizes[slope.over]: result.contenders[slope.contender].median
            for result in results
            if slope.contender in result.contenders
        }
        values = {
            "name": words.plain(slope.contender, lang),
            "slope": three(slope.exponent),
        }
        name = word(SLOPE, lang).format(**values)
        named[name] = line
        ends = [amount(line[end], "seconds", lang) for end in (min(line), max(line))]
        told.append(word(END, lang).format(name=name, low=ends[0], high=ends[1]))
    sizes = [size for line in named.values() for size in line]
    first, last = f"{min(sizes):,}", f"{max(sizes):,}"
    alt = word(GROWTH, lang).format(first=first, last=last) + _joined(told, lang)
    below = word(LENGTH, lang)
    drawn = log_chart.lines(named, below=below, unit="seconds", lang=lang)
    return Chart(drawn, alt)


def _heard(heading: str, medians: Mapping[str, float], unit: str, lang: str) -> str:
    comma, colon = ("、", "：") if lang == "zh" else (", ", ": ")
    parts = [f"{name} {amount(m, unit, lang)}" for name, m in medians.items()]
    return f"{heading}{colon}{comma.join(parts)}"


def _joined(parts: list[str], lang: str) -> str:
    return "；".join(parts) + "。" if lang == "zh" else "; ".join(parts) + "."


CHARTS: dict[str, Callable[[Record, str], Chart]] = {"costs": costs, "growth": growth}
