"""Packing and unpacking are inverse, and discounted sums are those of loops."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.kernels import scan
from ppo_ref.kernels.scan import discounted_suffix_sum, pack, token_places, unpack
from tests.strategies import numbers, token_tensors, unit_interval


@given(token_tensors(1, least=0))
def test_packing_lists_the_tokens_and_unpacking_puts_them_back(batch):
    (x,), mask = batch
    places = token_places(mask)
    packed = pack(x, places)
    for row in range(len(mask)):
        listed = x[row][mask[row]].tolist()
        empty = mask.shape[1] + 1 - len(listed)
        assert packed[row].tolist() == listed + [0.0] * empty
    assert torch.equal(unpack(packed, places), torch.where(mask, x, 0))


@pytest.mark.parametrize("bootstrap", [False, True])
def test_blocks_of_rows_are_rows(monkeypatch, bootstrap):
    rewards, values, noise = numbers(0, 3, 7, 5).float()
    ends = values[:, 0] if bootstrap else None
    given = rewards, values, noise > -0.5, ends, 0.9, 0.8
    whole = scan.discounted_residuals(*given)
    for slots in (1, 5, 10, 34):
        monkeypatch.setattr(scan, "BLOCK", slots)
        assert torch.equal(scan.discounted_residuals(*given), whole)


def test_no_row_is_no_block():
    none = torch.zeros(0, 5)
    assert scan.discounted_residuals(none, none, none.bool(), None, 1, 1).shape == (
        0,
        5,
    )


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


def test_weights_that_vanish_are_left_out():
    """0.001**8 still counts, 0.001**16 no more: 16 terms, as the last doubling made."""
    x = torch.zeros(40, dtype=torch.float64)
    x[-1] = 1
    sums = discounted_suffix_sum(x, 0.001)
    assert_close(sums[-16:], 0.001 ** torch.arange(15.0, -1, -1, dtype=torch.float64))
    assert not sums[:-16].any()
