"""True advantages add up to the excess of an answer, estimates do not."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import gae, td_residuals
from tests import oracles
from tests.properties.test_expected_return import (
    Tree,
    expected_return,
    prob_from,
    rows,
    trees,
)
from tests.strategies import token_batches, unit_interval


def states(tree):
    return sorted({a[:t] for a in tree.answers for t in range(len(a))})


def exact_values(tree, gamma):
    """The expected return of every state, 0 after the end."""
    ends = dict.fromkeys(tree.answers, 0.0)
    return ends | {state: expected_return(tree, gamma, state) for state in states(tree)}


def true_advantages(tree, gamma):
    """Q - V by what is written up to and with the token."""
    values = exact_values(tree, gamma)
    return {
        written: reward + gamma * values[written] - values[written[:-1]]
        for written, reward in tree.rewards.items()
    }


def batch_of(tree, values):
    rewards = rows(tree, lambda written: tree.rewards[written])
    return {
        "token_level_rewards": rewards,
        "values": rows(tree, lambda written: values[written[:-1]]),
        "response_mask": ~rewards.isnan(),
    }


@given(trees(), unit_interval)
def test_excess_of_a_token(tree, gamma):
    r"""\delta_t = r_t + \gamma V^\pi(s_{t+1}) - V^\pi(s_t) = A^\pi(s_t, a_t)"""
    exact = batch_of(tree, exact_values(tree, gamma))
    advantages = true_advantages(tree, gamma)
    expected = rows(tree, lambda written: advantages[written]).nan_to_num()
    deltas = td_residuals(**exact, gamma=gamma)
    assert_close(deltas, expected, rtol=0, atol=1e-12)


@given(trees(), unit_interval)
def test_excesses_add_up(tree, gamma):
    r"""\sum_t \gamma^t A^\pi(s_t, a_t) = G_0 - V^\pi(s_0)

    In every answer; V^\pi(s_0) is the mean over all of them.
    """
    advantages, before = true_advantages(tree, gamma), expected_return(tree, gamma, ())
    exact = batch_of(tree, exact_values(tree, gamma))
    deltas = td_residuals(**exact, gamma=gamma).tolist()
    for answer, of_answer in zip(tree.answers, deltas, strict=True):
        steps = [(t, answer[: t + 1]) for t in range(len(answer))]
        received = math.fsum(gamma**t * tree.rewards[written] for t, written in steps)
        true = math.fsum(gamma**t * advantages[written] for t, written in steps)
        found = math.fsum(gamma**t * delta for t, delta in enumerate(of_answer))
        assert true == pytest.approx(received - before, abs=1e-12)
        assert found == pytest.approx(received - before, abs=1e-12)


@given(trees(), unit_interval, st.integers(0, 2**16))
def test_policy_difference(tree, gamma, seed):
    r"""J(\pi') - J(\pi) = \mathbb{E}_{\pi'}\Big[\sum_t \gamma^t A^\pi(s_t, a_t)\Big]"""
    source, probs = random.Random(seed), {}
    for state in states(tree):
        after = [written for written in tree.probs if written[:-1] == state]
        weights = [source.random() + 0.01 for _ in after]
        for written, weight in zip(after, weights, strict=True):
            probs[written] = weight / math.fsum(weights)
    other = Tree(tree.answers, probs, tree.rewards)
    advantages = true_advantages(tree, gamma)
    gain = expected_return(other, gamma, ()) - expected_return(tree, gamma, ())
    total = math.fsum(
        prob_from(other, (), answer) * gamma**t * advantages[answer[: t + 1]]
        for answer in tree.answers
        for t in range(len(answer))
    )
    assert total == pytest.approx(gain, abs=1e-12)


@given(token_batches(), unit_interval, unit_interval)
def test_estimates_count_twice(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    \sum_t \hat A_t = {}& \delta_0 + (1+\gamma\lambda)\,\delta_1 \\
    &+ (1+\gamma\lambda+\gamma^2\lambda^2)\,\delta_2 + \dots
    \end{aligned}"""
    advantages = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda).advantages
    for row, counts in enumerate(batch.response_mask):
        deltas = oracles.td_residuals(gamma)(
            batch.token_level_rewards[row, counts].tolist(),
            batch.values[row, counts].tolist(),
            batch.bootstrap_values[row].item(),
        )
        expected = math.fsum(
            (gamma * gae_lambda) ** j * delta
            for k, delta in enumerate(deltas)
            for j in range(k + 1)
        )
        total = advantages[row, counts].sum().item()
        assert total == pytest.approx(expected, abs=1e-12)
