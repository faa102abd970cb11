"""A model from a folder is taught, as the small network is, and resumed."""

import json
import re

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
    sizes = SMALL[6:]  # width, heads and layers are the model's own
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
    assert "path must be a folder, got" in capsys.readouterr().err
