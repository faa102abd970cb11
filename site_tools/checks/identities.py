"""Displayed identities: each has an id, and a property test named after it."""

import ast
import re
from functools import lru_cache
from pathlib import Path

from site_tools.problems import Problem
from site_tools.source.page import Page
from site_tools.source.prose import line_of, parts

LABEL = re.compile(r"\\label\{([a-z][a-z0-9-]*)\}")


def check_identities(page: Page, root: Path) -> list[Problem]:
    """Every displayed formula of a page that lacks its id or its property test.

    Args:
        page: The page.
        root: The project's folder; the tests are read from ``tests/properties``.
    """
    problems: list[Problem] = []
    seen: set[str] = set()
    for part in parts(page.body):
        if part.kind != "display":
            continue
        line = line_of(page.body, part.start)
        label = LABEL.search(part.text)
        name = label[1] if label else ""
        if not name or name in seen:
            found = f"a displayed formula without an id of its own: {name or 'none'}"
            fix = r"add \label{td-residual}, an id used once on the page"
            problems.append(Problem(page.path, line, found, r"\label{...}", fix))
        elif f"test_{name.replace('-', '_')}" not in property_tests(root):
            wanted = f"def test_{name.replace('-', '_')} in tests/properties"
            fix = "write that test: the identity over random batches in float64"
            found = f"identity {name} without a property test"
            problems.append(Problem(page.path, line, found, wanted, fix))
        seen.add(name)
    return problems


@lru_cache(maxsize=1)
def property_tests(root: Path) -> frozenset[str]:
    """Names of the test functions in ``tests/properties``."""
    return frozenset(
        node.name
        for file in (root / "tests" / "properties").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    )
