"""Fences: every spelling that Material accepts is accounted for, or an error."""

import pytest

from site_tools.judge import census
from site_tools.judge.census import check_boxes, check_collected
from site_tools.messages import Problem, problem
from site_tools.page.rendered import parse_shown
from site_tools.source.includes import resolve_includes
from tests import pages
from tests.pages import PageDocument, fences
from tests.site.sample import ROOT, shown_tree

TOP = "---\ntitle: Census\n---\n\n"

RUNS = {
    "plain": "```python\nprint(1)\n```\n",
    "all options": '```python title="x" hl_lines="1" linenums="1"\nprint(1)\n```\n',
    "blank before braces": "``` { .python .cont }\nprint(1)\n```\n",
    "braces without blanks": "```{.python}\nprint(1)\n```\n",
    "language and braces": "```python { .cont }\nprint(1)\n```\n",
    "Python": "```Python\nprint(1)\n```\n",
    "tildes": "~~~python\nprint(1)\n~~~\n",
    "list": "- item\n\n    ```python\n    print(1)\n    ```\n",
    "quote": "> ```python\n> print(1)\n> ```\n",
    "admonition": "!!! note\n\n    ```python\n    print(1)\n    ```\n",
    "tab": '=== "A"\n\n    ```python\n    print(1)\n    ```\n',
    "footnote": "Text[^1].\n\n[^1]: Note.\n\n    ```python\n    print(1)\n    ```\n",
    "no blank lines around": "Text\n```python\nprint(1)\n```\nText\n",
}
SHOWN = {
    "fence inside a longer fence": "````markdown\n```python\nprint(1)\n```\n````\n",
    "text": "```text\nprint(1)\n```\n",
    "inline code": "Text ```python print(1)``` text\n",
}
# What contributors get wrong most is in tests/contributing/mistakes.yml.
REFUSED = {
    "raw HTML": ("<pre><code>print(1)</code></pre>\n", 5, "not in a fence"),
    "unquoted option": ("```python hl_lines=1\nprint(1)\n```\n", 5, "hl_lines=1"),
    "title not closed": ('```python title="a\nprint(1)\n```\n', 5, "title=\"a'"),
    "second output": (
        "```python\nprint(1)\n```\n" + "\n```output\n1\n```\n" * 2,
        13,
        "an output fence that follows no running block",
    ),
    "include by lines": (
        '```python\n--8<-- "gae/inputs.py:3:5"\n```\n',
        6,
        '--8<-- "gae/inputs.py:3:5"',
    ),
    "body indented less": (
        "!!! note\n\n    ```python\n  print(1)\n    ```\n",
        7,
        "do not see as a code box",
    ),
}


def account(markdown: str) -> tuple[int, list[Problem]]:
    """How many fences Sybil will run, and what the three counts do not agree on."""
    document = PageDocument(TOP + markdown, str(ROOT / "docs/en/reference/census.md"))
    running = len(list(fences(document)))
    page = document.page
    problems = [*page.problems, *check_collected(page)]
    return running, [*problems, *check_boxes(page, shown_tree(page))]


@pytest.mark.parametrize("markdown", RUNS.values(), ids=RUNS.keys())
def test_every_spelling_of_python_runs(markdown):
    assert account(markdown) == (1, [])


@pytest.mark.parametrize("markdown", SHOWN.values(), ids=SHOWN.keys())
def test_what_is_only_shown_does_not_run(markdown):
    assert account(markdown) == (0, [])


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_everything_else_is_an_error_with_its_line(case):
    markdown, line, found = case
    _, problems = account(markdown)
    assert any(p.line == line and found in str(p) for p in problems), problems
    assert all(problem.fix for problem in problems)


def test_a_fence_that_only_one_lexer_sees_is_an_error(monkeypatch):
    document = PageDocument(TOP + RUNS["plain"], str(ROOT / "docs/en/reference/c.md"))
    monkeypatch.setattr(census, "collect", lambda text: [])
    (problem,) = check_collected(document.page)
    assert problem.line == 5
    assert "Sybil" in problem.expected
    (problem,) = check_boxes(document.page, parse_shown("<p>no box</p>"))
    assert problem.found == "a fence that readers do not see as a code box"
    other = parse_shown("<pre><code>print(2)</code></pre>")
    (problem,) = check_boxes(document.page, other)
    assert problem.found == "readers see\nprint(2)"


def test_a_page_that_no_example_comes_from_stops_the_run(pytestconfig, monkeypatch):
    monkeypatch.setattr(pytestconfig, "args", ["tests", "docs"])
    with pytest.raises(pytest.UsageError, match=r"collected from: \['docs/en/"):
        pages.pytest_collection_modifyitems(pytestconfig, [])


SNIPPET = """import math

# --8<-- [start:area]
def area(r):
    # --8<-- [start:body]
    return math.pi * r**2
    # --8<-- [end:body]
# --8<-- [end:area]
"""


def test_an_include_keeps_the_origin_of_each_line(tmp_path):
    (tmp_path / "snippets").mkdir()
    (tmp_path / "snippets" / "area.py").write_text(SNIPPET)
    include = ("x = 1", '--8<-- "area.py:area"', '--8<-- "area.py:body"')
    assert resolve_includes(include, 10, tmp_path / "snippets") == [
        ("x = 1", 10, None),
        ("def area(r):", 11, "snippets/area.py:4"),
        ("    return math.pi * r**2", 11, "snippets/area.py:6"),
        ("return math.pi * r**2", 12, "snippets/area.py:6"),
    ]


def test_a_problem_shows_place_found_expected_and_fix():
    said, snippet = {"found": "a\nb", "due": "c"}, "snippets/x.py:5"
    shown = str(problem("docs/en/x.md", 3, "log_marker", snippet=snippet, **said))
    assert shown.startswith(
        "docs/en/x.md:3 (snippets/x.py:5)\n"
        "  found:\n    a\n    b\n  expected: c\n  fix:      write c "
    )
