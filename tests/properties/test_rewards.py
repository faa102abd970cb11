"""Scores of the rule and of a model, and the rewards that are made of them."""

from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.alignment import turn_numbers
from ppo_ref.kl import kl_k1
from ppo_ref.rewards import (
    token_level_rewards,
    token_level_scores,
    turn_level_scores,
)
from ppo_ref.train.reward import model_scores, reward_model_step, rule
from ppo_ref.train.rollout import as_rollout
from ppo_ref.train.sums import CHARACTERS
from ppo_ref.train.tasks import Question
from ppo_ref.train.tokenizer import CharacterTokenizer
from tests import networks
from tests.networks import ragged_rollout
from tests.properties.trees import trees
from tests.strategies import full_row_masks, masks, numbers

seeds = st.integers(0, 2**16)


@given(full_row_masks())
def test_each_score_lies_on_its_rows_last_token(mask):
    scores = numbers(0, len(mask))
    placed = token_level_scores(scores, mask)
    for row, counts in enumerate(mask.tolist()):
        last = max(t for t, count in enumerate(counts) if count)
        expected = [scores[row].item() * (t == last) for t in range(len(counts))]
        assert placed[row].tolist() == expected


def turns_of(counts):
    """The slots of each run of tokens that count, by a loop."""
    turns, open_ = [], False
    for t, count in enumerate(counts):
        if count and not open_:
            turns.append([])
        if count:
            turns[-1].append(t)
        open_ = count
    return turns


@given(masks(), st.integers(0, 2))
def test_each_turns_score_lies_on_that_turns_last_token(mask, more):
    rows = [turns_of(counts) for counts in mask.tolist()]
    scores = torch.zeros(len(rows), max(map(len, rows)) + more, dtype=torch.float64)
    expected = torch.zeros(mask.shape, dtype=torch.float64)
    numbered = torch.full(mask.shape, -1)
    for row, turns in enumerate(rows):
        for turn, slots in enumerate(turns):
            numbered[row, slots] = turn
            scores[row, turn] = expected[row, slots[-1]] = 7 * row + turn + 1
    assert turn_numbers(mask).tolist() == numbered.tolist()
    assert turn_level_scores(scores, mask).tolist() == expected.tolist()


@pytest.mark.parametrize("scores", [[[1.0]], [[1.0, 2.0, 3.0]]])
def test_no_turns_score_is_lost(scores):
    mask = torch.tensor([[True, False, True, True]])
    with pytest.raises(ValueError, match="row 0 has 2 turns, got"):
        turn_level_scores(torch.tensor(scores), mask)


prices = st.floats(min_value=0.05, max_value=2)


class Scored(NamedTuple):
    """All answers: log-probs of the actor and the reference, scores, their rewards."""

    log_probs: Tensor
    ref_log_probs: Tensor
    scores: Tensor
    rewards: Tensor
    response_mask: Tensor


def scored(tree, price, seed):
    """The answers of a tree; the reference is another actor."""
    pi, ref = numbers(seed, 2, len(tree.states()), tree.vocab())
    rows, ref_rows = tree.log_probs(pi), tree.log_probs(ref)
    mask, scores = tree.batch()["response_mask"], numbers(seed + 1, len(rows)).tanh()
    rewards = token_level_rewards(
        token_level_scores=token_level_scores(scores, mask),
        kl=kl_k1(log_probs=rows, ref_log_probs=ref_rows),
        response_mask=mask,
        kl_coef=price,
    )
    return Scored(rows, ref_rows, scores, rewards, mask)


def near(number):
    return pytest.approx(number, abs=1e-9)


@given(trees(), prices, seeds)
def test_token_level_reward(tree, price, seed):
    r"""r_t = \mathbb{1}[t = L-1]\,s - \beta\,\mathrm{kld}_t"""
    for old, ref, score, rewards, mask in zip(*scored(tree, price, seed), strict=True):
        pairs = zip(old[mask].tolist(), ref[mask].tolist(), strict=True)
        expected = [-price * (p - q) for p, q in pairs]
        expected[-1] += score.item()
        assert rewards[mask].tolist() == near(expected)


@given(trees(), prices, seeds)
def test_reward_sum(tree, price, seed):
    r"""\sum_t r_t = s - \beta\log\frac{\pi_{\mathrm{old}}(y)}{\pi_{\mathrm{ref}}(y)}"""
    old, ref, scores, rewards, _ = scored(tree, price, seed)
    quotients = old.exp().prod(1) / ref.exp().prod(1)
    assert_close(rewards.sum(1), scores - price * quotients.log())


@given(trees(), prices, seeds)
def test_kl_optimum(tree, price, seed):
    r"""\begin{aligned}
    \mathbb{E}_\pi\Big[\sum_t r_t\Big] &= \beta\log Z
    - \beta\,\mathrm{KL}(\pi\,\|\,\pi^*) \\
    \pi^*(y) &= \pi_{\mathrm{ref}}(y)\,e^{s(y)/\beta} / Z
    \end{aligned}

    Exactly, over all answers; so no policy earns more than beta log Z.
    """
    old, ref, scores, rewards, _ = scored(tree, price, seed)
    chances = old.sum(1).exp()
    tilted = (ref.sum(1) + scores / price).exp()
    kl = (chances * (chances / tilted * tilted.sum()).log()).sum()
    best = price * tilted.sum().log()
    earned = chances @ rewards.sum(1)
    assert_close(earned, best - price * kl)
    assert earned <= best + 1e-9


TOKENIZER = CharacterTokenizer(CHARACTERS)
QUESTION = Question("5+7=", "5+7=12")
SCORES = {
    "5+7=12": 1.0,
    "5+7=13=12": 1.0,
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
    log_odds = model_scores(network, rollout).detach()
    expected = torch.where(right, -log_odds, log_odds).exp().log1p().mean()
    # Of the head's bias, which shifts every score alike.
    slope = (log_odds.sigmoid() - right.double()).mean()
    bias = network.head.bias.item()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    loss = reward_model_step(network, optimizer, rollout, right)
    assert loss == pytest.approx(expected.item())
    moved = bias - 0.1 * slope.item()
    assert network.head.bias.item() == pytest.approx(moved)
