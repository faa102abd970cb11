"""The file of a page by lines: front matter, fences, headings, quotations.

This is the one place that says what a heading is and where its section ends. It reads
lines and renders nothing, so that lists may ask all pages at once. What is blanked
keeps its place: what is found in the prose is found at its line in the file.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from site_tools.messages import Problem
from site_tools.source.fences import Fence, scan
from site_tools.source.files import FRONT_MATTER, read_front_matter

HEADING_LINE = re.compile(
    r"(?P<level>#{1,6})[ ](?P<title>.*?)[ ]*"
    r"(?:\{[^}\n]*#(?P<id>[\w-]+)[^}\n]*\})?[ ]*"
)
QUOTATION_LINE = re.compile(r'(?P<indent>[ ]*)[!?]{3}\+? quote "(?P<source>[^"]+)"')


class Heading(NamedTuple):
    """A heading, as it is written, with the lines of its section, its own the first."""

    level: int
    title: str  # in Markdown
    id: str  # "" where none is written
    written: str
    rows: range

    @property
    def line(self) -> int:
        return self.rows.start


class Quotation(NamedTuple):
    """A box of somebody's words: who said them, and the lines that it takes."""

    source: str
    rows: range

    @property
    def line(self) -> int:
        return self.rows.start


@dataclass(frozen=True)
class Content:
    """A page as it is written."""

    meta: dict[str, Any]
    fences: tuple[Fence, ...]
    body: str  # the text with front matter and fences blanked
    faults: tuple[Problem, ...]

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the body."""
        return self.body.split("\n")

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """Every heading, in order."""
        found: list[Heading] = []
        end = len(self.lines) + 1
        for number in range(end - 1, 0, -1):  # each section ends where one begins
            line = self.lines[number - 1]
            match = HEADING_LINE.fullmatch(line) if line.startswith("#") else None
            if match is None:
                continue
            level = len(match["level"])
            rows = range(number, end)
            for later in found:
                if later.level <= level:
                    rows = range(number, later.line)
                    break
            heading = Heading(level, match["title"], match["id"] or "", line, rows)
            found.insert(0, heading)
        return tuple(found)

    def section(self, name: str) -> Heading | None:
        """The heading with this id, whose rows are its section."""
        for heading in self.headings:
            if name and heading.id == name:
                return heading
        return None

    def text_of(self, rows: range) -> str:
        """The prose on some lines of the page."""
        return "\n".join(self.lines[rows.start - 1 : rows.stop - 1])

    def text_below(self, name: str) -> str:
        """The prose of the section with this id without its heading; "" without one."""
        heading = self.section(name)
        return self.text_of(heading.rows[1:]) if heading else ""

    def fences_on(self, rows: range) -> list[Fence]:
        """The fences that open on some lines of the page."""
        return [fence for fence in self.fences if fence.line in rows]

    @cached_property
    def quotations(self) -> tuple[Quotation, ...]:
        """Every quotation, in order."""
        found: list[Quotation] = []
        for number, line in enumerate(self.lines, 1):
            match = QUOTATION_LINE.fullmatch(line)
            within = found and number in found[-1].rows
            if match and not within:
                inside = match["indent"] + 4 * " "
                end = number + 1
                for below in self.lines[number:]:
                    if below.strip() and not below.startswith(inside):
                        break
                    end += 1
                found.append(Quotation(match["source"], range(number, end)))
        return tuple(found)


@lru_cache(maxsize=512)  # checks, lists and links read the same pages
def read_content(text: str, path: str = "") -> Content:
    """Read a page, whose path is named where something is wrong with it."""
    fences, unclosed = scan(text, path)
    meta, unread = read_front_matter(text, path)
    front = FRONT_MATTER.match(text)
    if front:
        text = blank(text, 0, front.end())
    lines = text.split("\n")
    for fence in fences:
        for number in fence.rows:
            lines[number - 1] = " " * len(lines[number - 1])
    return Content(meta, tuple(fences), "\n".join(lines), (*unclosed, *unread))


def columns(text: str) -> int:
    """How wide a text is in a terminal: a Chinese character takes two columns."""
    wide = [sign for sign in text if unicodedata.east_asian_width(sign) in "WF"]
    return len(text) + len(wide)


def line_of(text: str, offset: int) -> int:
    """Line of an offset, from 1."""
    return text.count("\n", 0, offset) + 1


def blank(text: str, start: int, end: int) -> str:
    """Overwrite a stretch by spaces, line ends kept."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
