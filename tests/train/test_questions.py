"""Questions are read from lines, and a score from a file; a slip in either is told."""

import json
import re
from pathlib import Path

import pytest

from ppo_ref.train.questions import read_questions
from ppo_ref.train.scores import is_file, score_named
from ppo_ref.train.tasks import Question

ASKED = Question("2+3=", "5")


def line(prompt: str, answer: object) -> str:
    return json.dumps({"prompt": prompt, "answer": answer})


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (line("1", ""), "answer must not be empty, got ''"),
        (line("1", " \n"), r"answer must not be empty, got ' \n'"),
        (line("2+3=", 6), "a prompt must have one answer, got '6' here and '5' in "),
        ('{"prompt": "1", "answer": 1, "answer": 2}', "must have each key once, got"),
        (line("\ud83d", "1"), r"prompt must be of whole characters, got '\ud83d'"),
        (line("1", "\ud83d"), r"answer must be of whole characters, got '\ud83d'"),
    ],
)
def test_a_line_that_is_refused_is_told_with_its_number(tmp_path, second, told):
    path = tmp_path / "asked.jsonl"
    path.write_text(f"{line(*ASKED)}\n{second}\n")
    with pytest.raises(ValueError) as refusal:
        read_questions(path)
    assert str(refusal.value).startswith(f"questions: {path}, line 2: {told}")


def test_a_question_may_stand_twice(tmp_path):
    path = tmp_path / "asked.jsonl"
    path.write_text(f"{line(*ASKED)}\n{line(ASKED.text, 5)}\n{line('😀', 1)}")
    asked = [line.question for line in read_questions(path)]
    assert asked == [ASKED, ASKED, Question("😀", "1")]
    assert read_questions(path)[1].place == f"{path}, line 2"


def score_of(body: str, folder: Path) -> str:
    path = folder / "score.py"
    path.write_text(body)
    return f"{path}:paid"


def test_a_score_that_ends_the_process_is_a_mistake_like_others(tmp_path):
    name = score_of("def paid(question, text):\n    raise SystemExit(3)", tmp_path)
    told = f"score: {name} must run, got SystemExit: 3 for the response '5' to '2+3='"
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        score_named(name)(ASKED, "5")
    name = score_of("raise SystemExit(3)", tmp_path)
    with pytest.raises(ValueError, match=r"score.py must run, got SystemExit: 3$"):
        score_named(name)


def test_ctrl_c_stops_a_score(tmp_path):
    name = score_of("def paid(*given):\n    raise KeyboardInterrupt", tmp_path)
    with pytest.raises(KeyboardInterrupt):
        score_named(name)(ASKED, "5")


@pytest.mark.parametrize("name", ["score.py:", ":paid", ":", "paid"])
def test_a_name_that_is_no_function_in_a_file(name):
    assert not is_file(name)
    with pytest.raises(ValueError, match=rf"or FILE.py:function, got {name}$"):
        score_named(name)
