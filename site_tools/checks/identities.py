"""Displayed identities: each has an id, and a property test named after it."""

import ast
import re
from functools import lru_cache
from pathlib import Path

from site_tools.page.page import Page
from site_tools.page.prose import line_of, parts
from site_tools.problems import Problem

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
            written = re.search(r"\\label\{[^}]*\}", part.text)
            found = "a displayed formula without an id"
            if name in seen:
                found = f"{name}, the id of a formula above"
            elif written:
                found = f"{written[0]}, which is no id"
            fix = r"add \label{your-id}: lower case and hyphens, once on the page"
            problems.append(Problem(page.path, line, found, r"\label{...}", fix))
        else:
            problems += _untested(page, line, name, part.text, property_tests(root))
        seen.add(name)
    return problems


def _untested(
    page: Page, line: int, name: str, tex: str, tests: dict[str, str]
) -> list[Problem]:
    test = f"test_{name.replace('-', '_')}"
    if test not in tests:
        wanted = f"def {test} in tests/properties"
        fix = "write that test: the identity over random batches in float64"
        found = f"identity {name} without a property test"
        return [Problem(page.path, line, found, wanted, fix)]
    formula = LABEL.sub("", tex)
    if _squeeze(formula) in _squeeze(tests[test]):
        return []
    fix = f"write the formula into the docstring of {test}, if that is what it tests"
    wanted = f"the formula that {test} tests: {tests[test] or 'no docstring'}"
    return [Problem(page.path, line, formula.strip(), wanted, fix)]


def _squeeze(tex: str) -> str:
    return "".join(tex.split())


@lru_cache(maxsize=1)
def property_tests(root: Path) -> dict[str, str]:
    """Docstrings of the test functions in ``tests/properties``, by name."""
    return {
        node.name: ast.get_docstring(node, clean=False) or ""
        for file in (root / "tests" / "properties").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
