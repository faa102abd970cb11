"""What a wrong critic does to the mean of TD residuals and of GAE: on whole trees."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.advantages import gae, td_residuals
from tests import oracles
from tests.properties.test_excesses import (
    batch_of,
    exact_values,
    states,
    true_advantages,
)
from tests.properties.test_expected_return import prob_from, rows, trees
from tests.strategies import token_batches, unit_interval

seeds = st.integers(0, 2**16)


def critic(tree, gamma, seed):
    """A wrong value for every state, and by how much it is wrong; 0 after the end."""
    source = random.Random(seed)
    errors = dict.fromkeys(tree.answers, 0.0)
    errors |= {state: source.uniform(-1, 1) for state in states(tree)}
    exact = exact_values(tree, gamma)
    return {state: exact[state] + error for state, error in errors.items()}, errors


def mean_after(tree, written, column):
    """The mean of one number per answer over the answers that begin so."""
    return math.fsum(
        prob_from(tree, written, answer) * x
        for answer, x in zip(tree.answers, column.tolist(), strict=True)
        if answer[: len(written)] == written
    )


@given(trees(), unit_interval, seeds)
def test_residual_mean(tree, gamma, seed):
    r"""\begin{aligned}
    \mathbb{E}[\delta_t \mid s_t, a_t] ={}& A^\pi(s_t, a_t) \\
    &+ \gamma\,\mathbb{E}[e(s_{t+1}) \mid s_t, a_t] - e(s_t)
    \end{aligned}
    """
    values, errors = critic(tree, gamma, seed)
    deltas = td_residuals(**batch_of(tree, values), gamma=gamma)
    for written, advantage in true_advantages(tree, gamma).items():
        came = mean_after(tree, written, deltas[:, len(written) - 1])
        off = gamma * errors[written] - errors[written[:-1]]
        assert came == pytest.approx(advantage + off, abs=1e-12)


@given(trees(), unit_interval)
def test_with_an_exact_critic_later_residuals_have_mean_0(tree, gamma):
    """And the first has the true advantage, so one residual is enough."""
    exact = batch_of(tree, exact_values(tree, gamma))
    deltas = td_residuals(**exact, gamma=gamma)
    for written, advantage in true_advantages(tree, gamma).items():
        first, *later = deltas.T[len(written) - 1 :]
        assert mean_after(tree, written, first) == pytest.approx(advantage, abs=1e-12)
        for column in later:
            assert mean_after(tree, written, column) == pytest.approx(0, abs=1e-12)


@given(token_batches(), unit_interval)
def test_residuals_telescope(batch, gamma):
    r"""\sum_{k\ge 0}\gamma^k\delta_{t+k} = G_t - V(s_t)

    For any V; after a cut, G_t includes the value there.
    """
    deltas = td_residuals(**batch._asdict(), gamma=gamma)
    for row, counts in enumerate(batch.response_mask):
        earned = batch.token_level_rewards[row, counts].tolist()
        end = batch.bootstrap_values[row].item()
        returns = oracles.monte_carlo_returns(gamma)(earned, end)
        values = batch.values[row, counts].tolist()
        found = deltas[row, counts].tolist()
        for t, (received, value) in enumerate(zip(returns, values, strict=True)):
            total = math.fsum(gamma**k * d for k, d in enumerate(found[t:]))
            assert total == pytest.approx(received - value, abs=1e-12)


@given(trees(), unit_interval, unit_interval, seeds)
def test_bias_left(tree, gamma, gae_lambda, seed):
    r"""\begin{aligned}
    &\mathbb{E}[\hat A_t \mid s_t, a_t] - A^\pi(s_t, a_t) = -e(s_t) \\
    &+ (1-\lambda)\sum_{k\ge 1}\gamma^k\lambda^{k-1}\,
    \mathbb{E}[e(s_{t+k}) \mid s_t, a_t]
    \end{aligned}"""
    values, errors = critic(tree, gamma, seed)
    batch = batch_of(tree, values)
    advantages = gae(**batch, gamma=gamma, gae_lambda=gae_lambda).advantages
    reached = rows(tree, lambda written: errors[written[:-1]]).nan_to_num()
    for written, advantage in true_advantages(tree, gamma).items():
        t = len(written) - 1
        came = mean_after(tree, written, advantages[:, t])
        later = math.fsum(
            gamma**k * gae_lambda ** (k - 1) * mean_after(tree, written, column)
            for k, column in enumerate(reached.T[t + 1 :], start=1)
        )
        bias = -errors[written[:-1]] + (1 - gae_lambda) * later
        assert came - advantage == pytest.approx(bias, abs=1e-12)
