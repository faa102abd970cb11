"""The figures of a page: each is bound to an expression, or it is a problem.

A figure stands in the text as inline code with ``data-is``, an expression that is
evaluated where the page's blocks end: ``0.651`` with ``{ data-is="a[0, 0]" }``.
"""

import re
from dataclasses import dataclass

from site_tools import numbers
from site_tools.page.attributes import parse
from site_tools.page.expressions import check_expression
from site_tools.page.prose import Part, line_of, parts
from site_tools.page.unbound import in_formula, in_prose
from site_tools.problems import Problem

# Inline code that is nothing but a number, or a name that equals one.
HIDDEN = re.compile(
    rf"(?:\w+\s*[=:≈]\s*)?(?:{numbers.FORMS['a number in scientific notation']}"
    rf"|{numbers.FORMS['a percentage']}|{numbers.FORMS['a decimal']})"
)
RENDERED = re.compile(r'<code data-is="([^"]*)">(.*?)</code>')


@dataclass(frozen=True)
class Figure:
    """A number as shown, and the expression that gives it."""

    start: int
    line: int
    shown: str
    expression: str


def read_figures(
    body: str, path: str, refs: tuple[str, ...]
) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a page, and a problem for each figure that is not.

    Args:
        body: The page with front matter and fences blanked (``prose.body``).
        path: Its path, for the messages.
        refs: Versions and citations, whose numbers are no figures.
    """
    figures: list[Figure] = []
    problems: list[Problem] = []
    quoted: list[Part] = []
    for part in parts(body):
        line = line_of(body, part.start)
        if part.kind == "quote":
            quoted.append(part)
        elif any(q.start < part.start < q.end for q in quoted):
            if "data-is" in (part.attributes or ""):
                problems.append(_quoted(part, path, line))
            continue
        try:
            if part.kind == "code":
                figures += _bound(part, line)
            elif part.kind == "attributes":
                _check_list(part)
            elif part.kind in ("display", "inline"):
                problems += in_formula(part, path, line)
        except ValueError as error:
            shown = part.text if part.kind == "attributes" else f"`{part.text}`"
            fix = 'write `0.5`{ data-is="expression" }, without a blank before {'
            problems.append(Problem(path, line, shown, str(error), fix))
    return figures, problems + in_prose(body, path, refs)


def _bound(part: Part, line: int) -> list[Figure]:
    values = parse(part.attributes or "").values
    for key in values.keys() - {"data-is"}:
        raise ValueError(f"no attribute but data-is, got {key}")
    expression = values.get("data-is")
    if expression is None:
        if HIDDEN.fullmatch(part.text):
            raise ValueError("a figure in the prose bound to an expression")
        return []
    numbers.agrees(part.text, 0)
    if "][" in expression:  # autorefs would make a link of it, and show the braces
        raise ValueError(f"data-is without ][, as in a[0, 1], got {expression}")
    check_expression(expression)
    return [Figure(part.start, line, part.text, expression)]


def _check_list(part: Part) -> None:
    for key in parse(part.text[1:-1].lstrip(":")).values:
        raise ValueError(f"only #id and .class here, data-is behind code, got {key}")


def _quoted(part: Part, path: str, line: int) -> Problem:
    return Problem(
        path,
        line,
        f"`{part.text}` with data-is inside a quotation",
        "a quotation as it was written, its figures neither checked nor marked",
        "take the braces away, or move the figure out of the quotation",
    )


def render(html: str) -> str:
    """Turn bound figures from inline code into figures that readers see as text."""
    return RENDERED.sub(r'<span class="figure" data-is="\1">\2</span>', html)
