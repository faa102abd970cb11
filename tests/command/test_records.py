"""A record holds each token's figures as they stood in the batch."""

import pytest
import torch

from ppo_ref.batch import Experience, Rollout
from ppo_ref.command.records import records
from ppo_ref.training.tasks import Question
from ppo_ref.training.tokenizer import CharacterTokenizer

TOKENIZER = CharacterTokenizer("+1=2")  # ids 2 to 5 are +, 1, 2, =
QUESTIONS = [Question("1+1=", 1, 1), Question("2+1=", 2, 1)]


@pytest.fixture
def experience() -> Experience:
    rollout = Rollout(
        sequences=torch.tensor([[3, 4, 5, 1, 0], [5, 4, 0, 2, 3]]),
        attention_mask=torch.ones(2, 5, dtype=torch.bool),
        response_mask=torch.tensor([[True, True, False], [True, True, True]]),
        rollout_log_probs=torch.tensor([[0.5, 1.0, 9.0], [1.5, 2.0, 2.5]]),
        truncated=torch.tensor([False, True]),
    )
    per_token = {
        name: torch.arange(6.0).view(2, 3) + 10 * at
        for at, name in enumerate(Experience._fields[1:])
    }
    scores = {"scores": torch.tensor([1.0, 0.0])}
    return Experience(rollout=rollout, **(per_token | scores))


def test_every_row_of_a_response(experience):
    first, second = records(experience, QUESTIONS, TOKENIZER, rows=9)
    assert first["question"] == "1+1="
    assert first["response"] == ["=", "<eos>"]
    assert second["response"] == ["<pad>", "+", "1"]
    assert [(r["score"], r["truncated"]) for r in (first, second)] == [
        (1.0, False),
        (0.0, True),
    ]
    assert first["rollout_log_probs"] == [0.5, 1.0]
    assert first["old_log_probs"] == [0.0, 1.0]
    assert second["old_log_probs"] == [3.0, 4.0, 5.0]
    rest = set(Experience._fields[1:]) - {"scores", "kl"}
    assert rest <= first.keys()
    for at, name in enumerate(Experience._fields[1:]):
        if name in rest:
            assert second[name] == [3.0 + 10 * at, 4.0 + 10 * at, 5.0 + 10 * at]


def test_as_many_rows_as_asked_for(experience):
    assert len([*records(experience, QUESTIONS, TOKENIZER, rows=1)]) == 1
    assert [*records(experience, QUESTIONS, TOKENIZER, rows=0)] == []
