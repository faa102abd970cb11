"""The 27 questions: each once, in order, each with one home that agrees."""

from pathlib import Path
from typing import Any

import pytest

from site_tools.compile import navigation
from site_tools.data import dialogues, threads, topics
from site_tools.data.topics import read_topics
from site_tools.judge.front_matter import check_answers
from tests.layout import ROOT
from tests.site.rows import as_yaml
from tests.site.sample import broken, page
from tests.site.trial_site import write_files

pytestmark = pytest.mark.pages

ROW = {"id": "004·1", "zh": "甲？", "en": "A?", "page": "gae/a"}
NEXT = ROW | {"id": "004·2", "page": "gae/b"}


def dialogue(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"id": "004", "zh": "路", "en": "A path", "questions": [*rows]}


def read(root: Path, *rows: dict[str, Any]) -> tuple[dialogues.Dialogue, ...]:
    write_files(root, {dialogues.DIALOGUES_FILE: as_yaml([*rows])})
    return dialogues.read_dialogues(root)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_all_of_them_are_answered(lang):
    answered = [q for a in navigation.answers(ROOT, lang) for q in a.answers]
    asked = {q.id for d in dialogues.read_dialogues(ROOT) for q in d.questions}
    assert sorted(asked.intersection(answered)) == sorted(asked)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_page_agrees_with_the_dialogues(lang):
    said = {a.page: a.answers for a in navigation.answers(ROOT, lang)}
    assert said
    assert dialogues.disagreements(dialogues.read_dialogues(ROOT), said) == []


@pytest.mark.parametrize(
    "said",
    [{"critic/c": ["004·2"]}, {"critic/c": ["004·3"]}, {"gae/b": ["verl#1960"]}],
)
def test_homes_agree_in_both_directions(tmp_path, said):
    found = read(tmp_path, dialogue(ROW, NEXT))
    agreeing = {"gae/a": ["004·1"], "gae/b": ["004·2", "verl#1960"]}
    assert dialogues.disagreements(found, agreeing) == []
    (told,) = dialogues.disagreements(found, agreeing | said)
    assert str(told).startswith(f"{next(iter(said))}: answers must hold the questions")


def test_the_check_of_a_page_names_the_line_of_its_answers():
    entry = '### "Two" { #wrong-two }\n\n!!! quote "001·4"'
    text = broken('!!! quote "001·4"', entry)
    assert [*check_answers(page(text, name="value_before_token"))] == []
    (problem,) = check_answers(page(text))
    assert (problem.path, problem.line) == ("docs/en/alignment/sample.md", 5)
    assert problem.found.startswith("alignment/sample: answers must hold the questions")


def test_topics_come_in_the_order_in_which_data_flows(tmp_path):
    write_files(tmp_path, {topics.TOPICS_FILE: "- {id: gae, zh: [甲], en: [A]}"})
    order = "id must be in the order pipeline, rewards, alignment, .*, got gae"
    with pytest.raises(ValueError, match=order):
        read_topics(tmp_path)


def test_a_question_out_of_order_is_named(tmp_path):
    due = (
        r"docs/dialogues\.yml:\d+: id must be 004·2, in order and each once, got 004·1"
    )
    with pytest.raises(ValueError, match=due):
        read(tmp_path, dialogue(ROW, ROW))
    with pytest.raises(ValueError, match="page must lie in one of pipeline, rewards"):
        read(tmp_path, dialogue(ROW | {"page": "gea/a"}))


@pytest.mark.parametrize(
    ("thread", "repository", "name"),
    [
        ("volcengine/verl#17", "volcengine/verl", "verl#17"),
        ("pytorch/rl#17", "pytorch/rl", "pytorch/rl#17"),  # RL is the name of many
        ("A post", "", "A post"),
    ],
)
def test_a_thread_is_called_as_people_write_it(thread, repository, name):
    known = threads.Thread(thread=thread, lang="en", en="Why?")
    assert (known.repository, known.name) == (repository, name)
    issue = f"https://github.com/{repository}/issues/17" if repository else ""
    assert known.address == issue
