"""Where a page can be made to lie: its figures, formulas, outputs, ids and links."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from site_tools.checks.features import HEADING
from site_tools.checks.inline_formulas import stated
from site_tools.mutants.changes import (
    Change,
    in_figure,
    in_formula,
    in_name,
    in_output,
)
from site_tools.numbers import find
from site_tools.source.blocks import Kind
from site_tools.source.page import Page
from site_tools.source.prose import Part, line_of, parts, plain
from site_tools.source.tex import computes

FIGURES = "figures in the text"
DISPLAYED = "displayed formulas"
INLINE = "formulas in a line"
SYMBOLS = "symbols in a line"
OUTPUTS = "outputs"
IDS = "ids"
LINKS = "links"
OUTWARD = "links that lead out"


class Place(NamedTuple):
    """A stretch of a page that says something which both languages say."""

    kind: str
    section: str
    text: str
    start: int


class Site(NamedTuple):
    """A change of one place of a page.

    Args:
        kind: What is changed, as in ``FIGURES``.
        section: The id of the heading above, of which there is one in each language.
        text: What stood there.
        number: Which one it is of those that say the same in the section.
        new: What stands there after the change.
        change: The change of the page.
    """

    kind: str
    section: str
    text: str
    number: int
    new: str
    change: Change

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """Equal in both languages."""
        return self[:5]

    @property
    def told(self) -> str:
        """What became what, in a few words."""
        old, new, at = self.text, self.new, 0
        while at < min(len(old), len(new)) and old[at] == new[at]:
            at += 1
        first = max(0, old.rfind("\n", 0, at) + 1, at - 24)
        return f"{_short(old[first:])} → {_short(new[first:])}"


def _short(text: str) -> str:
    return " ".join(text.split("\n")[0].split())[:48] if text.strip() else text


Changes = Callable[[str], Iterable[Change]]


def sites(page: Page) -> Iterator[Site]:
    """Every change of a page that somebody should notice."""
    seen: Counter[Place] = Counter()
    for place, changes in _places(page):
        same = place._replace(start=0)
        for change in changes(place.text):
            new = change.applied(place.text)
            moved = Change(
                change.start + place.start, change.end + place.start, change.new
            )
            yield Site(place.kind, place.section, place.text, seen[same], new, moved)
        seen[same] += 1


def _places(page: Page) -> Iterator[tuple[Place, Changes]]:
    headings = [match for match in HEADING.finditer(page.body) if match["id"]]

    def place(kind: str, start: int, text: str) -> Place:
        above = [match["id"] for match in headings if match.start() <= start]
        return Place(kind, above[-1] if above else "", text, start)

    for start, text in _figures(page):
        yield place(FIGURES, start, text), in_figure
    for start, text in _outputs(page):
        yield place(OUTPUTS, start, text), in_output
    for match in headings:
        yield place(IDS, match.start("id"), match["id"]), in_name
    for part in _own(parts(page.body)):
        if part.kind == "display":
            yield place(DISPLAYED, part.start + 2, part.text), in_formula
        elif part.kind == "target" and not part.text.endswith((".svg", ".png")):
            kind = OUTWARD if ":" in part.text else LINKS
            yield place(kind, part.start + 1, part.text), in_name
    for part in stated(page):
        kind = INLINE if computes(part.text) else SYMBOLS
        yield place(kind, part.start + 1, part.text), in_formula


def _own(found: Iterable[Part]) -> Iterator[Part]:
    """What is not inside a quotation, which stays as somebody else wrote it."""
    quotes: list[Part] = []
    for part in found:
        if part.kind == "quote":
            quotes.append(part)
        elif not any(q.start <= part.start < q.end for q in quotes):
            yield part


def _figures(page: Page) -> Iterator[tuple[int, str]]:
    """Bound figures, and sums that hold by themselves."""
    for figure in page.figures:
        start = page.text.index(figure.shown, figure.start)
        yield start, figure.shown
    for number in find(plain(page.body, page.refs)):
        if number.form == "worked arithmetic":
            yield number.start, number.text


def _outputs(page: Page) -> Iterator[tuple[int, str]]:
    lines = page.text.splitlines(keepends=True)
    for block in page.blocks:
        if block.kind is Kind.OUTPUT:
            first, count = block.fence.line, len(block.fence.lines)
            start = len("".join(lines[:first]))
            yield start, "".join(lines[first : first + count])


def line(page: Page, site: Site) -> int:
    """The line of the page that a change is in."""
    return line_of(page.text, site.change.start)
