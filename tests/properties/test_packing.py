"""Packing and unpacking are inverse; sums by doubling are sums."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.packing import discounted_suffix_sum, pack, token_ranks, unpack
from tests.strategies import numbers, token_tensors, unit_interval


@given(token_tensors(1, least=0))
def test_packing_lists_the_tokens_and_unpacking_puts_them_back(batch):
    (x,), mask = batch
    ranks = token_ranks(mask)
    packed = pack(x, mask, ranks)
    for row in range(len(mask)):
        listed = x[row][mask[row]].tolist()
        assert packed[row].tolist() == listed + [0.0] * (mask.shape[1] - len(listed))
    assert torch.equal(unpack(packed, mask, ranks), torch.where(mask, x, 0))


@given(
    st.integers(0, 40),
    unit_interval,
    st.integers(1, 50) | st.none(),
    st.integers(0, 99),
)
def test_suffix_sum_is_the_sum_of_the_next_terms(length, discount, terms, seed):
    x = numbers(seed, length)
    held = length if terms is None else terms
    expected = [
        sum(discount**k * later for k, later in enumerate(x[t : t + held].tolist()))
        for t in range(length)
    ]
    actual = discounted_suffix_sum(x, discount, terms)
    assert_close(actual, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("terms", range(1, 20))
def test_every_number_of_terms_holds_exactly_that_many(terms):
    held = discounted_suffix_sum(torch.ones(16), 1.0, terms)
    assert held.tolist() == [min(terms, 16 - t) for t in range(16)]
