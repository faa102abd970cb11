"""V before a token holds that token's reward: on whole trees of answers, by loops."""

import math
import random
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.advantages import monte_carlo_returns, td_residuals
from tests.strategies import unit_interval

State = tuple[int, ...]


class Tree(NamedTuple):
    """Every answer; by what is written, its last token's probability and reward."""

    answers: list[State]
    probs: dict[State, float]
    rewards: dict[State, float]


def answers(vocab: int, longest: int, state: State = ()) -> list[State]:
    """All that can be written on from a state: token 0 ends, so does the limit."""
    if len(state) == longest or state[-1:] == (0,):
        return [state]
    return [a for i in range(vocab) for a in answers(vocab, longest, (*state, i))]


@st.composite
def trees(draw):
    source = random.Random(draw(st.integers(0, 2**16)))
    vocab = draw(st.integers(1, 3))
    written = answers(vocab, draw(st.integers(1, 4)))
    states = sorted({a[:t] for a in written for t in range(len(a))})
    probs, rewards = {}, {}
    for state in states:
        weights = [source.random() + 0.01 for _ in range(vocab)]
        for token, weight in enumerate(weights):
            probs[*state, token] = weight / math.fsum(weights)
            rewards[*state, token] = source.uniform(-1, 1)
    return Tree(written, probs, rewards)


def prob_from(tree, state, answer):
    steps = range(len(state), len(answer))
    return math.prod(tree.probs[answer[: t + 1]] for t in steps)


def expected_return(tree, gamma, state):
    """The definition: what each answer still earns, times how likely it is."""
    ahead = [a for a in tree.answers if a[: len(state)] == state]
    return math.fsum(
        prob_from(tree, state, a) * gamma ** (t - len(state)) * tree.rewards[a[: t + 1]]
        for a in ahead
        for t in range(len(state), len(a))
    )


def rows(tree, quantity):
    """One row per answer: ``quantity`` of what is written up to and with token t."""
    longest = max(map(len, tree.answers))
    table = torch.full((len(tree.answers), longest), torch.nan, dtype=torch.float64)
    for row, answer in zip(table, tree.answers, strict=True):
        for t in range(len(answer)):
            row[t] = quantity(answer[: t + 1])
    return table


@given(trees(), unit_interval)
def test_expected_return_before_token(tree, gamma):
    r"""V(s_t) = \mathbb{E}_{a_t \sim \pi}[r_t + \gamma V(s_{t+1})]

    The loop's expected returns obey it; the mean of ``monte_carlo_returns`` over the
    answers ahead is that V, and the mean of ``td_residuals`` with that V is 0.
    """

    def value(state):
        return expected_return(tree, gamma, state)

    rewards = rows(tree, lambda written: tree.rewards[written])
    batch = {"token_level_rewards": rewards, "response_mask": ~rewards.isnan()}
    values = rows(tree, lambda written: value(written[:-1]))
    received = monte_carlo_returns(**batch, gamma=gamma)
    deltas = td_residuals(**batch, values=values, gamma=gamma)
    for state in {a[:t] for a in tree.answers for t in range(len(a))}:
        mean = math.fsum(
            tree.probs[after] * (tree.rewards[after] + gamma * value(after))
            for after in tree.probs
            if after[:-1] == state
        )
        assert value(state) == pytest.approx(mean, abs=1e-12)
        t, weights = len(state), torch.zeros(len(rewards), dtype=torch.float64)
        for row, answer in enumerate(tree.answers):
            if answer[:t] == state:
                weights[row] = prob_from(tree, state, answer)
        assert (weights @ received[:, t]).item() == pytest.approx(mean, abs=1e-12)
        assert (weights @ deltas[:, t]).item() == pytest.approx(0, abs=1e-12)
