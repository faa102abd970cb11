"""The signs of Markdown within prose: code, formulas, targets of links, attributes.

For what must know the file itself: typography rewrites it, the record of agreement
hashes it, downloads change a link in it. Whatever asks what readers see asks the tree
of the page; ``tests/site`` compares the two on every page.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from site_tools.source.content import blank

ATTRIBUTE_FORM = (
    r"""(?:[.#][\w:-]+|[A-Za-z][\w-]*=(?:"[^"\n]*"|'[^'\n]*'|[^\s"'{}]+))"""
)
PARTS = re.compile(
    r"(?=[`$(\[{<h])(?:"  # most signs of a text begin none of these
    r"(?P<comment><!--.*?-->)"
    r"|(?P<code>(?<![\\`])(?P<ticks>`+)(?!`)(?P<inside>[^\n]+?)(?<!`)(?P=ticks)(?!`)"
    r"(?:\{(?P<list>[^\n]*?)\}(?!\"))?)"
    r"|(?P<display>\$\$(?P<block>.+?)\$\$)"
    r"|(?P<inline>(?<![\\$])\$(?=[^\s$])(?P<formula>[^$\n]*?[^\s\\$])\$(?!\d))"
    r"|(?P<target>(?<=\])(?<!\\\])\((?P<link>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\))"
    r"|(?P<reference>^\[(?!\^)[^\]\n]+\]:[ \t]*<?[^\s>]+>?[ \t]*$)"
    r"|(?P<address><?https?://[^\s>)]+>?)"
    rf"|(?P<attributes>\{{:?\s*{ATTRIBUTE_FORM}(?:[ ]+{ATTRIBUTE_FORM})*\s*\}}))",
    re.DOTALL | re.MULTILINE,
)
INNER_GROUP = {
    "code": "inside",
    "display": "block",
    "inline": "formula",
    "target": "link",
}


class Part(NamedTuple):
    """A part that is no plain prose: its group of ``PARTS``, its place, what it has."""

    kind: str
    start: int
    end: int
    text: str
    attributes: str | None = None  # behind inline code, without braces


def read_part(match: re.Match[str]) -> Part:
    """A match of ``PARTS``."""
    kind = str(match.lastgroup)
    text = match[INNER_GROUP[kind]] if kind in INNER_GROUP else match[0]
    return Part(kind, match.start(), match.end(), text, match["list"])


@lru_cache(maxsize=8)
def parts(text: str) -> tuple[Part, ...]:
    """Every part of a body that is not plain prose."""
    return tuple(map(read_part, PARTS.finditer(text)))


def plain_prose(text: str) -> str:
    """The plain prose of a body; all else is blanked."""
    for part in parts(text):
        text = blank(text, part.start, part.end)
    return text
