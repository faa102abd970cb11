"""A page as its readers see it: its HTML, and a tree whose nodes know their lines.

Markdown tells nobody which line of the page a paragraph comes from. But it keeps the
letters and their order, so each line of the page is searched for in the letters of the
tree, onward from where the line before it was found.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PageElement
from markdown import Markdown

from site_tools.page.blocks import Block
from site_tools.page.fences import Fence
from site_tools.page.files import FRONT_MATTER
from site_tools.page.prose import blank
from site_tools.say import Problem, problem

SNIPPETS = "pymdownx.snippets"
FENCES = "pymdownx.superfences"


def render(text: str, root: Path) -> str:
    """The HTML of a page, by the Markdown extensions of ``mkdocs.yml``."""
    return _convert(text, _converter(root / "mkdocs.yml", root / "snippets"))


def _convert(text: str, converter: Markdown) -> str:
    if front := FRONT_MATTER.match(text):
        text = blank(text, 0, front.end())
    converter.reset()
    return converter.convert(text)


class _Loader(yaml.CUnsafeLoader):
    """Reads ``mkdocs.yml`` as MkDocs does; no ``!ENV`` plays a part in Markdown."""


_Loader.add_constructor("!ENV", lambda loader, node: None)


@lru_cache(maxsize=4)
def _converter(config: Path, snippets: Path | None) -> Markdown:
    everything = yaml.load(config.read_text("utf-8"), Loader=_Loader)
    written: dict[str, Any] = everything["markdown_extensions"]
    settings = {name: options or {} for name, options in written.items()}
    if snippets:
        settings[SNIPPETS]["base_path"] = [str(snippets)]
    else:
        del settings[SNIPPETS]
        for fence in settings[FENCES]["custom_fences"]:
            fence["format"] = _box
    return Markdown(extensions=list(settings), extension_configs=settings)


def _box(text: str, language: str, css_class: str, *_: Any, **__: Any) -> str:
    return f'<pre class="{css_class}"><code>{escape(text)}</code></pre>'


def format_output(text: str, *_: Any, **__: Any) -> str:
    """What a block printed."""
    box = f"<pre><code>{escape(text)}</code></pre>"
    return f'<div class="language-output no-copy highlight">{box}</div>'


def format_derived(text: str, language: str, *_: Any, attrs: Any, **__: Any) -> str:
    """The place of what is made from data; ``site.lists`` fills it."""
    lang = escape(attrs.get("data-language", ""))
    return (
        f'<div class="from-data" data-derived="{language}" '
        f'data-language="{lang}" data-argument="{escape(text)}"></div>'
    )


@lru_cache(maxsize=256)
def parse(text: str, root: Path) -> BeautifulSoup:
    """The tree of a page with every fence as it stands in the file; not to be changed.

    Includes are not resolved, and the site's own fences, as ``fact``, are boxes of what
    they hold: so a page can be read without the data and lists that it shows.
    """
    html = _convert(text, _converter(root / "mkdocs.yml", None))
    return BeautifulSoup(html, "html.parser")


# What is in the page and not among the letters that readers see, or elsewhere: the
# titles of tabs stand above all of them.
UNSEEN = re.compile(
    r"!\[[^\]\n]*\]\([^)\n]*\)|(?<=\])\([^)\n]*\)|\{[^{}\n]*[.#=][^{}\n]*\}"
    r"|^[ >]*(?:[!?]{3}\+?[ ][\w ]+|\d+[.)][ ]|=== .*)"
)
PIECES = re.compile(r"[`*_\[\](){}!|$^<>&]+")
FAR, NEAR = 4000, 200  # letters; a short line is soon found by chance


class Lines:
    """The line of a page, by its body, that each node of its tree comes from."""

    def __init__(self, tree: BeautifulSoup, body: str) -> None:
        letters = []
        self._offsets: dict[int, int] = {}
        count = 0
        for node in tree.descendants:
            self._offsets[id(node)] = count
            if isinstance(node, NavigableString) and not node.find_parent("pre"):
                letters.append(_letters(str(node)))
                count += len(letters[-1])
        self._places = [(0, 1)]  # offsets of letters, and the lines they stand on
        seen = "".join(letters)
        for number, line in enumerate(body.split("\n"), 1):
            self._place(line, number, seen)

    def _place(self, line: str, number: int, seen: str) -> None:
        line, start = UNSEEN.sub("", line), self._places[-1][0]
        for piece in (line, *sorted(PIECES.split(line), key=len, reverse=True)):
            letters = _letters(piece)
            far = FAR if piece is line and len(letters) > 7 else NEAR
            at = seen.find(letters, start, start + far + len(letters))
            if letters and at >= 0:
                self._places.append((at, number))
                return

    def of(self, node: PageElement) -> int:
        """The line on which a node begins."""
        if isinstance(node, Tag):  # its first letters, not the blank before them
            node = next((n for n in node.strings if _letters(n)), node)
        offset = self._offsets[id(node)]
        at = bisect_right(self._places, offset, key=lambda place: place[0])
        return self._places[at - 1][1]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


@dataclass(frozen=True)
class Text:
    """A page of one language as it is written and as it is shown, its blocks read."""

    path: str
    language: str
    id: str
    text: str
    meta: dict[str, Any]
    body: str  # the text with front matter and fences blanked
    fences: tuple[Fence, ...]
    blocks: tuple[Block, ...]
    root: Path

    def problem(self, line: int, about: str, /, **values: Any) -> Problem:
        """What is wrong at a line of the page."""
        return problem(self.path, line, about, **values)

    @cached_property
    def tree(self) -> BeautifulSoup:
        """The page as readers see it, its fences as they are written."""
        return parse(self.text, self.root)

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts listed under a key of the front matter."""
        values = self.meta.get(key)
        listed = values if isinstance(values, list) else []
        return tuple(value for value in listed if isinstance(value, str))

    @property
    def refs(self) -> tuple[str, ...]:
        """Versions and citations that the front matter knows."""
        return self.texts("refs")

    def without_refs(self, text: str) -> str:
        """A text in which addresses, and what ``refs`` knows, are blanked."""
        return self._refs.sub(lambda match: " " * len(match[0]), text)

    @cached_property
    def _refs(self) -> re.Pattern[str]:
        longest = sorted(self.refs, key=len, reverse=True)
        names = [re.escape(ref) + r"(?![\w.]*\d)" for ref in longest]
        return re.compile("|".join([r"https?://[^\s>)]+", *names]))

    @property
    def sources(self) -> tuple[str, ...]:
        """What a quotation may come from: refs, and the questions answered."""
        return (*self.refs, *self.texts("answers"))

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.tree, self.body)

    def line_of(self, node: PageElement, shown: str = "") -> int:
        """The line of a node of the tree, or the next one with ``shown``."""
        start = self._lines.of(node)
        return self.line_with(shown, start) or self.line_with(shown) or start

    def line_with(self, shown: str, first: int = 1) -> int:
        """The first line of the file, from ``first`` on, that holds a text, or 0."""
        numbers = range(first, len(self._rows) + 1)
        return next((n for n in numbers if shown in self._rows[n - 1]), 0)

    @cached_property
    def _rows(self) -> list[str]:
        return self.text.split("\n")


