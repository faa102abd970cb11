"""Weights and rejections against loops, and the expectations they are made for."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.rollout_correction import (
    accepted_sequences,
    accepted_tokens,
    sequence_weights,
    token_weights,
)
from tests import oracles
from tests.strategies import numbers, token_tensors

MASK = torch.tensor([[True, False, True, True], [True, True, False, False]])
FUNCTIONS = [token_weights, sequence_weights, accepted_tokens, accepted_sequences]
caps = st.sampled_from([2.0, 1, 0.3, math.inf])
all_bounds = st.sampled_from([(0.5, 2.0), (0, 1.5), (0.9, math.inf), (3, 3)])


def inputs(old_log_probs, rollout_log_probs, mask):
    return {
        "old_log_probs": old_log_probs,
        "rollout_log_probs": rollout_log_probs,
        "response_mask": mask,
    }


def per_row(of_ratios, batch):
    """A function from a row's log-ratios to its tokens', over the rows."""

    def of_row(old, rollout, _):
        return of_ratios([o - r for o, r in zip(old, rollout, strict=True)])

    return oracles.over_rows(of_row, batch[1], *batch[0])


@given(token_tensors(2, least=0), caps)
def test_token_weights_are_truncated_ratios(batch, cap):
    expected = per_row(lambda row: [min(math.exp(x), cap) for x in row], batch)
    assert_close(token_weights(**inputs(*batch[0], batch[1]), cap=cap), expected)


@given(token_tensors(2, least=0), caps)
def test_sequence_weights_are_truncated_products(batch, cap):
    def of_ratios(row):
        return [min(math.prod(math.exp(x) for x in row), cap)] * len(row)

    weights = sequence_weights(**inputs(*batch[0], batch[1]), cap=cap)
    assert_close(weights, per_row(of_ratios, batch))


@given(token_tensors(2, least=0), all_bounds)
def test_accepted_tokens_have_a_ratio_within_bounds(batch, bounds):
    low, high = bounds
    expected = per_row(lambda row: [low <= math.exp(x) <= high for x in row], batch)
    accepted = accepted_tokens(**inputs(*batch[0], batch[1]), bounds=bounds)
    assert torch.equal(accepted, expected.bool())


@given(token_tensors(2, least=0), all_bounds)
def test_accepted_sequences_have_a_product_within_bounds(batch, bounds):
    low, high = bounds

    def of_ratios(row):
        return [low <= math.prod(math.exp(x) for x in row) <= high] * len(row)

    accepted = accepted_sequences(**inputs(*batch[0], batch[1]), bounds=bounds)
    assert torch.equal(accepted, per_row(of_ratios, batch).bool())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nothing_carries_gradient(function):
    old, rollout = (x.requires_grad_() for x in numbers(2, 2, 2, 4))
    assert not function(**inputs(old, rollout, MASK)).requires_grad


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


@pytest.mark.parametrize("bounds", [(1.0, 2.0), (0.5, 1.0), (1, 1)])
def test_a_ratio_at_a_bound_is_within(bounds):
    same = inputs(torch.zeros(2, 4), torch.zeros(2, 4), MASK)
    for function in (accepted_tokens, accepted_sequences):
        assert torch.equal(function(**same, bounds=bounds), MASK)
