"""A tree of HTML or SVG, read as people read it: runs of text, and their pieces."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bs4 import Tag
from bs4.element import NavigableString, PageElement

from site_tools import numbers
from site_tools.numbers import Number

BLOCKS = re.compile(
    "address|article|aside|blockquote|br|dd|details|div|dl|dt|fieldset|figure|h[1-6]|hr|"
    "label|li|ol|p|section|summary|table|tbody|td|th|thead|tr|ul|desc|g|svg|text|title"
)
HEADING_TAG = re.compile("h[1-6]")
# Attributes that people read, or hear.
SPOKEN = (
    "title",
    "alt",
    "aria-label",
    "aria-description",
    "data-reason",
    "placeholder",
)
BOUND_SIGN = "\ufffc"  # stands for a bound figure
INVISIBLE = re.compile(
    "[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\ufe0f\u20e3\u0300-\u036f]"
)


class Piece(NamedTuple):
    """Characters of one node: ``text``, ``code``, ``formula``, ``bound``, a spoken
    attribute; and the line that the node begins on."""

    kind: str
    text: str
    node: PageElement
    line: int


@dataclass
class Flow:
    """A run of text as readers see it: a paragraph, a cell, a title."""

    pieces: list[Piece]
    in_table: bool = False
    quoted: bool = False

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def hiding(self, *kinds: str) -> str:
        """The text with a sign for every letter of some kinds of pieces."""
        words = []
        for piece in self.pieces:
            hidden = piece.kind in kinds
            words.append(numbers.NAME * len(piece.text) if hidden else piece.text)
        return "".join(words)

    @property
    def prose(self) -> str:
        """The text with a sign for every letter of code and formulas."""
        return self.hiding("code", "formula", "bound")

    def piece_at(self, offset: int) -> Piece:
        """The piece that a character of the text belongs to."""
        for piece in self.pieces:
            offset -= len(piece.text)
            if offset < 0:
                return piece
        return self.pieces[-1]

    def line_at(self, offset: int) -> int:
        """The line that a character of the text stands on."""
        for piece in self.pieces:
            if offset < len(piece.text):
                return piece.line + piece.text[:offset].lstrip().count("\n")
            offset -= len(piece.text)
        return self.pieces[-1].line

    def figures(self, words: str) -> Iterator[tuple[Number, Piece]]:
        """Each figure of its words, of which some may be blanked, and where it is."""
        for number in unproved_numbers(words, counts=self.in_table):
            yield number, self.piece_at(number.start)


def unproved_numbers(text: str, counts: bool = False) -> Iterator[Number]:
    """The numbers of a text, maybe with counts, but no worked arithmetic that holds."""
    for number in numbers.find_numbers(text, counts):
        if number.form != "worked arithmetic" or not numbers.holds(number.text):
            yield number


def flows(
    tree: Tag, line_of: Callable[[PageElement], int], language: str = ""
) -> list[Flow]:
    """Every run of text of a page but that of its fences, or of a picture, in order.

    Of a picture, what is in another language than the one given is left out.
    """
    walk = _Walk(line_of, language)
    walk.inside(tree, in_table=False, quoted=False)
    return [flow for flow in walk.flows if flow.text.strip()]


class _Walk:
    def __init__(self, line_of: Callable[[PageElement], int], language: str) -> None:
        self.flows = [Flow([])]  # the last one is being filled
        self._line_of, self._language = line_of, language

    def inside(self, parent: Tag, in_table: bool, quoted: bool) -> None:
        """Take what stands in a tag, which may lie in a table or a quotation."""
        for node in parent.children:
            if type(node) is NavigableString:
                self._add("text", INVISIBLE.sub("", node), node)
            elif isinstance(node, Tag) and self._is_read(node):
                self._tag(node, in_table, quoted)

    def _is_read(self, tag: Tag) -> bool:
        return not self._language or tag.get("lang", self._language) == self._language

    def _tag(self, tag: Tag, in_table: bool, quoted: bool) -> None:
        classes = tag.get_attribute_list("class")
        if "headerlink" in classes:
            return
        inner_table = in_table or tag.name in ("td", "th")
        inner_quoted = quoted or "quote" in classes
        self._attributes(tag, inner_quoted)
        if tag.name == "pre":
            return
        if tag.has_attr("data-is"):
            self._add("bound", BOUND_SIGN, tag)
        elif tag.name == "code":
            self._add("code", tag.get_text(), tag)
        elif "arithmatex" in classes:
            self._add("formula", formula_of(tag), tag)
        elif BLOCKS.fullmatch(tag.name):  # stands apart from what is around it
            self.flows.append(Flow([], inner_table, inner_quoted))
            self.inside(tag, inner_table, inner_quoted)
            self.flows.append(Flow([], in_table, quoted))
        else:
            self.inside(tag, inner_table, inner_quoted)

    def _attributes(self, tag: Tag, quoted: bool) -> None:
        for key in SPOKEN:
            value = str(tag.get(key, ""))
            if value:
                words = INVISIBLE.sub("", value)
                piece = Piece(key, words, tag, self._line_of(tag))
                self.flows.insert(-1, Flow([piece], quoted=quoted))

    def _add(self, kind: str, text: str, node: PageElement) -> None:
        piece = Piece(kind, text, node, self._line_of(node))
        self.flows[-1].pieces.append(piece)


def formula_of(tag: Tag) -> str:
    """The TeX of a formula, without its marks."""
    return tag.get_text().strip()[2:-2]
