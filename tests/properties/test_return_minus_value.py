"""Return minus value: a sample of Q - V, and the TD residuals climbed one by one."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.advantages import gae, monte_carlo_returns
from tests import oracles
from tests.properties.test_expected_return import (
    expected_return,
    prob_from,
    rows,
    trees,
)
from tests.strategies import token_batches, unit_interval


@given(trees(), unit_interval, st.randoms())
def test_mean_of_return_minus_value(tree, gamma, random):
    r"""\mathbb{E}[G_t - V(s_t) \mid s_t, a_t] = Q(s_t, a_t) - V(s_t)

    Whatever the critic says of a state. With the exact values the right-hand side is
    the advantage, whose mean over the actions is 0.
    """
    states = sorted({a[:t] for a in tree.answers for t in range(len(a))})
    said = {state: random.uniform(-1, 1) for state in states}
    rewards = rows(tree, lambda written: tree.rewards[written])
    found = gae(
        token_level_rewards=rewards,
        values=rows(tree, lambda written: said[written[:-1]]),
        response_mask=~rewards.isnan(),
        gamma=gamma,
    ).advantages
    for state in states:
        exact = expected_return(tree, gamma, state)
        advantages = []
        for written in tree.probs:
            if written[:-1] != state:
                continue
            mean = math.fsum(
                prob_from(tree, written, answer) * found[row, len(state)].item()
                for row, answer in enumerate(tree.answers)
                if answer[: len(written)] == written
            )
            after = expected_return(tree, gamma, written)
            action_value = tree.rewards[written] + gamma * after
            assert mean == pytest.approx(action_value - said[state], abs=1e-12)
            advantages.append(tree.probs[written] * (action_value - exact))
        assert math.fsum(advantages) == pytest.approx(0, abs=1e-12)


@given(token_batches(), unit_interval)
def test_return_minus_value_in_steps(batch, gamma):
    r"""G_t - V(s_t) = \sum_{k \ge 0} \gamma^k\, \delta_{t+k}"""
    inputs = batch._asdict()
    values = inputs.pop("values")
    deltas = oracles.over_rows(
        oracles.td_residuals(gamma),
        batch.response_mask,
        batch.token_level_rewards,
        values,
        bootstrap_values=batch.bootstrap_values,
    )
    received = monte_carlo_returns(**inputs, gamma=gamma)
    for row, mask in enumerate(batch.response_mask):
        steps = deltas[row][mask].tolist()
        climbed = [
            math.fsum(gamma**k * step for k, step in enumerate(steps[t:]))
            for t in range(len(steps))
        ]
        wanted = torch.tensor(climbed, dtype=torch.float64)
        torch.testing.assert_close((received - values)[row][mask], wanted)
