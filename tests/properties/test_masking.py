"""Masked statistics, whitening and aggregation of losses, against their definitions."""

import pytest
import torch
from hypothesis import given
from torch.testing import assert_close

from ppo_ref.aggregation import (
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from ppo_ref.masking import masked_mean, masked_sum, masked_variance, masked_whiten
from tests import oracles
from tests.strategies import numbers, poisoned, token_tensors

MASK = torch.tensor([[True, False, True, True], [True, True, False, False]])


@given(token_tensors(1, least=2))
def test_statistics_and_losses_are_those_of_the_lists(batch):
    (x,), mask = batch
    rows = oracles.row_lists(x, mask)
    tokens = [number for row in rows for number in row]
    means, sums = [oracles.mean(row) for row in rows], [sum(row) for row in rows]
    expected = {
        masked_sum: sum(tokens),
        masked_mean: oracles.mean(tokens),
        masked_variance: oracles.variance(tokens),
        token_sum: sum(tokens),
        token_mean: oracles.mean(tokens),
        sequence_mean_token_mean: oracles.mean(means),
        sequence_mean_token_sum: oracles.mean(sums),
    }
    for function, number in expected.items():
        assert_close(function(x, mask).item(), number)
    whitened = masked_whiten(x, mask)
    wanted = oracles.whitened(tokens, epsilon=1e-8)  # verl's
    assert_close(oracles.counted(whitened, mask), wanted)
    assert not whitened[~mask].any()


def test_of_one_token_there_is_a_mean_and_of_none_a_sum():
    one, none = MASK & (torch.arange(8).view(2, 4) == 2), torch.zeros_like(MASK)
    x = torch.full((2, 4), 3.0)
    assert masked_mean(x, one) == token_mean(x, one) == 3
    assert masked_sum(x, none) == token_sum(x, none) == 0


def test_whitening_keeps_a_constant_finite():
    assert not masked_whiten(torch.full((2, 4), 3.0), MASK).any()


# What each of the five tokens weighs, by row.
WEIGHTS = {
    masked_sum: [1, 1, 1, 1, 1],
    masked_mean: [1 / 5] * 5,
    token_mean: [1 / 5] * 5,
    token_sum: [1, 1, 1, 1, 1],
    sequence_mean_token_mean: [1 / 6, 1 / 6, 1 / 6, 1 / 4, 1 / 4],
    sequence_mean_token_sum: [1 / 2] * 5,
}


@pytest.mark.parametrize("function", WEIGHTS)
def test_a_token_gets_the_gradient_that_it_weighs_and_padding_none(function):
    x = poisoned(numbers(1, 2, 4), MASK).requires_grad_()
    function(x, MASK).backward()
    assert x.grad[MASK].tolist() == pytest.approx(WEIGHTS[function])
    assert not x.grad[~MASK].any()


def test_whitening_has_the_gradient_of_its_formula():
    x = numbers(2, 2, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: masked_whiten(x, MASK), x)
