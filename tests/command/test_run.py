"""A whole run by the command: what it writes, again and again the same."""

import json
import os
import signal
from pathlib import Path

import pytest
import torch

from ppo_ref.command import checkpoint
from ppo_ref.command import train as train_module
from ppo_ref.command.run_folder import reopen_run
from ppo_ref.command.session import Session
from ppo_ref.command.train import Progress
from ppo_ref.train.trainer import Trainer
from tests.command.runs import SMALL, TO_GO_ON, assert_same, files, train


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_what_a_run_writes(whole):
    assert files(whole).keys() == {
        "config.json",
        "summary.json",
        "checkpoint.pt",
        "checkpoint.before.pt",
        "statistics.jsonl",
        "tokens.jsonl",
        "seconds.jsonl",
    }
    for name in ("statistics.jsonl", "seconds.jsonl"):
        assert [line["iteration"] for line in lines(whole / name)] == [1, 2, 3]
    found = lines(whole / "statistics.jsonl")
    assert [line["iteration"] for line in found if "held_out" in line] == [2, 3]
    assert {"score", "kl", "clip_fraction", "value_loss"} <= found[0].keys()
    tokens = [line["iteration"] for line in lines(whole / "tokens.jsonl")]
    assert tokens == [1, 1, 2, 2, 3, 3]
    seconds = [line["seconds"] for line in lines(whole / "seconds.jsonl")]
    assert seconds == sorted(seconds) and seconds[0] > 0


def test_a_record_has_the_log_probs_after_its_update(whole):
    """The last record against the last weights, one answer without its padding."""
    record = lines(whole / "tokens.jsonl")[-1]
    with reopen_run(whole) as folder:
        trainer = Session(folder).trainer
    tokenizer, actor = trainer.tokenizer, trainer.models.actor
    ids = {tokenizer.shown(number): number for number in range(tokenizer.vocab)}
    prompts = tokenizer.prompts([record["question"]])
    answer = torch.tensor([[ids[token] for token in record["response"]]])
    read = torch.cat([prompts.attention_mask, torch.ones_like(answer).bool()], 1)
    with torch.no_grad():
        logits = actor(torch.cat([prompts.token_ids, answer], 1), read)
    chosen = logits[:, -answer.shape[1] - 1 : -1].log_softmax(-1)
    now = chosen.gather(-1, answer[..., None])[0, :, 0]
    torch.testing.assert_close(torch.tensor(record["new_log_probs"]), now)
    assert (now - torch.tensor(record["old_log_probs"])).abs().max() > 1e-5


def test_the_summary(whole):
    told = json.loads((whole / "summary.json").read_text())
    held_out = lines(whole / "statistics.jsonl")[-1]["held_out"]
    assert told.pop("seconds") >= 0
    assert len(told.pop("actor_sha256")) == 64
    assert told == {
        "finished": True,
        "iterations": 3,
        "held_out_before": 0.0,
        "held_out_after": held_out,
        "seed": 0,
        "estimate": "whitened_gae",
        "device": "cpu",
        "threads": 1,
        "torch": torch.__version__,
    }


def test_a_run_that_has_ended_is_not_changed(whole, capsys):
    before = files(whole)
    assert train("--resume", whole) == 0
    after = files(whole)
    assert before.pop("summary.json") and after.pop("summary.json")
    assert before == after


def interrupted(at: int, times: int) -> type[Progress]:
    """Progress that gets so many signals while a step is shown."""

    class Interrupted(Progress):
        shown = 0

        def show(self, step):
            super().show(step)
            Interrupted.shown += 1
            for _ in range(times if Interrupted.shown == at else 0):
                os.kill(os.getpid(), signal.SIGINT)

    return Interrupted


# The steps shown are three of imitation, the first look, and the iterations.
@pytest.mark.parametrize(("at", "imitated", "iterations"), [(2, 2, 0), (5, 3, 1)])
def test_ctrl_c_leaves_a_checkpoint_and_a_summary(
    whole, tmp_path, capsys, monkeypatch, at, imitated, iterations
):
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(train_module, "Progress", interrupted(at, times=1))
        assert train(*SMALL, "--checkpoint-seconds", 9, "--out", path) == 130
    told = capsys.readouterr()
    assert f"Stopped; go on by: {TO_GO_ON} {path}\n" in told.out
    assert "Stopping after this step" in told.err
    summary = json.loads((path / "summary.json").read_text())
    assert (summary["finished"], summary["iterations"]) == (False, iterations)
    state = checkpoint.load(path).state
    assert (state["imitated"], state["iteration"]) == (imitated, iterations)
    assert train("--resume", path) == 0
    assert_same(path, whole, names=["statistics.jsonl", "tokens.jsonl"])
    assert json.loads((path / "summary.json").read_text())["finished"]


def test_what_was_held_out_before_outlives_a_stop(tmp_path, monkeypatch):
    path = tmp_path / "run"
    monkeypatch.setattr(Trainer, "held_out", lambda self: (self.iteration + 1) / 10)
    with monkeypatch.context() as patch:
        patch.setattr(train_module, "Progress", interrupted(5, times=1))
        assert train(*SMALL, "--out", path) == 130
    assert train("--resume", path) == 0
    told = json.loads((path / "summary.json").read_text())
    assert (told["held_out_before"], told["held_out_after"]) == (0.1, 0.4)


def test_a_second_ctrl_c_does_not_wait(whole, tmp_path, capsys, monkeypatch):
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(train_module, "Progress", interrupted(5, times=2))
        assert train(*SMALL, "--out", path) == 130
    assert f"Stopped at once; go on by: {TO_GO_ON} {path}" in capsys.readouterr().err
    assert not (path / "summary.json").exists()
    assert train("--resume", path) == 0
    assert_same(path, whole)


def test_without_a_name_each_run_has_the_next_number(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for number in ("1", "2"):
        assert train(*SMALL, "--iterations", 1, "--warm-start-steps", 0) == 0
        assert (tmp_path / "runs" / number / "summary.json").exists()
        assert f"runs/{number}: 1 iterations" in capsys.readouterr().out
