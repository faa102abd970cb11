"""A model from a folder is taught, as the small network is, and resumed."""

import json
import re
from pathlib import Path

import pytest
import torch

from ppo_ref.batch import Rollout
from ppo_ref.command.session import weights_hash
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.pretrained import pretrained_actor, pretrained_tokenizer
from ppo_ref.train.trainer import Trainer
from tests.command.runs import SMALL, assert_same, train
from tests.pretrained.folders import pretrained, save

pytestmark = pretrained
FEW = {
    "warm_start_steps": 2,
    "warm_start_batch_size": 8,
    "batch_size": 32,
    "mini_batch_size": 16,
    "micro_batch_size": 16,
    "kl_coef": 0.0,
}


def shortness(questions: object, rollout: Rollout) -> torch.Tensor:
    return -rollout.response_mask.sum(1).float()


def trainer(folder, **options) -> Trainer:
    actor, tokenizer = pretrained_actor(folder), pretrained_tokenizer(folder)
    return Trainer(PPOConfig(**FEW | options), actor=actor, tokenizer=tokenizer)


def test_it_learns_what_is_rewarded_and_the_reference_stays(folders, monkeypatch):
    """The shorter the better: an end at once is the best answer."""
    run = trainer(folders["llama"], iterations=30, warm_start_steps=0, actor_lr=2e-2)
    monkeypatch.setattr(run, "_reward", lambda: shortness)
    frozen = weights_hash(run.models.reference)
    assert frozen == weights_hash(run.models.actor)
    iterations = list(run.train())
    scores = [iteration.statistics["score"] for iteration in iterations]
    assert scores[0] < -6 and scores[-1] > -2
    assert weights_hash(run.models.reference) == frozen
    assert weights_hash(run.models.actor) != frozen
    first, last = iterations[0].experience, iterations[-1].experience
    inside = first.rollout.response_mask
    assert torch.equal(first.old_log_probs[inside], first.ref_log_probs[inside])
    assert not torch.allclose(last.old_log_probs, last.ref_log_probs)
    assert first.values.abs().max() == 0 < last.values.abs().max()


def test_the_command_trains_and_resumes_it(tmp_path, monkeypatch, capsys):
    save(tmp_path / "model", "llama")
    monkeypatch.chdir(tmp_path)
    # Width, heads and layers are the model's own; no answer is right at first.
    sizes = *SMALL[6:], "--samples", 0
    assert train(*sizes, "--model", "model", "--out", "whole") == 0
    kept = json.loads((tmp_path / "whole/config.json").read_text())
    assert kept["settings"]["model"] == str(tmp_path / "model")
    line = (tmp_path / "whole/tokens.jsonl").read_text().splitlines()[0]
    tokens = json.loads(line)["response"]
    assert all(len(token) == 1 or re.fullmatch("<.*>", token) for token in tokens)

    assert train(*sizes, "--model", "model", "--out", "part") == 0
    (tmp_path / "part/checkpoint.pt").unlink()  # the one before is gone on from
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert train("--resume", tmp_path / "part") == 0
    assert_same(tmp_path / "part", tmp_path / "whole")

    (tmp_path / "model").rename(tmp_path / "gone")
    assert train("--resume", tmp_path / "part") == 2
    assert "--model must be a folder, got" in capsys.readouterr().err


QUESTIONS = [{"prompt": f"{a}+1=", "answer": str(a + 1)} for a in range(9)]
# Of questions of one's own; to pay every answer makes something right.
OWN = [
    *("--model", "model", "--questions", "asked.jsonl", "--prompt-template"),
    *("2+1=3？{prompt}", "--stop", "？", "--response-length", "9", "--held-out", "0.3"),
    *SMALL[10:],
]


