"""Whitened advantages, and what each broken estimate does to them."""

import torch
from hypothesis import given
from torch.testing import assert_close

from ppo_ref.training.estimates import (
    flipped_sign,
    shifted_values,
    whitened_gae,
    whitened_over_padding,
)
from tests import oracles
from tests.strategies import numbers, token_tensors

EPSILON = 1e-8  # of the whitening


def raw(rewards, values, mask, gamma, gae_lambda):
    return oracles.over_rows(oracles.gae(gamma, gae_lambda), mask, rewards, values)


def inputs(rewards, values, mask, gamma=1.0, gae_lambda=0.95):
    return {
        "token_level_rewards": rewards,
        "values": values,
        "response_mask": mask,
        "gamma": gamma,
        "gae_lambda": gae_lambda,
    }


@given(token_tensors(2, least=2))
def test_a_flipped_sign_is_the_only_thing_that_is_flipped(batch):
    (rewards, values), mask = batch
    wrong = flipped_sign(**inputs(rewards, values, mask))
    right = whitened_gae(**inputs(rewards, values, mask))
    assert torch.equal(wrong.advantages, -right.advantages)
    assert torch.equal(wrong.returns, right.returns)


MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


def test_shifted_values_are_those_of_the_next_token_and_0_after_the_last():
    rewards, values = numbers(0, 2, 2, 5)
    shifted = torch.zeros(2, 5, dtype=torch.float64)
    for row in range(2):
        for t in range(4):
            if MASK[row, t + 1]:
                shifted[row, t] = values[row, t + 1]
    found = shifted_values(**inputs(rewards, values, MASK))
    advantages = raw(rewards, shifted, MASK, 1.0, 0.95)
    expected = oracles.whitened(oracles.counted(advantages, MASK), EPSILON)
    assert_close(oracles.counted(found.advantages, MASK), expected)


def test_whitening_over_padding_reads_what_padding_holds():
    rewards, values = numbers(1, 2, 2, 5)
    advantages = raw(rewards, values, MASK, 1.0, 0.95)
    everything = torch.where(MASK, advantages, -values).flatten().tolist()
    found = whitened_over_padding(**inputs(rewards, values, MASK))
    expected = torch.tensor(oracles.whitened(everything, EPSILON)).double().view(2, 5)
    assert_close(found.advantages, torch.where(MASK, expected, 0))
    right = whitened_gae(**inputs(rewards, values, MASK))
    assert_close(found.returns, right.returns)
    assert (found.advantages - right.advantages)[MASK].abs().max() > 0.01
