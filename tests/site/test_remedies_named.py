"""Remedies that name what the contributor wrote."""

import pytest

from site_tools.contributing.github import annotation
from site_tools.contributing.talk import Talk
from site_tools.problems import Problem
from tests.site.sample import broken, page

NAMED = {
    "As TRL 1.12.0 does.": 'refs: ["TRL 1.12.0"]',
    "在 TRL 0.20 里。": 'name it in refs: ["TRL 0.20"]',
    "It is 1.12.0 now.": 'refs: ["verl 1.12.0"]',
}


@pytest.mark.parametrize(("prose", "fix"), NAMED.items())
def test_the_word_before_a_version_is_what_has_it(prose: str, fix: str) -> None:
    (problem,) = page(broken("*verl's default*: the same.", prose)).problems
    assert fix in problem.fix


def test_an_annotation_stands_at_the_snippet_and_its_title_ends_with_a_word() -> None:
    found = "word " * 20
    line = annotation(Problem("a.md", 3, found, "y", "z", "snippets/a/b.py:31"), Talk())
    assert line.startswith("::error file=snippets/a/b.py,line=31,title=word ")
    assert "word…::a.md:3 (snippets/a/b.py:31)%0A" in line
