"""What a page rests on: property tests, the dialogues, data, the published wheels."""

import ast
import re
from functools import lru_cache
from pathlib import Path

from site_tools.checks.shape import is_question
from site_tools.data import facts
from site_tools.data.dialogues import disagreements, read_dialogues
from site_tools.page.blocks import Kind
from site_tools.page.page import Page
from site_tools.page.prose import read_wrong_answers
from site_tools.say import Problem
from site_tools.site.lists import derived

WRITTEN = re.compile(r"\\label\{([^}]*)\}")
ID = re.compile(r"[a-z][a-z0-9-]*")


def check_identities(page: Page, root: Path) -> list[Problem]:
    """Every displayed formula of a page that lacks its id or its property test."""
    problems: list[Problem] = []
    taken: set[str] = set()
    tests = property_tests(root)
    for node in page.tree.select("div.arithmatex"):
        tex = node.get_text().strip()[2:-2]
        label, formula = WRITTEN.search(tex), WRITTEN.sub("", tex).strip()
        name = label[1] if label else ""
        test = f"test_{name.replace('-', '_')}"
        tested = tests.get(test, "")
        key = ""
        if not label:
            key = "identity_without_id"
        elif not ID.fullmatch(name):
            key = "identity_id"
        elif name in taken:
            key = "identity_twice"
        elif test not in tests:
            key = "identity_untested"
        elif _squeeze(formula) not in _squeeze(tested):
            key = "identity_other"
        if key:
            line = page.line_of(node, tex.strip().split("\n")[0])
            values = {"name": name, "test": test, "formula": formula, "tested": tested}
            values["written"] = label[0] if label else ""
            problems.append(page.problem(line, key, **values))
        taken.add(name)
    return problems


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


def check_answers(page: Page, root: Path) -> list[Problem]:
    """Where a question page disagrees with the dialogues, or hides a wrong answer."""
    if not is_question(page.id):
        return []
    _, problems = read_wrong_answers(page.body, page.fences, page.path)
    line = page.line_with("answers:") or 1
    wrong = disagreements(read_dialogues(root), {page.id: page.texts("answers")})
    homes = (page.problem(line, "answers_home", why=why) for why in wrong)
    return [*problems, *homes]


def check_lists(page: Page, root: Path) -> list[Problem]:
    """A problem for each fence whose list, table or facts cannot be made."""
    problems = []
    for block in page.blocks:
        if block.kind is Kind.DERIVED:
            name, attributes = block.fence.header
            try:
                lang = attributes.values.get("data-language", "")
                derived(name, block.text, lang, root)
            except ValueError as error:
                line, fence = block.fence.line, f"```{name} {block.text}"
                if block.lines and (lang or name == "fact"):
                    line = block.lines[0].page_line
                wrong = page.problem(line, "list_unmade", fence=fence, why=error)
                problems.append(wrong)
    return problems


def check_facts(root: Path, name: str) -> tuple[list[Problem], list[str]]:
    """What is wrong in a file of ``docs/facts``, and releases without their wheels."""
    problems, absent = list[Problem](), dict[str, None]()
    for entry in facts.concept(root, name).entries:
        wrong = facts.reread(entry, root / facts.WHEELS) if entry.checked else []
        if wrong is None:
            absent[entry.release] = None
        problems += wrong or []
    return problems, list(absent)
