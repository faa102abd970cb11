"""Figures of the prose that nothing binds, and the one expression that gives each."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from site_tools import numbers
from site_tools.fixing.letters import replace
from site_tools.page.figures import HIDDEN, Figure
from site_tools.page.page import Page
from site_tools.page.prose import HEADING, line_of, parts
from site_tools.page.unbound import unbound
from site_tools.problems import Problem

# Where braces would be shown as they stand, or end a title.
FIXED = re.compile(r"^[ \t]*(?:#|[!?]{3}|===).*$|!\[[^\]\n]*\]", re.M)


@dataclass(frozen=True)
class Loose:
    """A figure that nothing binds.

    Args:
        start: Offset of its first character.
        end: Offset behind its last.
        shown: The figure.
        form: What it is, as in "a decimal".
        movable: Whether it can be bound where it stands.
    """

    start: int
    end: int
    shown: str
    form: str
    movable: bool


def loose(page: Page) -> list[Loose]:
    """Every figure of a page that a number could be bound to, and is not."""
    fixed = [match.span() for match in FIXED.finditer(page.body)]

    def found(start: int, end: int, shown: str, form: str) -> Loose:
        movable = not any(first <= start < last for first, last in fixed)
        return Loose(start, end, shown, form, movable)

    quoted = [part for part in parts(page.body) if part.kind == "quote"]
    plain = [
        found(number.start, number.end, number.text, number.form)
        for number in unbound(page.body, page.refs)
    ]
    code = [
        found(part.start, part.end, part.text, "a figure in code")
        for part in parts(page.body)
        if part.kind == "code" and not part.attributes and HIDDEN.fullmatch(part.text)
        if not any(quote.start <= part.start < quote.end for quote in quoted)
    ]
    return sorted(filter(_readable, [*plain, *code]), key=lambda figure: figure.start)


def _readable(figure: Loose) -> bool:
    try:
        numbers.read(figure.shown)
    except ValueError:
        return False
    return figure.form != "a version"


def of_twin(figure: Loose, page: Page, twin: Page | None) -> str | None:
    """The expression to which the twin binds this figure, and this page does not.

    It must be the only one of its section that shows the figure and is lacking here.
    """
    if twin is None:
        return None
    section = _section(page, figure.start)
    ours, theirs = (
        Counter(
            bound.expression
            for bound in side.figures
            if _same(bound, figure) and _section(side, bound.start) == section
        )
        for side in (page, twin)
    )
    lacking = set(theirs - ours)
    return lacking.pop() if len(lacking) == 1 else None


def _same(bound: Figure, figure: Loose) -> bool:
    plain = (text.replace("−", "-") for text in (bound.shown, figure.shown))
    return len(set(plain)) == 1


def _section(page: Page, offset: int) -> str | None:
    found = None
    for match in HEADING.finditer(page.body, 0, offset):
        found = match["id"] or found
    return found


def bound(page: Page, known: Mapping[Loose, list[str]]) -> tuple[str, list[Problem]]:
    """The text with each figure bound that has one candidate; a problem for the others.

    Args:
        page: The page.
        known: The expressions that give each figure.
    """
    edits, problems = [], []
    for figure, expressions in known.items():
        if len(expressions) == 1 and figure.movable:
            new = f'`{figure.shown}`{{ data-is="{expressions[0]}" }}'
            edits.append((figure.start, figure.end, new))
        elif expressions:
            problems.append(_open(page, figure, expressions))
    return replace(page.text, edits), problems


def _open(page: Page, figure: Loose, expressions: list[str]) -> Problem:
    shown, first = figure.shown, expressions[0]
    line = line_of(page.body, figure.start)
    expected = "every figure printed by a block or bound to an expression"
    fix = f"{shown} is {first}: move it into a sentence, where it can be bound"
    if figure.movable:
        several = ", ".join(expressions[:8]) + ", ..." * (len(expressions) > 8)
        fix = f"{shown} is each of {several}: write the one you mean behind it"
        fix += f', as in `{shown}`{{ data-is="{first}" }}'
    return Problem(page.path, line, f"{shown} ({figure.form})", expected, fix)
