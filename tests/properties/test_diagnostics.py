"""The figures of a batch against loops, at their bounds, and where they have none."""

import math

import pytest
import torch
from hypothesis import given
from torch.testing import assert_close

from ppo_ref.advantages import gae
from ppo_ref.diagnostics import (
    effective_sample_size,
    explained_variance,
    ratio_statistics,
)
from tests import oracles
from tests.strategies import numbers, token_tensors

MASK = torch.tensor([[True, False, True, True], [True, True, False, False]])


def of_critic(values, returns, mask=MASK):
    return explained_variance(values=values, returns=returns, response_mask=mask).item()


def of_pair(log_probs, old_log_probs, mask=MASK):
    return ratio_statistics(
        log_probs=log_probs, old_log_probs=old_log_probs, response_mask=mask
    )


@given(token_tensors(2, least=2))
def test_explained_variance_is_one_less_the_variance_left(batch):
    (values, returns), mask = batch
    came, foreseen = oracles.counted(returns, mask), oracles.counted(values, mask)
    left = oracles.variance([r - v for r, v in zip(came, foreseen, strict=True)])
    expected = 1 - left / oracles.variance(came)
    assert_close(of_critic(values, returns, mask), expected)


@pytest.mark.parametrize("score", [0.0, 0.3])
@pytest.mark.parametrize("time", [1, 1024])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_returns_that_differ_by_rounding_alone_explain_nothing(score, time, dtype):
    """The first iteration: every answer wrong, no KL, and lambda 1."""
    values = numbers(1, 16, time).to(dtype)
    rewards = torch.zeros_like(values)
    rewards[:, -1] = score
    mask = torch.ones_like(values, dtype=torch.bool)
    returns = gae(
        token_level_rewards=rewards, values=values, response_mask=mask
    ).returns
    assert math.isnan(of_critic(values, returns, mask))


@given(token_tensors(1))
def test_effective_sample_size_is_kishs(batch):
    (x,), mask = batch
    weights = x.exp()
    expected = oracles.effective_share(oracles.counted(weights, mask))
    share = effective_sample_size(weights, mask).item()
    assert_close(share, expected)
    assert 1 / mask.sum().item() - 1e-12 <= share <= 1 + 1e-12


@given(token_tensors(2))
def test_ratio_statistics_are_those_of_the_list(batch):
    (log_probs, old_log_probs), mask = batch
    pairs = zip(
        oracles.counted(log_probs, mask),
        oracles.counted(old_log_probs, mask),
        strict=True,
    )
    log_ratios = [new - old for new, old in pairs]
    ratios = [math.exp(x) for x in log_ratios]
    expected = {
        "mean": oracles.mean(ratios),
        "max": max(ratios),
        "min": min(ratios),
        "kl_k1": -oracles.mean(log_ratios),
        "kl_k3": oracles.mean([math.exp(x) - 1 - x for x in log_ratios]),
        "effective_sample_size": oracles.effective_share(ratios),
    }
    statistics = of_pair(log_probs, old_log_probs, mask)
    assert {name: x.item() for name, x in statistics._asdict().items()} == (
        pytest.approx(expected, rel=1e-7, abs=1e-7)
    )
