"""Masked sums, means, variances and whitening against their definitions."""

import pytest
import torch
from hypothesis import given
from torch.testing import assert_close

from ppo_ref.masking import masked_mean, masked_sum, masked_variance, masked_whiten
from tests import oracles
from tests.strategies import numbers, poisoned, token_tensors

MASK = torch.tensor([[True, False, True, True], [True, True, False, False]])


@given(token_tensors(1))
def test_masked_sum_and_mean_are_those_of_the_list(batch):
    (x,), mask = batch
    listed = oracles.counted(x, mask)
    assert_close(masked_sum(x, mask).item(), sum(listed))
    assert_close(masked_mean(x, mask).item(), oracles.mean(listed))


@given(token_tensors(1, least=2))
def test_masked_variance_has_bessels_correction(batch):
    (x,), mask = batch
    expected = oracles.variance(oracles.counted(x, mask))
    assert_close(masked_variance(x, mask).item(), expected)


@given(token_tensors(1, least=2))
def test_whitened_tokens_have_mean_0_and_variance_1(batch):
    (x,), mask = batch
    whitened = masked_whiten(x, mask)
    listed = oracles.counted(whitened, mask)
    assert_close(oracles.mean(listed), 0.0)
    assert_close(oracles.variance(listed), 1.0, rtol=1e-4, atol=0.0)  # verl's 1e-8
    assert not whitened[~mask].any()


def test_whitening_keeps_a_constant_finite():
    assert not masked_whiten(torch.full((2, 4), 3.0), MASK).any()


def test_a_sum_over_no_token_is_0():
    assert masked_sum(torch.ones(2, 4), torch.zeros_like(MASK)) == 0


@pytest.mark.parametrize("function", [masked_sum, masked_mean, masked_variance])
def test_padding_gets_no_gradient(function):
    x = poisoned(numbers(1, 2, 4), MASK).requires_grad_()
    function(x, MASK).backward()
    assert x.grad.isfinite().all()
    assert not x.grad[~MASK].any()
    assert x.grad[MASK].all()


def test_whitening_has_the_gradient_of_its_formula():
    x = numbers(2, 2, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: masked_whiten(x, MASK), x)
