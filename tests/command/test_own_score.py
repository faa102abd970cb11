"""A score and a question of one's own: what is told of them, and how to go on."""

import shlex
import time
from pathlib import Path

import pytest

from ppo_ref.command import train as train_module
from ppo_ref.command import waiting
from ppo_ref.command.terminal import reason_of
from ppo_ref.command.waiting import told_if_slow
from ppo_ref.train.tasks import Question
from tests.command.runs import SMALL, TO_GO_ON, train
from tests.command.test_run import interrupted


@pytest.fixture
def own(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    code = "def paid(question, text):\n    return 0.25\n\nnever = paid\n"
    (tmp_path / "my score.py").write_text(code)
    return tmp_path


@pytest.mark.parametrize("times", [1, 2])
def test_the_command_to_go_on_names_the_score(own, capsys, monkeypatch, times):
    given = "--score", "my score.py:paid", "--held-out-score", "my score.py:never"
    with monkeypatch.context() as patch:
        patch.setattr(train_module, "Progress", interrupted(5, times))
        assert train(*SMALL, *given, "--out", "my run") == 130
    said = capsys.readouterr()
    (told,) = [x for x in (said.out + said.err).splitlines() if "go on by: " in x]
    command = shlex.split(told.partition("go on by: ")[2])
    assert command[:6] == [*TO_GO_ON.split(), "my run"]
    assert command[6:8] == ["--score", f"{own}/my score.py:paid"]
    assert train(*command[4:]) == 0


def test_another_score_than_that_of_the_run(own, capsys):
    assert train(*SMALL, "--score", "my score.py:paid", "--out", "run") == 0
    capsys.readouterr()
    say = f"--score '{own}/my score.py:paid'\n"
    assert train("--resume", "run") == 2
    assert f"if you trust it, say so by {say}" in capsys.readouterr().err
    assert train("--resume", "run", "--score", "my score.py:never") == 2
    told = f"--score must be the score of the run, got {own}/my score.py:never; say "
    assert told + say in capsys.readouterr().err


def test_all_samples_that_are_asked_for_are_shown(own, capsys):
    given = "--samples", 12, "--checkpoint-seconds", 9, "--out", "run"
    assert train(*SMALL, *given) == 2
    said = capsys.readouterr()
    assert said.out.count(" -> ") == 12
    *before, removed, refused = said.err.splitlines()
    assert before[0] == "The run is written into run"
    assert removed == "run is removed again: it held no checkpoint yet"
    assert "0 of 12 sampled answers are right" in refused
    assert not (own / "run").exists()


def test_a_score_that_takes_long_is_told_once(monkeypatch, capsys):
    monkeypatch.setattr(waiting, "PATIENCE", 0.01)

    def slow(question: Question, response: str) -> float:
        time.sleep(0.2)
        return 0.5

    score = told_if_slow("score.py:paid", slow)
    asked = Question("2+3=", "5")
    assert [score(asked, "5"), score(asked, "6")] == [0.5, 0.5]
    assert capsys.readouterr().err.count("waiting for score.py:paid, 0.01 s") == 1
    monkeypatch.setattr(waiting, "PATIENCE", 60)
    assert told_if_slow("score.py:paid", slow)(asked, "5") == 0.5
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("encode: text must be known", "text must be known"),
        ("runs/1, line 2: answer: none", "runs/1, line 2: answer: none"),
        ("--ask must be short, got: x", "--ask must be short, got: x"),
    ],
)
def test_the_function_that_refuses_is_not_told(told, said):
    assert reason_of(ValueError(told)) == said
