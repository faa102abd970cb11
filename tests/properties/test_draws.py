"""What the other properties are shown: rows of every length, gaps, padding."""

from collections import Counter

import pytest
from hypothesis import given, settings
from torch import Tensor

from tests.strategies import MOST_TOKENS, token_batches


@pytest.fixture(scope="module")
def masks() -> list[Tensor]:
    drawn = []

    @settings(max_examples=100)
    @given(token_batches())
    def keep(batch):
        drawn.append(batch.response_mask)

    keep()
    return drawn


def test_rows_have_every_length_and_long_ones_are_common(masks):
    counted = [int(row.sum()) for mask in masks for row in mask]
    lengths = Counter(counted)
    assert set(lengths) == set(range(MOST_TOKENS + 1))
    assert sum(length >= 4 for length in counted) >= len(counted) / 2
    assert lengths[0] <= len(counted) / 5


def test_gaps_and_padding_are_common_and_so_are_batches_without_a_gap(masks):
    gaps = sum(bool((mask[:, 1:] > mask[:, :-1]).any()) for mask in masks)
    assert len(masks) / 4 <= gaps <= len(masks) * 3 / 4
    padded = sum(not mask.any(0)[-1] for mask in masks)
    assert len(masks) / 4 <= padded <= len(masks) * 3 / 4
