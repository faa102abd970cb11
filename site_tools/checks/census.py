"""Every code fence is accounted for: the page, Sybil and the built HTML agree.

The line scan says what is on the page, Sybil's lexer what runs, the HTML what readers
see. Any fence on which they differ is an error; so is HTML that a page may not have.
"""

import re
import textwrap
from html import unescape
from typing import NamedTuple

from sybil import Document
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from site_tools.page.fences import Fence
from site_tools.page.page import Page
from site_tools.say import Problem
from site_tools.site import allowed

# In Markdown's own HTML < stands for nothing else; a tree takes ten times as long.
BOX = re.compile(r"<pre\b[^>]*>(?:<span></span>)?<code\b[^>]*>(.*?)</code>", re.DOTALL)
TAG = re.compile("<[^>]*>")
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


def check_collected(page: Page) -> list[Problem]:
    """Compare the fences of the line scan with those that Sybil collects."""
    scanned = {fence.line: _content(fence) for fence in page.fences}
    lexed = {each.fence.line: _content(each.fence) for each in collect(page.text)}
    problems = []
    for line in sorted(scanned.keys() | lexed.keys()):
        scan, sybil = scanned.get(line), lexed.get(line)
        if scan != sybil:
            key = "census_sybil" if scan is None else "census_scan"
            problems.append(page.problem(line, key, scan=scan, sybil=sybil))
    return problems


def _content(fence: Fence) -> str:
    inside = textwrap.dedent("\n".join(fence.lines)).strip("\n")
    return f"```{fence.info}\n{inside}"


def boxes(html: str) -> list[str]:
    """The text of every code box of a built page, in order."""
    return [unescape(TAG.sub("", code)) for code in BOX.findall(html)]


def check_boxes(page: Page, html: str) -> list[Problem]:
    """Compare the blocks of a page with the code boxes that readers see."""
    shown = boxes(html)
    boxed = [block for block in page.blocks if block.has_box]
    known = {_bare(block.text) for block in boxed}
    if len(shown) > len(boxed):
        extra = next((text for text in shown if _bare(text) not in known), shown[-1])
        first = extra.strip().partition("\n")[0].strip()
        line = page.line_with(first)
        return [page.problem(line, "census_extra_box", text=first[:60])]
    for number, block in enumerate(boxed):
        values = {"expected": block.text, "shown": "".join(shown[number : number + 1])}
        if _bare(values["shown"]) != _bare(block.text):
            key = "census_other_box" if shown[number:] else "census_no_box"
            return [page.problem(block.fence.line, key, **values)]
    return []


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def check_shown(page: Page, html: str) -> list[Problem]:
    """Every tag and attribute of a rendered page that a page may not have."""
    problems = []
    for fault in allowed.faults(html):
        quoted = re.search(r'"([^"]+)"', fault)
        words = [fault.split(" ")[0].rstrip(">"), quoted[1] if quoted else ""]
        at = (page.line_with(word) for word in words if word)
        line = next(filter(None, at), 1)  # it may be spelled otherwise
        problems.append(page.problem(line, "html_not_allowed", fault=fault))
    return problems
