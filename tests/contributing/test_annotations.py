"""What GitHub shows beside the lines of a pull request."""

from site_tools.contributing.github import annotation
from site_tools.contributing.talk import Talk
from site_tools.problems import Problem


def test_an_annotation_stands_at_the_snippet_and_its_title_ends_with_a_word() -> None:
    found = "word " * 20
    line = annotation(Problem("a.md", 3, found, "y", "z", "snippets/a/b.py:31"), Talk())
    assert line.startswith("::error file=snippets/a/b.py,line=31,title=word ")
    assert "word…::a.md:3 (snippets/a/b.py:31)%0A" in line
