"""Every code fence is accounted for: the page, Sybil and the built HTML agree.

The line scan says what is on the page, Sybil's lexer what runs, the HTML what readers
see. Any fence on which they differ is an error.
"""

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from bs4 import BeautifulSoup
from sybil import Document
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from site_tools.messages import Problem
from site_tools.page.page import Page
from site_tools.source.fences import Fence

LEXER = RawFencedCodeBlockLexer(re.compile(r"(?P<info>[^\n]*)(?:\n|\Z)"))


class Collected(NamedTuple):
    """A fence, and the offsets in the page between which it lies."""

    start: int
    end: int
    fence: Fence


def collect(text: str) -> list[Collected]:
    """Every fence that Sybil's lexer finds; one inside another is not a fence."""
    collected: list[Collected] = []
    end = 0
    for region in sorted(LEXER(Document(text, "")), key=lambda region: region.start):
        if region.start >= end:
            end = region.end
            line = text.count("\n", 0, region.start) + 1
            lines = textwrap.dedent(region.lexemes["source"]).splitlines()
            fence = Fence(line, region.lexemes["info"].strip(), tuple(lines))
            collected.append(Collected(region.start, end, fence))
    return collected


def check_collected(page: Page) -> Iterator[Problem]:
    """Compare the fences of the line scan with those that Sybil collects."""
    scanned = {fence.line: _content(fence) for fence in page.fences}
    lexed = {each.fence.line: _content(each.fence) for each in collect(page.text)}
    for line in sorted(scanned.keys() | lexed.keys()):
        scan, sybil = scanned.get(line), lexed.get(line)
        if scan is None:
            yield page.problem(line, "census_sybil", sybil=sybil)
        elif scan != sybil:
            yield page.problem(line, "census_scan", scan=scan, sybil=sybil)


def _content(fence: Fence) -> str:
    inside = textwrap.dedent("\n".join(fence.lines)).strip("\n")
    return f"```{fence.info}\n{inside}"


def check_boxes(page: Page, shown: BeautifulSoup) -> list[Problem]:
    """Compare the blocks of a page with the code boxes that readers see."""
    boxes = [code.get_text() for code in shown.select("pre > code")]
    blocks = [block for block in page.blocks if block.has_box]
    if len(boxes) > len(blocks):
        known = {_without_blanks(block.text) for block in blocks}
        unknown = [box for box in boxes if _without_blanks(box) not in known]
        extra = [*unknown, boxes[-1]][0]
        first = extra.strip().partition("\n")[0].strip()
        line = page.line_with(first)
        return [page.problem(line, "census_extra_box", text=first[:60])]
    for number, block in enumerate(blocks):
        line = block.fence.line
        if number >= len(boxes):
            return [page.problem(line, "census_no_box", expected=block.text)]
        if _without_blanks(boxes[number]) != _without_blanks(block.text):
            values = {"expected": block.text, "shown": boxes[number]}
            return [page.problem(line, "census_other_box", **values)]
    return []


def _without_blanks(text: str) -> str:
    """A text without blanks at the ends of its lines, and empty lines around it."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
