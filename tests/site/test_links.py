"""Links between pages, read in the sources: dead ones are named with their line."""

import pytest

from site_tools.checks.links import anchors, broken, links
from tests.site.sample import EN, ROOT, line_of, page

KNOWN = {
    "alignment/sample.md": frozenset({"answer", "code"}),
    "reference/notation.md": frozenset({"symbols"}),
}


def dead(target: str) -> list[tuple[int, str]]:
    text = EN.replace("../reference/notation.md", target)
    found = broken(links(page(text)), KNOWN)
    return [(problem.line, problem.found) for problem in found]


@pytest.mark.parametrize(
    "target",
    [
        "../reference/notation.md",
        "../reference/notation.md#symbols",
        "#answer",
        "sample.md#code",
        "https://example.org/x#y",
        "mailto:a@example.org",
        "../ppo_ref/kl.md#kl_k1",
    ],
)
def test_a_link_that_leads_somewhere_is_none_of_ours(target: str) -> None:
    assert dead(target) == []


@pytest.mark.parametrize(
    "target",
    ["notation.md", "../reference/notation.mdx", "../reference/notation.md#x", "#x"],
)
def test_a_dead_link_is_named_with_its_line(target: str) -> None:
    assert dead(target) == [(line_of("- [Notation]", EN), target)]


def test_anchors_are_headings_questions_and_formulas() -> None:
    found = anchors(page(), '<h2 id="answer">x</h2>')
    assert found == {"answer", "td-residual", "q-004-2"}
    assert ROOT.is_dir()
