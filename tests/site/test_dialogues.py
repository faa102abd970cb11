"""The 27 questions: each once, in order, each with one home that agrees."""

from pathlib import Path
from typing import Any

import pytest

from site_tools.checks.anatomy import LONGEST_ANSWER, length
from site_tools.checks.indexed import check_indexed
from site_tools.data import dialogues, topics
from site_tools.indexes import sources
from tests.site.rows import as_yaml
from tests.site.sample import broken, page

ROOT = Path(__file__).parents[2]
# From the editorial plan of the site: dialogue by dialogue, question by question.
HOMES = {
    "000": "critic/td_error contribute/dialogue_log",
    "001": "pipeline/token_rows critic/value_along_the_answer critic/regression_target "
    "alignment/value_includes_reward",
    "002": "pipeline/four_modules on_policy/surrogate on_policy/surrogate",
    "003": "on_policy/why_on_policy on_policy/epochs_and_mini_batches "
    "on_policy/epochs_and_mini_batches pipeline/actor_old_reference "
    "rewards/token_level_rewards gae/inputs",
    "004": "gae/inputs alignment/value_before_token gae/return_minus_value "
    "gae/return_minus_value gae/why_sum_deltas gae/token_excesses gae/variance "
    "bootstrap/meaning bootstrap/for_a_twelve_year_old bootstrap/meaning "
    "bootstrap/reach contribute/dialogue_log",
}
ROW = {"id": "004·1", "zh": "甲？", "en": "A?", "page": "gae/a"}
NEXT = ROW | {"id": "004·2", "page": "gae/b"}


def parsed(
    *rows: dict[str, Any], head: dict[str, Any] | None = None
) -> tuple[dialogues.Dialogue, ...]:
    item = {"id": "004", "zh": "路", "en": "A path", "questions": list(rows)}
    text = as_yaml([item | (head or {})])
    return dialogues.parse(text, ("gae", "critic"))


def test_each_of_the_27_questions_is_there_once_and_at_its_home() -> None:
    found = sources.dialogues(ROOT)
    homes = {d.id: " ".join(q.page for q in d.questions) for d in found}
    assert homes == HOMES
    assert [len(d.questions) for d in found] == [2, 4, 3, 6, 12]
    ids = [q.id for d in found for q in d.questions]
    assert len(ids) == len(set(ids)) == 27


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_all_of_them_are_answered(lang: str) -> None:
    answered = [q for a in sources.answers(ROOT, lang) for q in a.answers]
    asked = {q.id for d in sources.dialogues(ROOT) for q in d.questions}
    assert sorted(asked.intersection(answered)) == sorted(asked)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_page_agrees_with_the_dialogues(lang: str) -> None:
    said = {a.page: a.answers for a in sources.answers(ROOT, lang)}
    assert said
    assert dialogues.disagreements(sources.dialogues(ROOT), said) == []


