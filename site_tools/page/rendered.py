"""A page as its readers see it, as a tree whose nodes know their lines.

Markdown tells nobody which line of the page a paragraph comes from. But it keeps the
letters and their order, so each line of the page is searched for in the letters of the
tree, onward from where the line before it was found.
"""

import re
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path

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
