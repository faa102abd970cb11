"""Who asks what a page has answered is led there; who asks something new is not."""

from pathlib import Path

import pytest
import yaml

from site_tools.contributing.likeness import answering, search, wordings
from site_tools.contributing.new import PAGES_SHOWN
from tests.layout import ROOT

GOLDEN = yaml.safe_load(Path(__file__).with_name("paraphrases.yml").read_text("utf-8"))
ASKED = [(q, page) for page, some in GOLDEN["answered"].items() for q in some]


@pytest.fixture(scope="module")
def whole() -> dict[str, list[str]]:
    return wordings(ROOT)


@pytest.fixture(scope="module")
def pages(whole: dict[str, list[str]]) -> dict[str, list[str]]:
    """Those of the golden file: one that is added disturbs nothing."""
    return {page: whole[page] for page in GOLDEN["answered"]}


def test_nearly_every_paraphrase_finds_its_page_among_three(pages):
    nearest = search(pages)
    lost = [q for q, page in ASKED if page not in [k[0] for k in nearest(q)[:3]]]
    assert len(ASKED) > 60 and len(lost) <= 5, lost


def test_nearly_every_public_question_is_answered_by_one_that_is_shown(whole):
    nearest = search(whole)
    lost = [
        q
        for page, some in GOLDEN["public"].items()
        for q in some
        if page not in [k.page.partition("#")[0] for k in nearest(q)[:PAGES_SHOWN]]
    ]
    assert sum(map(len, GOLDEN["public"].values())) == 36 and len(lost) <= 5, lost


def test_of_what_is_new_nothing_is_claimed(pages):
    nearest = search(pages)
    claimed = [q for q in GOLDEN["new"] if answering(nearest(q))]
    assert len(GOLDEN["new"]) > 20 and claimed == []


@pytest.mark.parametrize(
    ("asked", "section"),
    [
        ("vf_explained_var is negative, is my critic broken?", "explained-variance"),
        ("explained variance 是负的，critic 坏了吗？", "explained-variance"),
        ("grad_norm jumps, what should I check?", "grad-norm"),
        ("rollout 和训练概率不一致", "mismatch"),
    ],
)
def test_a_symptom_leads_to_its_section(whole, asked, section):
    assert answering(search(whole)(asked))[0].page == f"debug/symptoms#{section}"


def test_all_wordings_are_searched_and_no_index(whole):
    deltas = whole["gae/why_sum_deltas"]
    assert "Why is one TD error not yet the advantage?" in deltas  # the question
    assert "algorithm.lam 设成 0 会怎样？" in deltas  # an alias, in the other language
    assert (
        '"GAE\'s weighted average has less variance than TD(0)"' in deltas
    )  # a wrong answer
    assert any("我没能理解" in text for text in deltas)  # as the dialogue asked
    assert not {"index", "gae/index"} & whole.keys()
