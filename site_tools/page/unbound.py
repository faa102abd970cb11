"""Figures of a Markdown text that nothing binds, with their places in it."""

import re
from itertools import accumulate

from site_tools import numbers
from site_tools.page.prose import plain

DELIMITER = re.compile(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")


def unbound(body: str, refs: tuple[str, ...]) -> list[numbers.Number]:
    """The same as numbers, with their places in the body.

    Args:
        body: The page with front matter and fences blanked (``prose.body``).
        refs: Versions and citations, whose numbers are no figures.

    Example:
        >>> [number.text for number in unbound("0.5 of `0.25`, as 1+1=2", ())]
        ['0.5']
    """
    text = plain(body, refs)
    found = list(numbers.find(text))
    for start, end in _tables(body):
        found += [
            numbers.Number(start + n.start, start + n.end, n.text, n.form)
            for n in numbers.find(text[start:end], counts=True)
            if n.form == "a number in a table"
        ]
    return [
        number
        for number in sorted(found, key=lambda number: number.start)
        if not (number.form == "worked arithmetic" and numbers.holds(number.text))
    ]


def _tables(body: str) -> list[tuple[int, int]]:
    """Offsets of the rows of each table, header included."""
    spans = []
    lines = body.splitlines(keepends=True)
    offsets = [0, *accumulate(len(line) for line in lines)]
    for number, line in enumerate(lines):
        if "|" not in line or not DELIMITER.match(line.rstrip()) or number == 0:
            continue
        end = number + 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        spans.append((offsets[number - 1], offsets[end]))
    return spans
