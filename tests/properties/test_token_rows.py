"""The rows of one answer by the recursions that the page shows, in float64 loops."""

from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ppo_ref.advantages import gae, monte_carlo_returns, td_residuals
from tests.strategies import TokenBatch, token_batches, unit_interval


class Row(NamedTuple):
    """The tokens of one row that count, and the 0 beyond them."""

    r: list[float]
    V: list[float]
    delta: list[float]
    A: list[float]
    R: list[float]


def row_of(batch: TokenBatch, index: int, gamma: float, gae_lambda: float) -> Row:
    inputs = batch._asdict() | {"bootstrap_values": None}
    found = gae(**inputs, gamma=gamma, gae_lambda=gae_lambda)
    deltas = td_residuals(**inputs, gamma=gamma)
    kept = batch.response_mask[index]
    tensors = (batch.token_level_rewards, batch.values, deltas, *found)
    return Row(*([*x[index][kept].tolist(), 0.0] for x in tensors))


@given(token_batches(), unit_interval, unit_interval)
def test_three_rows(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    \delta_t &= r_t + \gamma V(s_{t+1}) - V(s_t) \\
    \hat A_t &= \delta_t + \gamma\lambda\,\hat A_{t+1} \\
    R_t &= \hat A_t + V(s_t)
    \end{aligned}
    """
    for index in range(len(batch.response_mask)):
        row = row_of(batch, index, gamma, gae_lambda)
        after = value = 0.0
        for t in reversed(range(len(row.r) - 1)):
            delta = row.r[t] + gamma * value - row.V[t]
            after, value = delta + gamma * gae_lambda * after, row.V[t]
            assert row.delta[t] == pytest.approx(delta, abs=1e-12)
            assert row.A[t] == pytest.approx(after, abs=1e-12)
            assert row.R[t] == pytest.approx(after + value, abs=1e-12)


@given(token_batches(), unit_interval, unit_interval)
def test_return_recursion(batch, gamma, gae_lambda):
    r"""R_t = r_t + \gamma\bigl((1-\lambda)V(s_{t+1}) + \lambda R_{t+1}\bigr)

    At lambda 1 it is what was received, whatever the values are.
    """
    received = monte_carlo_returns(
        token_level_rewards=batch.token_level_rewards,
        response_mask=batch.response_mask,
        gamma=gamma,
    )
    for index, kept in enumerate(batch.response_mask):
        row = row_of(batch, index, gamma, gae_lambda)
        expected = 0.0
        for t in reversed(range(len(row.r) - 1)):
            mixed = (1 - gae_lambda) * row.V[t + 1] + gae_lambda * expected
            expected = row.r[t] + gamma * mixed
            assert row.R[t] == pytest.approx(expected, abs=1e-12)
        full = row_of(batch, index, gamma, 1).R[:-1]
        assert full == pytest.approx(received[index][kept].tolist(), abs=1e-12)


@given(token_batches(), unit_interval, unit_interval, st.data())
def test_factor_from_rows(batch, gamma, gae_lambda, data):
    r"""\gamma\lambda = \frac{\hat A_t - \delta_t}{\hat A_{t+1}}"""
    row = row_of(batch, 0, gamma, gae_lambda)
    assume(len(row.r) > 2)
    t = data.draw(st.integers(0, len(row.r) - 3))
    assume(abs(row.A[t + 1]) > 1e-3)
    factor = (row.A[t] - row.delta[t]) / row.A[t + 1]
    assert factor == pytest.approx(gamma * gae_lambda, abs=1e-9)