def test_a_question_that_is_well_written_is_read() -> None:
    (dialogue,) = parsed(ROW, NEXT)
    assert [q.anchor for q in dialogue.questions] == ["q-004-1", "q-004-2"]
    assert dialogue.questions[1] == dialogues.Asked(**NEXT)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([ROW, ROW], "question 2: id must be 004·2, in order and each once, got 004·1"),
        ([NEXT], "question 1: id must be 004·1, in order and each once, got 004·2"),
        ([ROW | {"id": "4·1"}], "question 1: id must be dialogue·number like 004·2"),
        (
            [ROW | {"page": "gea/a"}],
            "question 1: page must lie in gae, critic, got gea/a",
        ),
        ([ROW | {"page": "gae"}], "question 1: page must be a page id like gae/inputs"),
        ([ROW | {"en": ""}], "question 1: en must be text on one line, got ''"),
        ([ROW | {"en": "Is it 0.5?"}], "question 1: en must hold no figure, got 0.5"),
        ([ROW | {"zh": "$0.5$？"}], "question 1: zh must hold no figure, got 0.5"),
        (
            [ROW | {"page ": "x"}],
            "question 1: page  does not belong here; write en, id",
        ),
        ([{"id": "004·1"}], "question 1: en is missing; write en, id, page, zh"),
        (["004·1"], "question 1: must have the fields en, id, page, zh, got '004·1'"),
        ([], "questions must be a list, not empty"),
    ],
)
def test_a_faulty_question_is_named(rows: list[Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        parsed(*rows)
    assert str(refusal.value).startswith("dialogues.yml, dialogue 004")
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ({"id": "4"}, "dialogue 1: id must be three digits like 004, got '4'"),
        ({"pages": []}, "dialogue 1: pages does not belong here; write en, id, q"),
        ({"zh": "一半是 50%"}, "dialogue 004: zh must hold no figure, got 50%"),
    ],
)
def test_a_faulty_dialogue_is_named(head: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        parsed(ROW, head=head)
    assert message in str(refusal.value)


def test_a_dialogue_or_a_key_that_comes_twice_is_named() -> None:
    text = as_yaml([{"id": "004", "zh": "路", "en": "A", "questions": [ROW]}] * 2)
    with pytest.raises(ValueError, match="004: the id is taken by an earlier dialogue"):
        dialogues.parse(text, ("gae",))
    with pytest.raises(ValueError, match=r"must be YAML, .* key 'id' twice"):
        dialogues.parse('- id: "004"\n  id: "005"\n', ("gae",))
    with pytest.raises(ValueError, match="must be a list of dialogues"):
        dialogues.parse("id: x\n", ("gae",))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"critic/c": ["004·2"]},
            "critic/c: answers must not hold 004·2, whose home in docs/dialogues.yml "
            "is gae/b; change one of the two",
        ),
        ({"critic/c": ["004·3"]}, "critic/c: no dialogue asks 004·3; correct answers"),
        (
            {"gae/b": ["verl#1960"]},
            "gae/b: answers must hold 004·2, whose home it is in docs/dialogues.yml, "
            "got ['verl#1960']",
        ),
    ],
)
def test_homes_agree_in_both_directions(said: dict[str, Any], message: str) -> None:
    found = parsed(ROW, NEXT)
    agreeing = {"gae/a": ["004·1"], "gae/b": ["004·2", "verl#1960"]}
    assert dialogues.disagreements(found, agreeing) == []
    assert dialogues.disagreements(found, agreeing | said) == [message]


def test_the_check_of_a_page_names_the_line_of_its_answers() -> None:
    entry = '### "Two" { #wrong-two }\n\n!!! quote "001·4"'
    text = broken('!!! quote "001·4"', entry)
    assert check_indexed(page(text, name="value_before_token"), ROOT) == []
    (problem,) = check_indexed(page(text), ROOT)
    assert (problem.path, problem.line) == ("docs/en/alignment/sample.md", 5)
    assert problem.found.startswith("alignment/sample: answers must not hold 004·2")
    assert check_indexed(page(text, name="index"), ROOT) == []


def test_every_topic_has_a_sentence_as_short_as_an_answer() -> None:
    found = sources.topics(ROOT)
    assert " ".join(found) == (
        "pipeline rewards alignment bootstrap gae critic on_policy contribute"
    )
    for topic in found.values():
        assert length(topic.zh, "zh") <= LONGEST_ANSWER["zh"], topic.id
        assert length(topic.en, "en") <= LONGEST_ANSWER["en"], topic.id


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {id: gae, zh: 甲, en: A, mean: b}", "topics.yml, row 1: mean does not bel"),
        (
            "- {id: gae, zh: 甲, en: It is 0.5}",
            "row 1: en must hold no figure, got 0.5",
        ),
        ("- {id: gea, zh: 甲, en: A}", r"id must be in order \['gae'\], got \['gea'\]"),
        ("- gae", "topics.yml, row 1: must have the fields en, id, zh, got 'gae'"),
        (
            "- {id: gae, zh: 甲, en: A, picture: rewards/kl}",
            "row 1: picture must be a page of the topic gae, got 'rewards/kl'",
        ),
        ("gae: {}", "topics.yml: must be a list of topics '- id: gae'"),
    ],
)
def test_a_faulty_topic_is_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        topics.parse(text, ["gae"])
