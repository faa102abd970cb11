"""Advantages beside the loops of the oracle, and how float32 rounds them."""

import pytest
import torch
from hypothesis import given, settings
from torch.testing import assert_close

from ppo_ref.advantages import gae, monte_carlo_returns, td_residuals
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
def test_gae_is_the_oracles_and_0_outside_the_mask(batch, gamma, gae_lambda):
    advantages, returns = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda)
    assert_close(advantages, judged(oracles.gae(gamma, gae_lambda), batch))
    mask = batch.response_mask
    assert_close(returns[mask], (advantages + batch.values)[mask])
    assert not returns[~mask].any()


@given(token_batches(), unit_interval)
def test_monte_carlo_return_is_the_discounted_sum_of_rewards(batch, gamma):
    inputs = batch._asdict()
    del inputs["values"]
    expected = judged(
        oracles.monte_carlo_returns(gamma), batch, batch.token_level_rewards
    )
    assert_close(monte_carlo_returns(**inputs, gamma=gamma), expected)


@settings(max_examples=20)
@given(token_batches(), unit_interval)
def test_without_bootstrap_values_they_are_0_and_no_argument_is_changed(batch, gamma):
    ended = batch._replace(bootstrap_values=torch.zeros_like(batch.bootstrap_values))
    before = [tensor.clone() for tensor in ended]
    inputs = ended._asdict()
    expected = gae(**inputs, gamma=gamma).advantages
    del inputs["bootstrap_values"]
    assert torch.equal(gae(**inputs, gamma=gamma).advantages, expected)
    for tensor, copy in zip(ended, before, strict=True):
        assert torch.equal(tensor.nan_to_num(), copy.nan_to_num())


def test_advantages_have_no_gradient():
    rewards, values = (x.requires_grad_() for x in numbers(0, 2, 2, 3))
    mask = torch.ones(2, 3, dtype=torch.bool)
    estimate = gae(token_level_rewards=rewards, values=values, response_mask=mask)
    assert not estimate.advantages.requires_grad
    assert not estimate.returns.requires_grad


TIME = 16384
ROUNDING = 5e-6  # of the largest advantage; a float32 loop reaches 5e-5


@pytest.mark.parametrize("noisy", [True, False])
@pytest.mark.parametrize(
    ("gamma", "gae_lambda"), [(0.9999, 1), (0.99995, 0.99995), (1, 1), (1, 0.95)]
)
def test_float32_stays_near_the_float64_loop(noisy, gamma, gae_lambda):
    """White noise, or a critic near its target and one reward at the end."""
    rewards, values = numbers(0, 2, 1, TIME).float()
    if not noisy:
        rewards = rewards.zero_()
        rewards[:, -1] = 1
        drift = (0.05 * numbers(1, 1, TIME)).cumsum(1)
        values = torch.sigmoid(drift + values).float()
    mask = numbers(3, 1, TIME) < 1
    actual = gae(
        token_level_rewards=rewards,
        values=values,
        response_mask=mask,
        gamma=gamma,
        gae_lambda=gae_lambda,
    )
    assert actual.advantages.dtype == torch.float32
    exact = oracles.over_rows(oracles.gae(gamma, gae_lambda), mask, rewards, values)
    assert (actual.advantages - exact).abs().max() <= ROUNDING * exact.abs().max()
    wanted = torch.where(mask, exact + values, 0)
    assert (actual.returns - wanted).abs().max() <= ROUNDING * wanted.abs().max()
