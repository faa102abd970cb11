"""TD residuals, returns, n-step advantages and GAE from their definitions."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import (
    gae,
    monte_carlo_returns,
    n_step_advantages,
    td_residuals,
)
from ppo_ref.examples import three_tokens
from tests import oracles
from tests.strategies import numbers, token_batches, unit_interval


def judged(of_row, batch, *tensors):
    return oracles.over_rows(
        of_row,
        batch.response_mask,
        *tensors or (batch.token_level_rewards, batch.values),
        bootstrap_values=batch.bootstrap_values,
    )


@given(token_batches(), unit_interval)
def test_td_residual(batch, gamma):
    r"""\delta_t = r_t + \gamma V(s_{t+1}) - V(s_t)"""
    deltas = td_residuals(**batch._asdict(), gamma=gamma)
    assert_close(deltas, judged(oracles.td_residuals(gamma), batch))


@given(token_batches(), unit_interval, unit_interval)
def test_gae_recursion(batch, gamma, gae_lambda):
    r"""\hat A_t = \delta_t + \gamma \lambda \hat A_{t+1}"""
    advantages = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda).advantages
    assert_close(advantages, judged(oracles.gae(gamma, gae_lambda), batch))


@given(token_batches(), unit_interval, unit_interval)
def test_gae_is_the_weighted_sum_of_the_residuals_ahead(batch, gamma, gae_lambda):
    advantages, returns = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda)
    expected = judged(oracles.gae_as_sum(gamma, gae_lambda), batch)
    assert_close(advantages, expected)
    mask = batch.response_mask
    assert_close(returns[mask], (batch.values + expected)[mask])


def estimated(rewards, values, gamma=1.0, gae_lambda=1.0):
    """Residuals, advantages and returns of a row without padding."""
    inputs = {
        "token_level_rewards": rewards[None],
        "values": values[None],
        "response_mask": torch.ones(1, len(rewards), dtype=torch.bool),
        "gamma": gamma,
    }
    found = gae(**inputs, gae_lambda=gae_lambda)
    return td_residuals(**inputs)[0], found.advantages[0], found.returns[0]


@given(token_batches(), unit_interval, unit_interval)
def test_return_is_advantage_plus_value(batch, gamma, gae_lambda):
    r"""\hat R_t = \hat A_t + V(s_t)"""
    advantages, returns = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda)
    mask = batch.response_mask
    assert_close(returns[mask], advantages[mask] + batch.values[mask])
    assert not returns[~mask].any()
    assert not advantages[~mask].any()


@given(token_batches(), unit_interval)
def test_monte_carlo_return_is_the_discounted_sum_of_rewards(batch, gamma):
    inputs = batch._asdict()
    del inputs["values"]
    expected = judged(
        oracles.monte_carlo_returns(gamma), batch, batch.token_level_rewards
    )
    assert_close(monte_carlo_returns(**inputs, gamma=gamma), expected)


@given(token_batches(), unit_interval, st.integers(1, 12))
def test_n_step_advantage_is_its_formula(batch, gamma, steps):
    advantages = n_step_advantages(**batch._asdict(), gamma=gamma, steps=steps)
    assert_close(advantages, judged(oracles.n_step_advantages(gamma, steps), batch))


@given(token_batches(), unit_interval)
def test_gae_at_lambda_1_is_the_monte_carlo_return_less_the_value(batch, gamma):
    mask = batch.response_mask
    advantages, returns = gae(**batch._asdict(), gamma=gamma, gae_lambda=1)
    expected = judged(
        oracles.monte_carlo_returns(gamma), batch, batch.token_level_rewards
    )
    assert_close(returns, expected)
    assert_close(advantages[mask], (expected - batch.values)[mask])


@given(token_batches(), unit_interval)
def test_gae_at_lambda_0_is_the_td_residual(batch, gamma):
    advantages = gae(**batch._asdict(), gamma=gamma, gae_lambda=0).advantages
    assert_close(advantages, judged(oracles.td_residuals(gamma), batch))


@given(token_batches(), unit_interval, st.integers(9, 30))
def test_n_steps_beyond_the_end_are_monte_carlo(batch, gamma, steps):
    mask = batch.response_mask
    advantages = n_step_advantages(**batch._asdict(), gamma=gamma, steps=steps)
    received = judged(
        oracles.monte_carlo_returns(gamma), batch, batch.token_level_rewards
    )
    assert_close(advantages[mask], (received - batch.values)[mask])
    length = max(1, int(mask.sum(1).max()))
    last = n_step_advantages(**batch._asdict(), gamma=gamma, steps=length)
    assert_close(advantages, last)


@given(token_batches(), unit_interval, unit_interval)
def test_gae_is_the_mix_of_n_step_advantages(batch, gamma, gae_lambda):
    """Weights (1 - lambda) lambda**(n-1), the leftover on the last n."""
    last = batch.response_mask.shape[1]
    mix = gae_lambda ** (last - 1) * judged(
        oracles.n_step_advantages(gamma, last), batch
    )
    for n in range(1, last):
        weight = (1 - gae_lambda) * gae_lambda ** (n - 1)
        mix += weight * judged(oracles.n_step_advantages(gamma, n), batch)
    advantages = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda).advantages
    assert_close(advantages, mix)


@given(token_batches())
def test_residuals_telescope_without_discount(batch):
    """Their sum from t on: rewards received plus the end's value, less V(s_t)."""
    deltas = td_residuals(**batch._asdict())
    rewards = batch.token_level_rewards.nan_to_num()
    for row, counts in enumerate(batch.response_mask):
        for t in counts.nonzero().flatten().tolist():
            received = rewards[row, t:].sum() + batch.bootstrap_values[row]
            assert_close(deltas[row, t:].sum(), received - batch.values[row, t])


def test_advantages_have_no_gradient():
    values = numbers(0, 2, 3).requires_grad_()
    mask = torch.ones(2, 3, dtype=torch.bool)
    rewards = numbers(1, 2, 3).requires_grad_()
    estimate = gae(token_level_rewards=rewards, values=values, response_mask=mask)
    assert not estimate.advantages.requires_grad
    assert not estimate.returns.requires_grad


@pytest.mark.parametrize(
    ("function", "discounts"),
    [
        (gae, {"gamma": 1.0, "gae_lambda": 1.0}),
        (td_residuals, {"gamma": 1.0}),
        (n_step_advantages, {"gamma": 1.0, "steps": 2}),
        (monte_carlo_returns, {"gamma": 1.0}),
    ],
)
def test_nothing_is_discounted_unless_asked(function, discounts):
    batch = three_tokens()._asdict()
    if function is monte_carlo_returns:
        del batch["values"]
    steps = {name: x for name, x in discounts.items() if name == "steps"}
    assert_close(function(**batch, **steps), function(**batch, **discounts))
