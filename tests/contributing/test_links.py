"""Links between pages: dead ones, dead anchors, and ids that stand twice."""

import re
from pathlib import Path

import pytest

from site_tools.judge.links import check_links
from site_tools.messages import Problem
from site_tools.page.page import read_page
from tests.contributing.trial import EN, PATHS
from tests.site.sample import shown_tree


def check(root: Path, markdown: str) -> list[Problem]:
    page = read_page(root, PATHS[1], f"{EN}\n{markdown}\n")
    return [*check_links(page, shown_tree(page))]


SOUND = [
    "[a](../reference/notation.md) [b](../reference/glossary.md#advantage)",
    "[a](#why) [b](#td-residual) [c](sample.md#td-residual)",
    "[a](https://example.org/gone#x) [b](mailto:a@example.org)",
    "[a](other.md#q-001-1) [b](other.md#claim)",
    "[a](../ppo_ref/advantages.md#ppo_ref.advantages.gae) `ppo_ref.advantages.gae`",
    "`[a](gone.md)` [a][b]\n\n[b]: ../reference/notation.md",
    "```text\n[a](gone.md)\n```",
    "`torch.Tensor.clamp_`, `F.relu(x)`, `torch.ops.aten.add`, `torch.version.hip`",
    "`torch.utils.checkpoint.checkpoint(f)`, `ppo_ref.advantages.gae(x)`, `torch`",
    '!!! quote "001·4"\n\n    `torch.clampp`',
]


@pytest.fixture
def other(project: Path) -> Path:
    """Another page: an anchor from its answers, one from a list of attributes."""
    text = EN.replace("answers: []", 'answers: ["001·1"]') + "\nSaid.\n{ #claim }\n"
    (project / "docs/en/alignment/other.md").write_text(text, "utf-8")
    return project


@pytest.mark.parametrize("markdown", SOUND)
def test_links_that_lead_somewhere_are_left_alone(other, markdown):
    assert check(other, markdown) == []


DEAD = {
    "[a](../reference/notatoin.md)": "link to ../reference/notation.md, or",
    "[a](other.md#q-001-2)": "link to #q-001-1, or write { #q-001-2 } after",
    "[a](#whey)": "link to #why, or write { #whey } after the heading",
    "[a](../ppo_ref/advantages.md#ppo_ref.advantages.gea)": "ppo_ref.advantages.gae,",
    "[a][b]\n\n[b]: gone.md": "link to other.md",
}


@pytest.mark.parametrize(("markdown", "fix"), DEAD.items(), ids=DEAD.keys())
def test_a_dead_link_is_named_with_its_line_and_the_nearest(other, markdown, fix):
    (problem,) = check(other, markdown)
    assert fix in problem.fix
    first = EN.count("\n") + 2
    assert problem.line == first + markdown.count("\n")
    assert problem.found.removeprefix("a link to ") in markdown


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("torch.clampp", "torch.clamp"),
        ("F.softmaxx", "torch.nn.functional.softmax"),
        ("torch.Tensor.clampp", "torch.Tensor.clamp"),
        ("torch.classes.a.b", ""),  # raises what it likes
        ("ppo_ref.advantages.gaee", "ppo_ref.advantages.gae"),
    ],
)
def test_a_name_that_a_package_does_not_have_is_told(other, name, fix):
    (problem,) = check(other, f"One is `{name}(x)`.")
    assert problem.found == f"`{name}`" and f"write `{fix}" in problem.fix
    assert problem.line == EN.count("\n") + 2


def test_an_id_that_stands_twice_is_named(project):
    (problem,) = check(project, "A.\n{ #a }\n\nB.\n{ #a }")
    assert re.fullmatch(r"the id \S+ twice, first at line \d+", problem.found)
    assert problem.line == EN.count("\n") + 6
