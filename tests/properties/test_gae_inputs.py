"""What GAE takes in: the next slot that counts, and what tools' slots would add."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import gae
from tests.strategies import numbers, token_batches, unit_interval


def estimated(batch, gamma, gae_lambda):
    return gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda).advantages


def rows(batch):
    """Row number, the slots that count, rewards and values by slot, and the end."""
    for row, mask in enumerate(batch.response_mask):
        slots = mask.nonzero().flatten().tolist()
        rewards = batch.token_level_rewards[row].tolist()
        values = batch.values[row].tolist()
        yield row, slots, rewards, values, batch.bootstrap_values[row].item()


@given(token_batches(), unit_interval, unit_interval)
def test_gae_over_counted_tokens(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    \delta_t &= r_t + \gamma V(s_n) - V(s_t) \\
    \hat A_t &= \delta_t + \gamma\lambda\,\hat A_n
    \end{aligned}

    n is the next slot that counts; after the last one V is the bootstrap and A is 0.
    """
    expected = torch.zeros(batch.response_mask.shape, dtype=torch.float64)
    for row, slots, rewards, values, end in rows(batch):
        for t in reversed(slots):
            n = min((later for later in slots if later > t), default=None)
            value_after = end if n is None else values[n]
            advantage_after = 0.0 if n is None else expected[row, n].item()
            delta = rewards[t] + gamma * value_after - values[t]
            expected[row, t] = delta + gamma * gae_lambda * advantage_after
    assert_close(estimated(batch, gamma, gae_lambda), expected)


@given(st.integers(0, 4), st.integers(1, 4), st.integers(0, 4), st.data())
def test_tool_token_bias(before, tool, after, data):
    r"""\tilde A_t - \hat A_t = (1-\lambda) \sum_{k=1}^{m} \lambda^{k-1}
    \bigl( V_{t+k} + r_t - R_t \bigr)

    t is the token before m slots of a tool without reward; R_t is the target at t
    when they are skipped. Checked for the tokens further left too: they take it on
    with lambda for each step.
    """
    lam = data.draw(unit_interval)
    layout = [True] * (before + 1) + [False] * tool + [True] * after
    mask = torch.tensor([layout])
    rewards, values = numbers(data.draw(st.integers(0, 999)), 2, 1, len(layout))
    rewards = rewards * mask
    inputs = {"token_level_rewards": rewards, "values": values}
    skipping, running = (
        gae(**inputs, response_mask=each, gae_lambda=lam).advantages[0]
        for each in (mask, torch.ones_like(mask))
    )
    target, t = by_loop(rewards[0], values[0], mask[0], lam)[before], before
    expected_after = target + (values - rewards)[0, t].item()
    said = values[0, t + 1 : t + 1 + tool].tolist()
    bias = (1 - lam) * math.fsum(
        lam**k * (v - expected_after) for k, v in enumerate(said)
    )
    assert_close((running - skipping)[t].item(), bias)
    for earlier in range(before):
        carried = bias * lam ** (before - earlier)
        assert_close((running - skipping)[earlier].item(), carried)


def by_loop(rewards, values, mask, lam):
    """Advantages at gamma 1 by slot, None where the mask skips."""
    advantage = value_after = 0.0
    advantages = [None] * len(mask)
    for t in reversed(mask.nonzero().flatten().tolist()):
        delta = rewards[t].item() + value_after - values[t].item()
        advantage = delta + lam * advantage
        value_after, advantages[t] = values[t].item(), advantage
    return advantages
