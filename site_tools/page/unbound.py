"""Figures that nothing binds: they stand in the prose, a table or a formula."""

import re
from itertools import accumulate

from site_tools import numbers
from site_tools.numbers import in_formula as figures_in_latex
from site_tools.page.prose import Part, line_of, plain
from site_tools.problems import Problem

# What has versions: a word with a capital or a hyphen, as TRL or flash-attn; verl.
NAMED = re.compile(
    r"(?<![A-Za-z0-9_`/-])(verl|[A-Za-z]+-[a-z]+|[A-Za-z]*[A-Z][A-Za-z]+)[ ]v?\Z"
)
DELIMITER = re.compile(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")


def in_formula(part: Part, path: str, line: int) -> list[Problem]:
    """Every decimal, percentage and power of ten in a formula, and wrong arithmetic."""
    wrong = [
        number.text
        for number in numbers.find(part.text)
        if number.form == "worked arithmetic" and not numbers.holds(number.text)
    ]
    return [
        Problem(
            path,
            line,
            f"{shown} in a formula",
            "no figure in a formula that no block prints",
            "print the formula in a block and show it as ```{ .output .formula }",
        )
        for shown in [*wrong, *figures_in_latex(part.text)]
    ]


def in_prose(body: str, path: str, refs: tuple[str, ...]) -> list[Problem]:
    """Every figure in plain prose, and every number in a table."""
    return [
        _unbound(number, path, line_of(body, number.start), _name(number, body))
        for number in unbound(body, refs)
    ]


def unbound(body: str, refs: tuple[str, ...]) -> list[numbers.Number]:
    """The same as numbers, with their places in the body.

    Args:
        body: The page with front matter and fences blanked (``prose.body``).
        refs: Versions and citations, whose numbers are no figures.

    Example:
        >>> [number.text for number in unbound("0.5 of `0.25`, as 1+1=2", ())]
        ['0.5']
    """
    text = plain(body, refs)
    found = list(numbers.find(text))
    for start, end in _tables(body):
        found += [
            numbers.Number(start + n.start, start + n.end, n.text, n.form)
            for n in numbers.find(text[start:end], counts=True)
            if n.form == "a number in a table"
        ]
    return [
        number
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


def _name(number: numbers.Number, body: str) -> str | None:
    """What stands before a number as its name, as TRL in TRL 0.20."""
    name = NAMED.search(body, 0, number.start)
    return name[1] if name else None


def _ref(number: numbers.Number, name: str | None) -> str:
    return f"{name or 'verl'} {number.text.removeprefix('v')}"


def _unbound(number: numbers.Number, path: str, line: int, name: str | None) -> Problem:
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
        ref = _ref(number, name)
        fix = f'add it to refs in the front matter, as in refs: ["{ref}"]'
        return Problem(path, line, number.text, "a version that refs knows", fix)
    digits = re.search(r"\d", number.text)
    shown = number.text if digits else "0.5"
    fix = f'write `{shown}`{{ data-is="expression" }}'
    if name and number.form == "a decimal":
        fix += f'; or, if it is a version, name it in refs: ["{_ref(number, name)}"]'
    return Problem(
        path,
        line,
        f"{number.text} ({number.form})",
        "every figure printed by a block or bound to an expression",
        fix if digits else f"put it in digits: {fix}",
    )
