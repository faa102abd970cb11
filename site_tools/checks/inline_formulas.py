r"""Formulas in a line that compute: each is part of one that a property test proves.

A displayed formula opens the docstring of its test (``identities``). What else a line
may claim stands there on a line of its own: ``In a line: $R_t = \hat A_t + V(s_t)$``.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from site_tools.checks.identities import property_tests
from site_tools.page.page import Page
from site_tools.page.prose import HEADING, Part, line_of, parts
from site_tools.page.tex import computes, contains, normal
from site_tools.page.wrong_answers import PREFIX
from site_tools.problems import Problem

IN_A_LINE = re.compile(r"In a line:\s+(\$[^$]+\$(?:,\s+\$[^$]+\$)*)")
EXPECTED = "part of a displayed formula, or in the docstring of a property test"


def check_inline_formulas(page: Page, root: Path) -> list[Problem]:
    """Every formula in a line that computes and that no property test has.

    Args:
        page: The page.
        root: The project's folder; the tests are read from ``tests/properties``.
    """
    problems = []
    for part in stated(page):
        if computes(part.text) and not proved(part.text, root):
            line, found = line_of(page.body, part.start), f"${part.text}$"
            fix = f"write into the docstring of a test of it: In a line: {found}"
            problems.append(Problem(page.path, line, found, EXPECTED, fix))
    return problems


def stated(page: Page) -> Iterator[Part]:
    """The formulas in lines that the page itself says, not those it quotes or refutes.

    Args:
        page: The page; what heads a wrong answer is refuted.
    """
    found = parts(page.body)
    aside = [(part.start, part.end) for part in found if part.kind == "quote"]
    aside += [
        heading.span()
        for heading in HEADING.finditer(page.body)
        if (heading["id"] or "").startswith(PREFIX)
    ]
    for part in found:
        inside = any(start <= part.start < end for start, end in aside)
        if part.kind == "inline" and not inside:
            yield part


def proved(tex: str, root: Path) -> bool:
    """Whether a formula is part of one that a property test proves.

    Args:
        tex: The formula, without dollar signs.
        root: The project's folder.
    """
    return any(contains(formula, tex) for formula in _proved(root))


@lru_cache(maxsize=1)
def _proved(root: Path) -> tuple[str, ...]:
    return tuple(
        normal(tex)
        for docstring in property_tests(root).values()
        for tex in formulas(docstring)
    )


def formulas(docstring: str) -> Iterator[str]:
    r"""The formulas of a docstring: the one it opens with, and those in lines.

    Args:
        docstring: Of a property test.

    Example:
        >>> [*formulas("\\delta_t = 0\n\n  For all t.\n\n  In a line: $a$, $b + c$")]
        ['\\delta_t = 0', 'a', 'b + c']
    """
    first = docstring.strip().split("\n\n")[0]
    if "\\" in first and not IN_A_LINE.search(first):
        yield first
    for match in IN_A_LINE.finditer(docstring):
        yield from re.findall(r"\$([^$]+)\$", match[1])
