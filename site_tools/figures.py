"""The figures of a page: each is bound to an expression, or it is a problem.

A figure stands in the text as inline code with ``data-is``, an expression that is
evaluated where the page's blocks end: ``0.651`` with ``{ data-is="a[0, 0]" }``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from site_tools import numbers
from site_tools.attributes import parse
from site_tools.execution import Failure
from site_tools.problems import Problem
from site_tools.prose import Part, line_of, parts, plain

DELIMITER = re.compile(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")
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
        if any(q.start < part.start < q.end for q in quoted):
            continue
        try:
            if part.kind == "code" and part.attributes is not None:
                figures += _bound(part, line)
            elif part.kind in ("display", "inline"):
                problems += _in_formula(part, path, line)
        except ValueError as error:
            fix = 'write `0.5`{ data-is="expression" }'
            problems.append(
                Problem(path, line, f"`{part.text}`", str(error), fix),
            )
    return figures, problems + _loose(body, path, refs)


def _bound(part: Part, line: int) -> list[Figure]:
    attributes = parse(part.attributes or "")
    expression = attributes.values.get("data-is")
    if expression is None:
        return []
    if "=" not in part.text:
        numbers.read(part.text)
    try:
        compile(expression, "data-is", "eval")
    except SyntaxError as error:
        raise ValueError(f"data-is must be an expression: {error.msg}") from None
    return [Figure(part.start, line, part.text, expression)]


def _in_formula(part: Part, path: str, line: int) -> list[Problem]:
    wanted = ("a decimal", "a percentage", "a number in scientific notation")
    return [
        Problem(
            path,
            line + part.text.count("\n", 0, number.start),
            f"{number.text} in a formula",
            f"no figure in a formula that no block prints ({number.form})",
            "print the formula in a block and show it as ```{ .output .formula }",
        )
        for number in numbers.find(part.text)
        if number.form in wanted
    ]


def _loose(body: str, path: str, refs: tuple[str, ...]) -> list[Problem]:
    text = plain(body, refs)
    found = list(numbers.find(text))
    for start, end in _tables(body):
        found += [
            numbers.Number(start + n.start, start + n.end, n.text, n.form)
            for n in numbers.find(text[start:end], counts=True)
            if n.form == "a number in a table"
        ]
    return [
        _unbound(number, path, line_of(text, number.start))
        for number in sorted(found, key=lambda number: number.start)
        if not (number.form == "worked arithmetic" and numbers.holds(number.text))
    ]


def _tables(body: str) -> list[tuple[int, int]]:
    """Offsets of the rows of each table, header included."""
    spans = []
    lines = body.splitlines(keepends=True)
    offsets = [0, *accumulate(len(line) for line in lines)]
    for number, line in enumerate(lines):
        if "|" not in line or not DELIMITER.match(line.rstrip()) or number == 0:
            continue
        end = number + 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        spans.append((offsets[number - 1], offsets[end]))
    return spans


def _unbound(number: numbers.Number, path: str, line: int) -> Problem:
    if number.form == "worked arithmetic":
        return Problem(
            path,
            line,
            f"{number.text}",
            "arithmetic that holds",
            "correct it, or bind it: "
            f'`{number.text}`{{ data-is="the right-hand side" }}',
        )
    if number.form == "a version":
        fix = f'add it to refs in the front matter, as in refs: ["verl {number.text}"]'
        return Problem(path, line, number.text, "a version that refs knows", fix)
    return Problem(
        path,
        line,
        f"{number.text} ({number.form})",
        "every figure printed by a block or bound to an expression",
        f'write `{number.text}`{{ data-is="expression" }}',
    )


def check_figures(
    figures: Sequence[Figure], values: Sequence[int | float | Failure], path: str
) -> list[Problem]:
    """Compare each figure with the value of its expression."""
    return [
        problem
        for figure, value in zip(figures, values, strict=True)
        if (problem := check_figure(figure, value, path))
    ]


def check_figure(
    figure: Figure, value: int | float | Failure, path: str
) -> Problem | None:
    """Compare one figure with the value of its expression."""
    if isinstance(value, Failure):
        return Problem(
            path,
            figure.line,
            f"{figure.expression} raises {value.type}: {value.message}",
            "an expression over the names that the page's blocks leave behind",
            "correct the expression, or define the name in a block above or below",
        )
    if numbers.agrees(figure.shown, value):
        return None
    return Problem(
        path,
        figure.line,
        f"{figure.shown}",
        f"{figure.expression} = {value!r}, within half a unit of the last digit shown",
        "correct the figure, or the expression it is bound to",
    )


def render(html: str) -> str:
    """Turn bound figures from inline code into figures that readers see as text."""
    return RENDERED.sub(r'<span class="figure" data-is="\1">\2</span>', html)

