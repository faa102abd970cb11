"""What a chat says and nobody has computed or read: its figures, and lines of code."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from site_tools import numbers
from site_tools.page.fences import scan
from site_tools.page.figures import read_figures
from site_tools.page.prose import body, line_of, plain
from site_tools.page.unbound import unbound

# No expression: a check refuses it where it stands, and says what to write.
UNBOUND = '{ data-is="unverified?" }'
KIND = re.compile(r" (?:in a formula|\(an? [\w ]+\))\Z")  # of figure, in a message
SHOWN_TEXT = ("text", "console", "markdown")
FILE = r"(?P<path{0}>(?:[\w.-]+/)*[\w-]+\.(?:py|ya?ml|sh|cuh?|cpp|toml|json|md))"
SPAN = r"L?(?P<first{0}>[1-9]\d*)(?:\s*[-–~～到至]\s*L?(?P<last{0}>[1-9]\d*))?"
PLACE = re.compile(
    rf"{FILE}`?(?:[:#]|\s?的?\s?第\s?|,? (?:at |on )?lines? ){SPAN}".format(1)
    + rf"|lines? {SPAN.format(2)} (?:of|in) `?{FILE.format(2)}",
    re.ASCII,
)
# Behind a place: / `:100`, the same file once more.
AGAIN = re.compile(rf"`?\s*(?:/|~|、|,|，|和|及|and)\s*`?:{SPAN}".format(""))


class Place(NamedTuple):
    """Lines of a file, as a chat names them.

    Args:
        line: Where the chat says so, from 1.
        path: The file.
        lines: ``98`` or ``774-776``, as ``docs/facts`` has it.
    """

    line: int
    path: str
    lines: str


def places(text: str) -> Iterator[Place]:
    """Every ``file:line`` in a text, code included, in its common spellings.

    Example:
        >>> [place[1:] for place in places("`a/b.py:93` / `:100`, c.py第7-9行")]
        [('a/b.py', '93'), ('a/b.py', '100'), ('c.py', '7-9')]
    """
    for match in PLACE.finditer(text):
        line = line_of(text, match.start())
        path = match["path1"] or match["path2"]
        first, last = match["first1"] or match["first2"], match["last1"]
        yield Place(line, path, _span(first, last or match["last2"]))
        more = AGAIN.match(text, match.end())
        while more:
            yield Place(line, path, _span(more["first"], more["last"]))
            more = AGAIN.match(text, more.end())


def marked(page: str) -> str:
    """A page whose figures in the prose are bound to nothing, for a check to refuse.

    Example:
        >>> marked("It is 0.95.")
        'It is `0.95`{ data-is="unverified?" }.'
    """
    prose = body(page, scan(page, "")[0])
    for number in reversed(unbound(prose, ())):
        if _can_be_bound(number):
            gap = " " if page[: number.start].endswith("`") else ""
            shown = f"{gap}`{number.text}`{UNBOUND}"
            page = page[: number.start] + shown + page[number.end :]
    return page


def refused_figures(page: str) -> dict[int, list[str]]:
    """By line, the figures of a page that a check refuses, in prose and in text."""
    fences, _ = scan(page, "")
    found: dict[int, list[str]] = {}
    for problem in read_figures(body(page, fences), "", ())[1]:
        said = KIND.sub("", problem.found)
        found.setdefault(problem.line, []).append(said)
    for fence in fences:
        if fence.header[0] in SHOWN_TEXT:
            for line, text in enumerate(fence.lines, fence.line + 1):
                if shown := [number.text for number in numbers.find(plain(text))]:
                    found[line] = shown
    return dict(sorted(found.items()))


def _can_be_bound(number: numbers.Number) -> bool:
    try:
        numbers.agrees(number.text, 0)
    except ValueError:
        return False
    return number.form != "a version"


def _span(first: str, last: str | None) -> str:
    return f"{first}-{last}" if last else first
