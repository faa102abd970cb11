"""GAE over 16384 tokens near gamma * lambda = 1, against a float64 loop."""

import pytest
import torch
from torch import Tensor

from ppo_ref.advantages import gae
from tests import oracles
from tests.strategies import numbers

TIME = 16384
ROUNDING = 5e-6  # of the largest advantage; a float32 loop reaches 5e-5


def white_noise() -> tuple[Tensor, Tensor]:
    rewards, values = numbers(0, 2, 1, TIME).float()
    return rewards, values


def sigmoid_values_and_one_terminal_reward() -> tuple[Tensor, Tensor]:
    """A critic near its target, with and without noise from token to token."""
    drift = (0.05 * numbers(1, 1, TIME)).cumsum(1)
    rewards = torch.zeros(1, TIME)
    rewards[:, -1] = 1
    return rewards, torch.sigmoid(drift + numbers(2, 1, TIME)).float()


@pytest.mark.parametrize(
    "family", [white_noise, sigmoid_values_and_one_terminal_reward]
)
@pytest.mark.parametrize(
    ("gamma", "gae_lambda"),
    [(0.9999, 1), (1, 0.9999), (0.99995, 0.99995), (1, 1), (1, 0.95)],
)
@pytest.mark.parametrize("gaps", [False, True])
def test_float32_stays_near_the_float64_loop(family, gamma, gae_lambda, gaps):
    rewards, values = family()
    mask = numbers(3, 1, TIME) < (0.5 if gaps else torch.inf)
    actual = gae(
        token_level_rewards=rewards,
        values=values,
        response_mask=mask,
        gamma=gamma,
        gae_lambda=gae_lambda,
    )
    assert actual.advantages.dtype == torch.float32
    exact = oracles.over_rows(oracles.gae(gamma, gae_lambda), mask, rewards, values)
    for came, wanted in [
        (actual.advantages, exact),
        (actual.returns, torch.where(mask, exact + values, 0)),
    ]:
        assert (came - wanted).abs().max() <= ROUNDING * wanted.abs().max()
