"""A question and an alias belong to one page; what a page answers is known."""

import shutil
from pathlib import Path

import pytest

from site_tools.judge.claims import check_claims
from site_tools.judge.front_matter import check_answers
from site_tools.page.page import read_page
from tests.layout import ROOT
from tests.site.sample import EN, broken

PATH = "docs/en/alignment/sample.md"
OTHER = "docs/en/gae/other.md"
OTHERS_WORDS = """---
question: Does the critic see EOS?
aliases: ["KL term: negative?", "a cliff, the score falls #score"]
---
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """With another page, and the dialogues and threads of the project."""
    (tmp_path / OTHER).parent.mkdir(parents=True)
    (tmp_path / OTHER).write_text(OTHERS_WORDS, "utf-8")
    for name in ("dialogues.yml", "threads.yml"):
        shutil.copy(ROOT / "docs" / name, tmp_path / "docs")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("Is two the sum?", "Does the critic see EOS?", "question"),
        ("Is two the sum?", "does the  Critic see EOS", "question"),
        ("Is two the sum?", "KL term negative", "question"),
        ("What is one and one?", "kl-term negative!", "aliases"),
        ("What is one and one?", "Does the critic see (EOS)?", "aliases"),
        ("What is one and one?", "the score falls #code", "aliases"),
    ],
)
def test_words_that_another_page_has_are_named(site, old, new, key):
    (told,) = check_claims(read_page(site, PATH, broken(old, new)))
    assert told.message.key == "claim_twice"
    assert f"({key})" in told.found and OTHER in told.found
    assert told.line == (2 if key == "question" else 3)


@pytest.mark.parametrize("alias", ["the critic sees EOS", "the score falls", "?!"])
def test_other_words_and_the_symptom_of_a_section_are_free(site, alias):
    text = broken("What is one and one?", alias)
    assert [*check_claims(read_page(site, PATH, text))] == []


def test_a_page_is_not_told_of_itself_nor_of_the_other_language(site):
    for path in (PATH, "docs/zh/alignment/sample.md"):
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(EN, "utf-8")
    assert [*check_claims(read_page(site, PATH))] == []


def test_a_change_of_the_other_page_is_seen(site):
    text = broken("What is one and one?", "entropy falls")
    assert [*check_claims(read_page(site, PATH, text))] == []
    (site / OTHER).write_text(OTHERS_WORDS.replace("KL term", "x"), "utf-8")
    assert [*check_claims(read_page(site, PATH, text))] == []
    words = OTHERS_WORDS.replace("KL term: negative?", "Entropy falls")
    (site / OTHER).write_text(words, "utf-8")
    assert len([*check_claims(read_page(site, PATH, text))]) == 1


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("verl#99999999", "verl#"),
        ("verl-project/verl#17588", "verl-project/verl#1758"),
        ("huggingface/trl#9255", "huggingface/trl#925"),
    ],
)
def test_a_thread_that_is_not_listed_is_named_with_the_nearest(site, name, near):
    text = broken('answers: ["004·2"]', f'answers: ["{name}", "verl#1758"]')
    problems = [*check_answers(read_page(site, PATH, text))]
    (told,) = [each for each in problems if each.message.key == "answers_thread"]
    assert name in told.found and near in told.fix


@pytest.mark.parametrize("name", ["verl#1758", "verl-project/verl#1758"])
def test_a_thread_is_named_shortly_or_by_its_repository(site, name):
    text = broken('answers: ["004·2"]', f'answers: ["{name}"]')
    problems = [*check_answers(read_page(site, PATH, text))]
    assert "answers_thread" not in [each.message.key for each in problems]
