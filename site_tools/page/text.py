"""A page of one language: what is written in its file, and the tree that is shown."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import PageElement

from site_tools.messages import Problem, problem
from site_tools.page.lines import Lines
from site_tools.page.rendered import parse_shown, render
from site_tools.page.tree import Flow, flows
from site_tools.source.blocks import Block, Kind, with_includes
from site_tools.source.content import Content
from site_tools.source.fences import Fence


@dataclass(frozen=True)
class PageText:
    """A page with its blocks read, before its figures are."""

    path: str
    language: str
    id: str
    text: str
    content: Content
    blocks: tuple[Block, ...]
    root: Path

    @property
    def meta(self) -> dict[str, Any]:
        """The front matter."""
        return self.content.meta

    @property
    def body(self) -> str:
        """The text with front matter and fences blanked."""
        return self.content.body

    @property
    def fences(self) -> tuple[Fence, ...]:
        """Every fence in order."""
        return self.content.fences

    def problem(self, line: int, about: str, /, **values: Any) -> Problem:
        """A problem at a line of the page."""
        return problem(self.path, line, about, **values)

    def blocks_on(self, rows: range) -> list[Block]:
        """The blocks whose fences open on some lines."""
        return [block for block in self.blocks if block.fence.line in rows]

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

    def is_in_code(self, text: str) -> bool:
        """True if a text stands in code of the page that runs, or in what it prints."""
        wanted = re.escape(re.sub(r"\s", "", text))
        return bool(re.search(rf"(?<![\d.]){wanted}(?!\.?\d)", self._code))

    @cached_property
    def _code(self) -> str:
        texts = []
        for block in self.blocks:
            if block.kind is not Kind.SHOWN:
                texts.append(block.text)
        return re.sub(r"[ \t]", "", "\n".join(texts))

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources that a quotation may come from: refs, and the questions answered."""
        return (*self.refs, *self.texts("answers"))

    @cached_property
    def html(self) -> str:
        """The page as readers see it, with places for what is made from data."""
        return render(with_includes(self.text, self.blocks), self.root)

    @cached_property
    def tree(self) -> BeautifulSoup:
        """The same as a tree."""
        return parse_shown(self.html)

    @cached_property
    def flows(self) -> list[Flow]:
        """Every run of text of the tree."""
        return flows(self.tree, self.line_of)

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.tree, self.body)

    def line_of(self, node: PageElement) -> int:
        """The line of the file that a node of the tree begins on."""
        return self._lines.of(node)

    def line_near(self, shown: str, line: int) -> int:
        """The next line that a text begins on; else the first one; else this."""
        first = shown.strip().partition("\n")[0]
        return self.line_with(first, line) or self.line_with(first) or line

    def line_marked(self, shown: str, line: int) -> int:
        """The next line on which a text has marks in it, as 0.**5**; else this."""
        written = re.compile("[*_`~\\[\\]]*".join(map(re.escape, shown.strip())))
        for number, row in enumerate(self._rows[line - 1 :], line):
            if any(match[0] != shown for match in written.finditer(row)):
                return number
        return line

    def line_with(self, shown: str, first: int = 1) -> int:
        """The first line of the file, from ``first`` on, that holds a text, or 0."""
        for number, row in enumerate(self._rows, 1):
            if number >= first and shown in row:
                return number
        return 0

    @cached_property
    def _rows(self) -> list[str]:
        return self.text.split("\n")