BLOCKS = re.compile(
    "address|article|aside|blockquote|br|dd|details|div|dl|dt|fieldset|figure|h[1-6]|hr|"
    "label|li|ol|p|section|summary|table|tbody|td|th|thead|tr|ul|desc|g|svg|text|title"
)
WORDS = ("title", "alt", "aria-label", "aria-description", "data-reason", "placeholder")
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
        return "".join(piece.text for piece in self.pieces)

    def piece_at(self, offset: int) -> Piece:
        """The piece that a character of the text belongs to."""
        for piece in self.pieces:
            offset -= len(piece.text)
            if offset < 0:
                return piece
        return self.pieces[-1]


def flows(tree: Tag, language: str = "") -> list[Flow]:
    """Every run of text of a page but that of its fences, or of a picture, in order.

    Of a picture, what is in another language than the one given is left out.
    """
    made = [Flow([])]  # the last one is being filled
    _walk(tree, Flow([]), language, made)
    return [flow for flow in made if any(p.text.strip() for p in flow.pieces)]


def _walk(parent: Tag, around: Flow, language: str, made: list[Flow]) -> None:
    for tag in parent.children:
        if type(tag) is NavigableString:
            made[-1].pieces.append(Piece("text", INVISIBLE.sub("", tag), tag))
        if not isinstance(tag, Tag) or (
            language and tag.get("lang", language) != language
        ):
            continue
        classes = tag.get_attribute_list("class")
        in_table = around.in_table or tag.name in ("td", "th")
        inner = Flow([], in_table, around.quoted or "quote" in classes)
        for key in WORDS:
            if value := str(tag.get(key, "")):
                piece = Piece(key, INVISIBLE.sub("", value), tag)
                made.insert(-1, Flow([piece], quoted=inner.quoted))
        if tag.name == "pre" or "headerlink" in classes:
            continue
        if tag.has_attr("data-is"):
            made[-1].pieces.append(Piece("bound", BOUND, tag))
        elif tag.name == "code":
            made[-1].pieces.append(Piece("code", tag.get_text(), tag))
        elif "arithmatex" in classes:
            tex = tag.get_text().strip()[2:-2]
            made[-1].pieces.append(Piece("formula", tex, tag))
        elif BLOCKS.fullmatch(tag.name):  # stands apart from what is around it
            made.append(replace(inner, pieces=[]))
            _walk(tag, inner, language, made)
            made.append(replace(around, pieces=[]))
        else:
            _walk(tag, inner, language, made)
