"""Figures of ratios, weights and rejections against loops, and where there is none."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.advantages import gae
from ppo_ref.diagnostics import (
    effective_sample_size,
    explained_variance,
    ratio_statistics,
)
from ppo_ref.rollout_correction import accepted_tokens, token_weights
from ppo_ref.train.statistics import experience_statistics, update_statistics
from tests import networks
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
    came, foreseen = loops.counted(returns, mask), loops.counted(values, mask)
    left = loops.variance([r - v for r, v in zip(came, foreseen, strict=True)])
    expected = 1 - left / loops.variance(came)
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


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_weights_whose_squares_no_float_holds_are_counted(size):
    weights = size * torch.tensor([[2.0, 1.0, 1.0]])
    share = effective_sample_size(weights, torch.ones(1, 3, dtype=torch.bool))
    assert share.item() == pytest.approx(16 / (3 * 6))


@given(token_tensors(1))
def test_effective_sample_size_is_kishs(batch):
    (x,), mask = batch
    weights = x.exp()
    expected = loops.effective_sample_size(loops.counted(weights, mask))
    share = effective_sample_size(weights, mask).item()
    assert_close(share, expected)
    assert 1 / mask.sum().item() - 1e-12 <= share <= 1 + 1e-12


@given(token_tensors(2))
def test_ratio_statistics_are_those_of_the_list(batch):
    (log_probs, old_log_probs), mask = batch
    pairs = zip(
        loops.counted(log_probs, mask),
        loops.counted(old_log_probs, mask),
        strict=True,
    )
    log_ratios = [new - old for new, old in pairs]
    ratios = [math.exp(x) for x in log_ratios]
    expected = {
        "mean": loops.mean(ratios),
        "max": max(ratios),
        "min": min(ratios),
        "kl_k1": -loops.mean(log_ratios),
        "kl_k3": loops.mean([math.exp(x) - 1 - x for x in log_ratios]),
        "effective_sample_size": loops.effective_sample_size(ratios),
    }
    statistics = of_pair(log_probs, old_log_probs, mask)
    assert {name: x.item() for name, x in statistics._asdict().items()} == (
        pytest.approx(expected, rel=1e-7, abs=1e-7)
    )


EXPERIENCE = networks.experience(networks.actor(), 1, 3, 5, 9)


def test_a_batch_says_what_a_loop_over_it_says():
    mask = EXPERIENCE.rollout.response_mask

    def listed(name):
        return loops.counted(getattr(EXPERIENCE, name), mask)

    old, ref = listed("old_log_probs"), listed("ref_log_probs")
    # What the sampler said is 0 throughout.
    ratios = [math.exp(x) for x in old]
    returns, values = listed("returns"), listed("values")
    left = loops.variance([r - v for r, v in zip(returns, values, strict=True)])
    expected = {
        "score": loops.mean(EXPERIENCE.scores.tolist()),
        "kl": math.fsum(x - y for x, y in zip(old, ref, strict=True)) / 4,
        "entropy": loops.mean(listed("entropy")),
        "value": loops.mean(values),
        "return": loops.mean(returns),
        "explained_variance": 1 - left / loops.variance(returns),
        "response_length": (1 + 3 + 5 + 5) / 4,
        "truncated": 1 / 4,
        "rollout_kl": loops.mean([math.exp(x) - 1 - x for x in old]),
        "rollout_effective_sample_size": loops.effective_sample_size(ratios),
    }
    assert experience_statistics(EXPERIENCE) == pytest.approx(expected)
    # Where there is no variance, nothing can be explained.
    flat = EXPERIENCE._replace(returns=torch.ones_like(EXPERIENCE.returns))
    del expected["explained_variance"]
    assert experience_statistics(flat) == pytest.approx(expected | {"return": 1})


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6))
def test_mini_batches_are_joined_by_what_their_names_say(numbers):
    names = ("policy_loss", "ratio_max", "ratio_min", "actor_steps")
    tables = [dict.fromkeys(names, number) for number in numbers]
    joined = loops.mean(numbers), max(numbers), min(numbers), math.fsum(numbers)
    expected = dict(zip(names, joined, strict=True))
    assert update_statistics(tables) == pytest.approx(expected)


caps = st.sampled_from([2.0, 1, 0.3, math.inf])
all_bounds = st.sampled_from([(0.5, 2.0), (0, 1.5), (0.9, math.inf), (3, 3)])


def inputs(old_log_probs, rollout_log_probs, mask):
    return {
        "old_log_probs": old_log_probs,
        "rollout_log_probs": rollout_log_probs,
        "response_mask": mask,
    }


def looped(batch, of_ratio):
    """Each token's ratio by loops, and what is made of it."""

    def of_row(old, rollout, _):
        log_ratios = [a - b for a, b in zip(old, rollout, strict=True)]
        return [of_ratio(math.exp(x)) for x in log_ratios]

    (old_log_probs, rollout_log_probs), mask = batch
    return loops.over_rows(of_row, mask, old_log_probs, rollout_log_probs)


@given(batch=token_tensors(2, least=0), cap=caps)
def test_weights_are_truncated_ratios(batch, cap):
    weights = token_weights(**inputs(*batch[0], batch[1]), cap=cap)
    assert_close(weights, looped(batch, lambda ratio: min(ratio, cap)))


@given(batch=token_tensors(2, least=0), bounds=all_bounds)
def test_what_is_accepted_has_a_ratio_within_bounds(batch, bounds):
    accepted = accepted_tokens(**inputs(*batch[0], batch[1]), bounds=bounds)
    within = looped(batch, lambda ratio: bounds[0] <= ratio <= bounds[1])
    assert torch.equal(accepted, within.bool())
    old_log_probs, mask = batch[0][0], batch[1]
    both = inputs(old_log_probs, old_log_probs, mask)
    assert torch.equal(accepted_tokens(**both, bounds=(1.0, 1.0)), mask)


def test_a_ratio_beyond_every_float_stays_finite_and_has_no_gradient():
    far, near = torch.full((2, 4), 500.0, requires_grad=True), torch.zeros(2, 4)
    for old, rollout, power in ((far, near, 20), (near, far, -20)):
        weights = token_weights(**inputs(old, rollout, MASK), cap=math.inf)
        assert_close(weights[MASK], torch.full((5,), math.exp(power)))
        assert not weights.requires_grad
