"""Blocks of rows change nothing; sums end where their weights vanish."""

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.kernels import scan
from ppo_ref.kernels.scan import discounted_suffix_sum
from tests.strategies import numbers


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


def test_weights_that_vanish_are_left_out():
    """0.001**8 still counts, 0.001**16 no more: 16 terms, as the last doubling made."""
    x = torch.zeros(40, dtype=torch.float64)
    x[-1] = 1
    sums = discounted_suffix_sum(x, 0.001)
    assert_close(sums[-16:], 0.001 ** torch.arange(15.0, -1, -1, dtype=torch.float64))
    assert not sums[:-16].any()
