"""The fences that Sybil's lexer finds, the second of three counts (see ``census``)."""

import re
import textwrap
from typing import NamedTuple

from sybil import Document
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from site_tools.page.fences import Fence

LEXER = RawFencedCodeBlockLexer(re.compile(r"(?P<info>[^\n]*)(?:\n|\Z)"))


class Collected(NamedTuple):
    """A fence, and the offsets in the page between which it lies."""

    start: int
    end: int
    fence: Fence


def collect(text: str) -> list[Collected]:
    r"""Every fence of a page; those shown inside another are not one.

    Example:
        >>> [(start, end, fence)] = collect("```python\n1\n```\n")
        >>> start, end, fence.info, fence.lines
        (0, 15, 'python', ('1',))
    """
    found: list[Collected] = []
    end = 0
    regions = LEXER(Document(text, ""))
    for region in sorted(regions, key=lambda region: region.start):
        if region.start < end:
            continue
        end = region.end
        line = text.count("\n", 0, region.start) + 1
        source = textwrap.dedent(region.lexemes["source"])
        info = region.lexemes["info"].strip()
        fence = Fence(line, info, tuple(source.splitlines()))
        found.append(Collected(region.start, end, fence))
    return found
