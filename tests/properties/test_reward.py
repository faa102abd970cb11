"""The rule's scores, the reward model's, and how it learns."""

import math

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.training.reward import model_scores, reward_model_step, rule
from ppo_ref.training.rollout import as_rollout
from ppo_ref.training.tasks import CHARACTERS, Question
from ppo_ref.training.tokenizer import CharacterTokenizer
from tests import networks
from tests.networks import ragged_rollout

TOKENIZER = CharacterTokenizer(CHARACTERS)
QUESTION = Question("5+7=", 5, 7)
SCORES = {
    "5+7=12": 1.0,
    "=12": 1.0,
    "9+9=12": 1.0,  # what stands before the last = is not looked at
    "5+7=13": 0.0,
    "5+7=12=": 0.0,
    "5+7=012": 0.0,
    "12": 0.0,
    "5+7": 0.0,
    "=": 0.0,
}


def answered(*texts: str, slots: int = 11):
    prompts = TOKENIZER.prompts([QUESTION.text] * len(texts))
    ids = TOKENIZER.responses(texts, slots)
    return as_rollout(prompts, ids, torch.zeros(ids.shape))


def test_the_rule_looks_for_the_sum_behind_the_last_equals_sign():
    asked = [QUESTION] * len(SCORES), answered(*SCORES)
    assert rule(TOKENIZER)(*asked).tolist() == list(SCORES.values())
    other = rule(TOKENIZER, right=2, wrong=-0.5)(*asked)
    assert other.tolist() == [2.5 * score - 0.5 for score in SCORES.values()]


def test_an_answer_without_an_end_is_wrong():
    whole = answered("5+7=12", slots=7)
    cut = as_rollout(
        TOKENIZER.prompts([QUESTION.text]),
        torch.tensor([TOKENIZER.encode("5+7=12")]),
        torch.zeros(1, 6),
    )
    assert not whole.truncated.item() and cut.truncated.item()
    assert rule(TOKENIZER)([QUESTION], whole).tolist() == [1.0]
    assert rule(TOKENIZER)([QUESTION], cut).tolist() == [0.0]


def test_a_reward_model_is_read_at_the_last_token():
    network, rollout = networks.critic(), ragged_rollout(1, 3, 5, 9)
    scores = model_scores(network, rollout)
    for row, score in enumerate(scores):
        ids = rollout.sequences[row][rollout.attention_mask[row]][None]
        alone = network(ids, torch.ones_like(ids).bool())[0, -1]
        assert_close(score, alone)


def test_a_reward_model_step_descends_the_cross_entropy():
    """loss = log(1 + exp(-x)) of the right, log(1 + exp(x)) of the wrong."""
    network, rollout = networks.critic(), ragged_rollout(2, 4, 3)
    right = torch.tensor([True, False, True])
    log_odds = model_scores(network, rollout).tolist()
    signed = [x if r else -x for x, r in zip(log_odds, right.tolist(), strict=True)]
    expected = math.fsum(math.log1p(math.exp(-x)) for x in signed) / 3
    # Of the head's bias, which shifts every score alike.
    slopes = [
        1 / (1 + math.exp(-x)) - r
        for x, r in zip(log_odds, right.tolist(), strict=True)
    ]
    bias = network.head.bias.item()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    loss = reward_model_step(network, optimizer, rollout, right)
    assert loss == pytest.approx(expected)
    moved = bias - 0.1 * math.fsum(slopes) / 3
    assert network.head.bias.item() == pytest.approx(moved)