@pytest.fixture
def own(folders, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").symlink_to(folders["llama"])
    lines = [json.dumps(question) for question in QUESTIONS]
    (tmp_path / "asked.jsonl").write_text("\n".join(lines))
    code = "def paid(question, text):\n    return 0.25\n"
    (tmp_path / "score.py").write_text(code)
    return tmp_path


def test_questions_and_a_score_of_ones_own(own, capsys):
    given = "--score", "score.py:paid", "--ask", "3+1=", "--out", "run"
    assert train(*OWN, *given) == 0
    said = capsys.readouterr()
    assert re.search(r"sampled answers: \d+ of 32 right, \d+ ended", said.out)
    assert re.search(r"(?m)^0\.25  '\d\+1=' -> ", said.out)
    assert re.search(r"'3\+1=': '.*' before, '.*' now", said.out)
    kept = json.loads((own / "run/config.json").read_text())
    assert kept["settings"]["score"] == f"{own}/score.py:paid"
    assert kept["files"].keys() == {f"{own}/asked.jsonl", f"{own}/score.py"}
    summary = json.loads((own / "run/summary.json").read_text())
    assert summary["asked"] == "3+1=" and summary["finished"]
    for line in (own / "run/tokens.jsonl").read_text().splitlines():
        record = json.loads(line)
        assert record["question"] in {q["prompt"] for q in QUESTIONS}
        assert record["score"] in (-1.0, -0.75)  # 0.25 of the way from -1 to 1, or -1


def test_where_no_answer_is_right_there_is_nothing_to_learn_from(own, capsys):
    assert train(*OWN, "--score", "exact", "--out", "run") == 2
    said = capsys.readouterr()
    assert "0 of 32 sampled answers are right: there is nothing to" in said.err
    assert said.out.count(" -> ") == 32 and not (own / "run").exists()
    assert train(*OWN, "--score", "exact", "--samples", 0, "--out", "run") == 0


def test_the_code_of_a_strangers_folder_is_not_run(own, capsys):
    given = "--score", "score.py:paid"
    assert train(*OWN, *given, "--out", "run") == 0
    code = (own / "score.py").read_text()
    capsys.readouterr()
    assert train("--resume", "run") == 2
    told = capsys.readouterr().err
    assert f"if you trust it, say so by --score {own}/score.py:paid" in told
    assert train("--resume", "run", "--score", "exact") == 2
    told = capsys.readouterr().err
    assert f"got exact; say --score {own}/score.py:paid\n" in told
    assert train("--resume", "run", *given) == 0
    (own / "score.py").write_text(f"open('ran', 'w')\n{code}")
    assert train("--resume", "run", *given) == 2
    told = capsys.readouterr().err
    assert "score.py must be as it was when the run was begun" in told
    assert not (own / "ran").exists()


def test_without_checkpoints_none_is_written_and_a_stop_is_the_end(own, capsys):
    given = "--score", "score.py:paid", "--checkpoint-share", 0, "--out", "run"
    assert train(*OWN, *given) == 0
    names = {path.name for path in (own / "run").iterdir()}
    assert not [name for name in names if "checkpoint" in name]
    assert {"summary.json", "statistics.jsonl"} <= names


@pytest.mark.parametrize(
    ("lines", "given", "told"),
    [
        ("", [], "asked.jsonl must hold a question, and is empty"),
        ("[1]", [], r"line 1: must be a JSON object, got '\[1\]'"),
        ('{"answer": 1}', [], "line 1: prompt must be a text, got none"),
        ('{"prompt": "1"}', [], "line 1: answer must be a text or a number, got none"),
        ('{"prompt": "1", "answer": 1}', [], "some held out, got 1 and 0"),
        (
            None,
            ["--held-out", "1.5"],
            "held_out must be a file or a share between 0 and 1, got",
        ),
        (None, ["--held-out", "no.jsonl"], "no.jsonl must be a file, and is not there"),
        (None, ["--held-out", "asked.jsonl"], "got '0\\+1=' in both"),
        (None, ["--score", "best"], "score must be one of .*, or FILE.py:func.*best"),
        (None, ["--score", "score.py:no"], "score.py must hold no, but holds paid"),
        (None, ["--score", "no.py:paid"], "no.py must be a file of Python, and is not"),
        (None, ["--prompt-template", "2"], "prompt_template must hold {prompt}, got"),
        (None, ["--warm-start-steps", 9], "warm_start_steps must be 0 with questions"),
        (
            '{"prompt": "1", "answer": "1"}\n{"prompt": "2", "answer": "("}',
            ["--score", "pattern"],
            r"asked.jsonl, line 2: answer must be a regular expression for .*: missing",
        ),
        (
            f'{{"prompt": "1", "answer": 1}}\n{{"prompt": "{"1" * 60}", "answer": 1}}',
            ["--held-out", "0.5"],
            r"line 2: prompt and response must fit the .* of 64 tokens, got 66 \+ 9",
        ),
        (
            '{"prompt": "1", "answer": 1}\n{"prompt": "♞", "answer": 1}',
            ["--held-out", "0.5"],
            "line 2: text must be made of what the tokenizer knows",
        ),
        (None, ["--ask", "♞"], "--ask: text must be made of what the tokenizer knows"),
        (None, ["--stop", "12"], "stop must be a text of one token, got 2 for '12'"),
    ],
)
def test_a_slip_is_told_before_a_model_is_loaded(
    own, monkeypatch, capsys, lines, given, told
):
    def loaded(*arguments: object) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("ppo_ref.command.preparing.pretrained_actor", loaded)
    if lines is not None:
        (own / "asked.jsonl").write_text(lines)
    assert train(*OWN, *given, "--out", "run") == 2
    said = capsys.readouterr().err
    assert re.search(told, said) and said.count("\n") == 1, said
    assert not (own / "run").exists()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return 2", "must give a number from 0 to 1, got 2 for the response '"),
        ("return None", "must give a number from 0 to 1, got None for the response"),
        ("return float('nan')", "must give a number from 0 to 1, got nan for"),
        ("raise SystemExit(1)", "must run, got SystemExit: 1 for the response"),
        ("return 1 / 0", "must run, got ZeroDivisionError: division by zero for"),
    ],
)
def test_a_score_that_is_none_is_told_with_the_response(own, capsys, body, told):
    (own / "score.py").write_text(f"def paid(question, text):\n    {body}\n")
    assert train(*OWN, "--score", "score.py:paid", "--out", "run") == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert told in last and f"{own}/score.py:paid" in last
