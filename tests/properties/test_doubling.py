"""Sums by doubling are sums, of as many terms as were asked for."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.kernels.scan import discounted_suffix_sum
from tests.strategies import numbers, unit_interval


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


def test_weights_that_vanish_are_left_out():
    """0.001**8 still counts, 0.001**16 no more: 16 terms, as the last doubling made."""
    x = torch.zeros(40, dtype=torch.float64)
    x[-1] = 1
    sums = discounted_suffix_sum(x, 0.001)
    assert_close(sums[-16:], 0.001 ** torch.arange(15.0, -1, -1, dtype=torch.float64))
    assert not sums[:-16].any()
