"""The four aggregations against loops, and under a split into micro-batches."""

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
from tests import oracles
from tests.strategies import numbers, poisoned, token_tensors

FUNCTIONS = [token_mean, token_sum, sequence_mean_token_mean, sequence_mean_token_sum]


@given(token_tensors(1))
def test_aggregations_are_those_of_the_lists(batch):
    (losses,), mask = batch
    rows = oracles.row_lists(losses, mask)
    tokens = [loss for row in rows for loss in row]
    assert_close(token_sum(losses, mask).item(), sum(tokens))
    assert_close(token_mean(losses, mask).item(), oracles.mean(tokens))
    means, sums = [oracles.mean(row) for row in rows], [sum(row) for row in rows]
    assert_close(sequence_mean_token_mean(losses, mask).item(), oracles.mean(means))
    assert_close(sequence_mean_token_sum(losses, mask).item(), oracles.mean(sums))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradient_is_the_weight_of_the_token(function):
    mask = torch.tensor([[True, True, False], [True, False, False]])
    weights = {
        token_mean: [1 / 3, 1 / 3, 1 / 3],
        token_sum: [1, 1, 1],
        sequence_mean_token_mean: [1 / 4, 1 / 4, 1 / 2],
        sequence_mean_token_sum: [1 / 2, 1 / 2, 1 / 2],
    }
    losses = poisoned(numbers(1, 2, 3), mask).requires_grad_()
    function(losses, mask).backward()
    expected = torch.tensor(weights[function], dtype=torch.float64)
    assert_close(losses.grad[mask], expected)
    assert not losses.grad[~mask].any()
