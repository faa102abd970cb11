"""The slot after the end: what a mask that is one slot too long adds to GAE."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import gae
from ppo_ref.alignment import slot_after_end
from tests.strategies import numbers, unit_interval


@st.composite
def short_rows(draw: st.DrawFn) -> tuple[int, int, int]:
    """Number of slots, number of tokens, which are fewer, and a seed."""
    slots = draw(st.integers(2, 9))
    return slots, draw(st.integers(1, slots - 1)), draw(st.integers(0, 999))


def by_recursion(rewards, values, gamma, gae_lambda):
    """Advantages of one row; whatever the lists do not hold is 0."""
    advantage = value_after = 0.0
    advantages = []
    for reward, value in zip(reversed(rewards), reversed(values), strict=True):
        delta = reward + gamma * value_after - value
        advantage = delta + gamma * gae_lambda * advantage
        value_after = value
        advantages.insert(0, advantage)
    return advantages


@given(short_rows(), unit_interval, unit_interval)
def test_slot_after_end_bias(layout, gamma, gae_lambda):
    r"""\tilde A_t - \hat A_t = \gamma(1-\lambda)(\gamma\lambda)^{L-1-t}\,V(s_L)"""
    slots, tokens, seed = layout
    rewards, values = numbers(seed, 2, 1, slots)
    mask = torch.arange(slots)[None] < tokens
    rewards = rewards * mask
    too_long = mask | slot_after_end(mask)
    inputs = {"token_level_rewards": rewards, "values": values}
    factors = {"gamma": gamma, "gae_lambda": gae_lambda}
    found, right = (
        gae(**inputs, **factors, response_mask=each).advantages[0, :tokens]
        for each in (too_long, mask)
    )

    earned, expected = rewards[0].tolist(), values[0].tolist()
    for each, end in (found, tokens + 1), (right, tokens):
        looped = by_recursion(earned[:end], expected[:end], gamma, gae_lambda)
        assert_close(each, torch.tensor(looped[:tokens], dtype=torch.float64))
    bias = [
        gamma * (1 - gae_lambda) * (gamma * gae_lambda) ** (tokens - 1 - t)
        for t in range(tokens)
    ]
    wanted = torch.tensor(bias, dtype=torch.float64) * expected[tokens]
    assert_close(found - right, wanted)
