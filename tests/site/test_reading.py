"""How the fences of a page are read: attributes, info strings, includes."""

import re
from pathlib import Path

import pytest

from site_tools.page.blocks import resolve
from site_tools.say import Refusal, problem
from tests.site.sample import broken, line_of, page

SNIPPET = """import math

# --8<-- [start:area]
def area(r):
    # --8<-- [start:body]
    return math.pi * r**2
    # --8<-- [end:body]
# --8<-- [end:area]
"""


@pytest.fixture
def snippets(tmp_path: Path) -> Path:
    folder = tmp_path / "snippets"
    (folder / "topic").mkdir(parents=True)
    (folder / "topic" / "area.py").write_text(SNIPPET)
    return folder


def test_an_include_keeps_the_origin_of_each_line(snippets):
    lines = resolve(("x = 1", '--8<-- "topic/area.py:area"'), 10, snippets)
    assert [(line.text, line.page_line, line.snippet) for line in lines] == [
        ("x = 1", 10, None),
        ("def area(r):", 11, "snippets/topic/area.py:4"),
        ("    return math.pi * r**2", 11, "snippets/topic/area.py:6"),
    ]
    (inner,) = resolve(('--8<-- "topic/area.py:body"',), 1, snippets)
    assert (inner.text, inner.snippet) == (
        "return math.pi * r**2",
        "snippets/topic/area.py:6",
    )


def test_a_section_must_begin_and_end_once(snippets):
    area = snippets / "topic" / "area.py"
    area.write_text(SNIPPET.replace("[end:area]", ""))
    with pytest.raises(
        Refusal, match=r"area begins at snippets/topic/area.py:3 and never ends"
    ) as refusal:
        resolve(('--8<-- "topic/area.py:area"',), 1, snippets)
    assert refusal.value.message.values["line"] == 1


@pytest.mark.parametrize(
    ("include", "reason"),
    [
        (
            '--8<-- "topic/area.py:volume"',
            "volume of topic/area.py, which has no line",
        ),
        ('--8<-- "topic/none.py"', "topic/none.py, which is not there"),
        ('--8<-- "topic/area.py:3:5"', '--8<-- "topic/area.py:3:5"'),
    ],
)
def test_an_include_that_fails_names_its_line(snippets, include, reason):
    with pytest.raises(Refusal, match=re.escape(reason)) as refusal:
        resolve((include,), 7, snippets)
    assert refusal.value.message.values["line"] == 7


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("```output\ntotal 2", "Prose.\n\n```output\ntotal 2", "prose between"),
        ("```python\n", "```text\n", "an output fence that follows no running block"),
        ("total 2\n```\n", "total 2\n```\n\n```output\n2\n```\n", "follows no running"),
        ("```python\n", "```{ .python .norun }\n", "without a reason"),
        ("```python\n", "```{ .python .gpu }\n", "class .gpu on code that runs"),
        ("```python\n", '```python title="a\n', "info string 'python title=\"a'"),
    ],
)
def test_a_fence_that_cannot_be_placed_is_named(old, new, found):
    problems = page(broken(old, new)).problems
    assert [p for p in problems if found in p.found and p.fix], problems


def test_a_block_with_a_reason_is_shown_and_not_run():
    text = '```{ .python .norun data-reason="needs four GPUs" }\nx = 1\n```\n'
    (block,) = page("---\nquestion: q\n---\n\n" + text).blocks
    assert (block.runs, block.reason) == (False, "needs four GPUs")


def test_a_picture_that_is_not_there_is_named():
    text = broken("*verl's default*: the same.", "*verl's*.\n\n![a fence](none.svg)")
    (problem,) = page(text).problems
    assert problem.line == line_of("![a fence]", text)
    assert problem.expected == "a picture at snippets/alignment/none.svg"


def test_a_problem_shows_place_found_expected_and_fix():
    said, snippet = {"found": "a\nb", "due": "c"}, "snippets/x.py:5"
    shown = str(problem("docs/en/x.md", 3, "log_marker", snippet=snippet, **said))
    assert shown.startswith(
        "docs/en/x.md:3 (snippets/x.py:5)\n"
        "  found:\n    a\n    b\n  expected: c\n  fix:      write c "
    )
