"""A page as its readers see it, as a tree whose nodes know their lines.

Markdown tells nobody which line of the page a paragraph comes from. But it keeps the
letters and their order, so each line of the page is searched for in the letters of the
tree, onward from where the line before it was found.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PageElement

from site_tools.page.rendering import render_as_written

# What is in the page and not among the letters that readers see, or elsewhere: the
# titles of tabs stand above all of them.
UNSEEN = re.compile(
    r"!\[[^\]\n]*\]\([^)\n]*\)|(?<=\])\([^)\n]*\)|\{[^{}\n]*[.#=][^{}\n]*\}"
    r"|^[ >]*(?:[!?]{3}\+?[ ][\w ]+|\d+[.)][ ]|=== .*)"
)
PIECES = re.compile(r"[`*_\[\](){}!|$^<>&]+")
FAR, NEAR = 4000, 200  # letters; a short line is soon found by chance


@lru_cache(maxsize=256)
def parse(text: str, root: Path) -> BeautifulSoup:
    """The tree of a page, rendered by the site's own Markdown; not to be changed.

    Args:
        text: The page, front matter included.
        root: The project's folder.
    """
    return BeautifulSoup(render_as_written(text, root), "html.parser")


class Lines:
    """The line of the page that each node of its tree comes from.

    Args:
        tree: What ``parse`` gives.
        body: The page with front matter and fences blanked (``prose.body``).
    """

    def __init__(self, tree: BeautifulSoup, body: str) -> None:
        letters = []
        self._offsets: dict[int, int] = {}
        count = 0
        for node in tree.descendants:
            self._offsets[id(node)] = count
            if isinstance(node, NavigableString) and not node.find_parent("pre"):
                letters.append(_letters(str(node)))
                count += len(letters[-1])
        self._found = [0]
        self._lines = [1]
        seen = "".join(letters)
        for number, line in enumerate(body.split("\n"), 1):
            self._place(line, number, seen)

    def _place(self, line: str, number: int, seen: str) -> None:
        line = UNSEEN.sub("", line)
        for piece in (line, *sorted(PIECES.split(line), key=len, reverse=True)):
            letters = _letters(piece)
            start = self._found[-1]
            far = FAR if piece is line and len(letters) > 7 else NEAR
            at = seen.find(letters, start, start + far + len(letters))
            if letters and at >= 0:
                self._found.append(at)
                self._lines.append(number)
                return

    def of(self, node: PageElement) -> int:
        """The line on which a node begins."""
        if isinstance(node, Tag):  # its first letters, not the blank before them
            node = next((n for n in node.strings if _letters(n)), node)
        offset = self._offsets[id(node)]
        return self._lines[bisect_right(self._found, offset) - 1]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


BLOCKS = re.compile(
    "address|article|aside|blockquote|br|dd|details|div|dl|dt|fieldset|figure|h[1-6]|hr|"
    "label|li|ol|p|section|summary|table|tbody|td|th|thead|tr|ul"
)
WORDS = ("title", "alt", "aria-label", "data-reason", "placeholder")
BOUND = "\ufffc"
INVISIBLE = re.compile(
    "[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\ufe0f\u20e3\u0300-\u036f]"
)


class Piece(NamedTuple):
    """Characters of one node: ``text``, ``code``, ``formula`` or ``bound``."""

    kind: str
    text: str
    node: PageElement


@dataclass
class Flow:
    """What readers see as one run of text: a paragraph, a cell, a title."""

    pieces: list[Piece]
    in_table: bool = False
    quoted: bool = False

    @property
    def text(self) -> str:
        """Its characters; a bound figure is ``BOUND``."""
        return "".join(piece.text for piece in self.pieces)

    def piece_at(self, offset: int) -> Piece:
        """The piece that a character of the text belongs to."""
        for piece in self.pieces:
            offset -= len(piece.text)
            if offset < 0:
                return piece
        return self.pieces[-1]


def flows(tree: BeautifulSoup) -> list[Flow]:
    """Every run of text of a page but that of its fences, in order."""
    walker = _Walker()
    walker.walk(tree, False, False)
    walker.end(False, False)
    return walker.flows


class _Walker:
    def __init__(self) -> None:
        self.flows: list[Flow] = []
        self._pieces: list[Piece] = []

    def walk(self, tag: Tag, in_table: bool, quoted: bool) -> None:
        for node in tag.children:
            if isinstance(node, Tag):
                self._enter(node, in_table, quoted)
            elif type(node) is NavigableString:
                self._pieces.append(Piece("text", INVISIBLE.sub("", node), node))

    def end(self, in_table: bool, quoted: bool) -> None:
        """What comes next stands apart from what came before."""
        if any(piece.text.strip() for piece in self._pieces):
            self.flows.append(Flow(self._pieces, in_table, quoted))
        self._pieces = []

    def _enter(self, tag: Tag, in_table: bool, quoted: bool) -> None:
        classes = tag.get_attribute_list("class")
        inner = in_table or tag.name in ("td", "th"), quoted or "quote" in classes
        for key in WORDS:
            if value := str(tag.get(key, "")):
                piece = Piece("text", INVISIBLE.sub("", value), tag)
                self.flows.append(Flow([piece], quoted=inner[1]))
        if tag.name == "pre" or "headerlink" in classes:
            return
        text = tag.get_text()
        if tag.name == "code":
            bound = tag.has_attr("data-is")
            piece = Piece("bound", BOUND, tag) if bound else Piece("code", text, tag)
            self._pieces.append(piece)
        elif "arithmatex" in classes:
            self._pieces.append(Piece("formula", text.strip()[2:-2], tag))
        elif BLOCKS.fullmatch(tag.name):
            self.end(in_table, quoted)
            self.walk(tag, *inner)
            self.end(*inner)
        else:
            self.walk(tag, *inner)
