"""Formulas: commands that are more than one, and identities that a test must state."""

import ast
import re
from functools import lru_cache
from pathlib import Path

from site_tools.messages import Problems
from site_tools.page.page import Page
from site_tools.page.tree import formula_of

# The id of a displayed formula.
FORMULA_ID = re.compile(r"\\label\{([^}]*)\}")
ID_FORM = re.compile(r"[a-z][a-z0-9-]*")
# What would be a link, a picture, or HTML in a formula; KaTeX does not obey these.
REFUSED_COMMANDS = re.compile(
    r"\\(?:href|url|includegraphics|html[A-Z][a-z]+)(?![A-Za-z])"
)


def check_commands(page: Page) -> Problems:
    """Commands of formulas that are more than a formula."""
    for node in page.tree.select(".arithmatex"):
        for name in REFUSED_COMMANDS.findall(node.get_text()):
            line = page.line_near(name, page.line_of(node))
            yield page.problem(line, "formula_command", name=name)


def check_identities(page: Page) -> Problems:
    """Every displayed formula of a page that lacks its id or its property test."""
    taken: set[str] = set()
    for node in page.tree.select("div.arithmatex"):
        tex = formula_of(node)
        line = page.line_near(tex, page.line_of(node))
        formula = FORMULA_ID.sub("", tex).strip()
        label = FORMULA_ID.search(tex)
        if label is None:
            yield page.problem(line, "identity_without_id", formula=formula)
            continue
        name = label[1]
        if not ID_FORM.fullmatch(name):
            yield page.problem(line, "identity_id", written=label[0])
        elif name in taken:
            yield page.problem(line, "identity_twice", name=name)
        else:
            yield from _proved(page, line, name, formula)
        taken.add(name)


def _proved(page: Page, line: int, name: str, formula: str) -> Problems:
    """The problem of a formula that its property test does not state."""
    test = f"test_{name.replace('-', '_')}"
    tested = property_tests(page.root).get(test)
    values = {"name": name, "test": test, "formula": formula}
    if tested is None:
        yield page.problem(line, "identity_untested", **values)
    elif _squeeze(formula) not in _squeeze(tested):
        yield page.problem(line, "identity_other", tested=tested, **values)


def _squeeze(tex: str) -> str:
    return "".join(tex.split())


@lru_cache(maxsize=1)
def property_tests(root: Path) -> dict[str, str]:
    """Docstrings of the test functions in ``tests/properties``, by name."""
    found = {}
    for file in (root / "tests" / "properties").rglob("test_*.py"):
        module = ast.parse(file.read_text("utf-8"))
        for node in module.body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = ast.get_docstring(node, clean=False) or ""
    return found
