"""The line of the file that a node of a page's tree comes from.

Markdown tells nobody. But it keeps the letters and their order, so each line of the
page is searched for in the letters of the tree, onward from where the line before it
was found.
"""

import re
from bisect import bisect_right

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PageElement

# Parts of a line that are no letters of the tree, or stand elsewhere in it: the titles
# of tabs stand above all of them.
UNSEEN = re.compile(
    r"!\[[^\]\n]*\]\([^)\n]*\)|(?<=\])\([^)\n]*\)|\{[^{}\n]*[.#=][^{}\n]*\}"
    r"|^[ >]*(?:[!?]{3}\+?[ ][\w ]+|\d+[.)][ ]|- \[[ xX]\]|=== .*)"
)
BETWEEN_PIECES = re.compile(r"[`*_\[\](){}!|$^<>&]+")
FAR, NEAR = 4000, 200  # letters; a short line is soon found by chance
LONG_LINE = 7  # letters that a line has which is not found by chance


class Lines:
    """The line of a page, by its body, that each node of its tree comes from."""

    def __init__(self, tree: BeautifulSoup, body: str) -> None:
        self._letters_before: dict[int, int] = {}  # each node, by its id
        seen: list[str] = []
        count = 0
        for node in tree.descendants:
            self._letters_before[id(node)] = count
            if isinstance(node, NavigableString) and not node.find_parent("pre"):
                letters = _alphanumerics(node)
                seen.append(letters)
                count += len(letters)
        # How many letters stand before each line that was found.
        self._starts, self._numbers = [0], [1]
        letters = "".join(seen)
        for number, line in enumerate(body.split("\n"), 1):
            self._find(line, number, letters)

    def _find(self, line: str, number: int, seen: str) -> None:
        """Find a line onward from the last one: whole, or else its longest piece."""
        line, start = UNSEEN.sub("", line), self._starts[-1]
        whole = _alphanumerics(line)
        if len(whole) > LONG_LINE:
            at = seen.find(whole, start, start + FAR + len(whole))
            if at >= 0:
                self._add(at, number)
                return
        pieces = sorted(BETWEEN_PIECES.split(line), key=len, reverse=True)
        for letters in [whole, *map(_alphanumerics, pieces)]:
            at = seen.find(letters, start, start + NEAR + len(letters))
            if letters and at >= 0:
                self._add(at, number)
                return

    def _add(self, start: int, number: int) -> None:
        self._starts.append(start)
        self._numbers.append(number)

    def of(self, node: PageElement) -> int:
        """The line on which a node begins: its first letters, not a blank before."""
        if isinstance(node, Tag):
            for text in node.strings:
                if _alphanumerics(text):
                    node = text
                    break
        before = self._letters_before[id(node)]
        return self._numbers[bisect_right(self._starts, before) - 1]


def _alphanumerics(text: str) -> str:
    return "".join(filter(str.isalnum, text))
