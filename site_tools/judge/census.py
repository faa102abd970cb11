"""Every code fence is accounted for: the page, Sybil and the built HTML agree.

The line scan says what is on the page, Sybil's lexer what runs, the HTML what readers
see. Any fence on which they differ is an error.
"""

import re
import textwrap
from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from bs4 import BeautifulSoup
from sybil import Document
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from site_tools.messages import Problem, Problems
from site_tools.page.page import Page
from site_tools.source.blocks import Block
from site_tools.source.content import line_of
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
    regions = list(LEXER(Document(text, "")))
    regions.sort(key=lambda region: region.start)
    for region in regions:
        if region.start < end:
            continue
        end = region.end
        info = region.lexemes["info"].strip()
        lines = textwrap.dedent(region.lexemes["source"]).splitlines()
        fence = Fence(line_of(text, region.start), info, tuple(lines))
        collected.append(Collected(region.start, end, fence))
    return collected


def check_collected(page: Page) -> Problems:
    """Compare the fences of the line scan with those that Sybil collects."""
    scanned = _by_line(page.fences)
    lexed = _by_line(each.fence for each in collect(page.text))
    for line in sorted(scanned.keys() | lexed.keys()):
        scan = scanned.get(line)
        sybil = lexed.get(line)
        if scan is None:
            yield page.problem(line, "census_sybil", sybil=sybil)
        elif scan != sybil:
            yield page.problem(line, "census_scan", scan=scan, sybil=sybil)


def _by_line(fences: Iterable[Fence]) -> dict[int, str]:
    """What each fence says, by the line that it opens on."""
    found = {}
    for fence in fences:
        inside = textwrap.dedent("\n".join(fence.lines))
        content = inside.strip("\n")
        found[fence.line] = f"```{fence.info}\n{content}"
    return found


def check_boxes(page: Page, shown: BeautifulSoup) -> list[Problem]:
    """Compare the blocks of a page with the code boxes that readers see."""
    boxes = [code.get_text() for code in shown.select("pre > code")]
    blocks = [block for block in page.blocks if block.has_box]
    if len(boxes) > len(blocks):
        return [_extra_box(page, boxes, blocks)]
    for block, box in zip_longest(blocks, boxes):
        line = block.fence.line
        values = {"expected": block.text}
        if box is None:
            return [page.problem(line, "census_no_box", **values)]
        if _without_blanks(box) != _without_blanks(block.text):
            return [page.problem(line, "census_other_box", shown=box, **values)]
    return []


def _extra_box(page: Page, boxes: list[str], blocks: list[Block]) -> Problem:
    """The problem of a box that comes from no block."""
    known = {_without_blanks(block.text) for block in blocks}
    extra = boxes[-1]
    for box in boxes:
        if _without_blanks(box) not in known:
            extra = box
            break
    first = extra.strip().partition("\n")[0].strip()
    line = page.line_with(first)
    return page.problem(line, "census_extra_box", text=first[:60])


def _without_blanks(text: str) -> str:
    """A text without blanks at the ends of its lines, and empty lines around it."""
    lines = text.strip("\n").splitlines()
    return "\n".join(line.rstrip() for line in lines)
