"""Weights and rejections against loops, and at the ends of their range."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.rollout_correction import (
    accepted_by_geometric_mean,
    accepted_sequences,
    accepted_tokens,
    sequence_weights,
    token_weights,
)
from tests import oracles
from tests.strategies import numbers, token_tensors

LEFT = torch.tensor([2, 1])
MASK = torch.tensor([[True, False, True, True], [True, True, False, False]])
caps = st.sampled_from([2.0, 1, 0.3, math.inf])
all_bounds = st.sampled_from([(0.5, 2.0), (0, 1.5), (0.9, math.inf), (3, 3)])


def inputs(old_log_probs, rollout_log_probs, mask):
    return {
        "old_log_probs": old_log_probs,
        "rollout_log_probs": rollout_log_probs,
        "response_mask": mask,
    }


def expected(function, batch, of_ratio):
    """By loops: of each token's ratio, their product in a row, or its root."""

    def of_row(old, rollout, _):
        ratios = [math.exp(o - r) for o, r in zip(old, rollout, strict=True)]
        if function in (sequence_weights, accepted_sequences):
            ratios = [math.prod(ratios)] * len(ratios)
        if function is accepted_by_geometric_mean and ratios:
            ratios = [math.prod(ratios) ** (1 / len(ratios))] * len(ratios)
        return [of_ratio(ratio) for ratio in ratios]

    return oracles.over_rows(of_row, batch[1], *batch[0])


@pytest.mark.parametrize("function", [token_weights, sequence_weights])
@given(batch=token_tensors(2, least=0), cap=caps)
def test_weights_are_truncated_ratios(function, batch, cap):
    weights = function(**inputs(*batch[0], batch[1]), cap=cap)
    assert_close(weights, expected(function, batch, lambda ratio: min(ratio, cap)))


@pytest.mark.parametrize(
    "function", [accepted_tokens, accepted_sequences, accepted_by_geometric_mean]
)
@given(batch=token_tensors(2, least=0), bounds=all_bounds)
def test_what_is_accepted_has_a_ratio_within_bounds(function, batch, bounds):
    accepted = function(**inputs(*batch[0], batch[1]), bounds=bounds)
    within = expected(function, batch, lambda ratio: bounds[0] <= ratio <= bounds[1])
    assert torch.equal(accepted, within.bool())


@pytest.mark.parametrize("function", [token_weights, sequence_weights])
def test_a_ratio_beyond_every_float_stays_finite(function):
    far, near = torch.full((2, 4), 500.0), torch.zeros(2, 4)
    weights = function(**inputs(far, near, MASK), cap=math.inf)
    assert_close(weights[MASK], torch.full((5,), math.exp(20)))
    weights = function(**inputs(near, far, MASK), cap=math.inf)
    assert_close(weights[MASK], torch.full((5,), math.exp(-20)))


def test_a_row_adds_its_log_ratios_before_any_is_clamped():
    old, rollout = torch.tensor([[0.0, -30.0]]), torch.tensor([[-30.0, 0.0]])
    weights = sequence_weights(**inputs(old, rollout, torch.ones(1, 2).bool()))
    assert_close(weights, torch.ones(1, 2))


@given(st.integers(0, 99))
def test_product_drift(seed):
    r"""
    \mathbb{E}_{\mu}\frac{\pi(y)}{\mu(y)} = 1, \qquad
    \mathbb{E}_{\mu}\log\frac{\pi(y)}{\mu(y)} = -\mathrm{KL}(\mu\,\|\,\pi)

    Over all answers of three tokens from two, each prefix with odds of its own.
    """
    answers = torch.cartesian_prod(*[torch.arange(2)] * 3)
    prefixes = [0 * answers[:, 0], 1 + answers[:, 0], 3 + answers[:, :2] @ LEFT]
    slots = torch.stack(prefixes, 1)
    right = numbers(seed, 2, 7).sigmoid()  # engine, trainer; by prefix
    engine, trainer = torch.where(answers > 0, right[:, slots], 1 - right[:, slots])
    everywhere = torch.ones(8, 3, dtype=torch.bool)
    both = inputs(trainer.log(), engine.log(), everywhere)
    weights = sequence_weights(**both, cap=math.inf)[:, 0]
    sampled, wanted = engine.prod(1), trainer.prod(1)
    assert (sampled @ weights).item() == pytest.approx(1)
    kl = (sampled * (sampled / wanted).log()).sum()
    assert_close(sampled @ weights.log(), -kl)
