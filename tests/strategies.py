"""Random token batches: masks with gaps, empty and truncated rows, nan as padding.

Hypothesis draws the structure and a seed for the numbers; whatever lies outside the
mask is nan, so that every property also says that padding is never read.

The length of each row is drawn, then what stands between its tokens. Bits of one large
integer would not do: Hypothesis draws small ones most often, and rows would be empty.
"""

from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor

USUAL = st.sampled_from([0, 1, 0.5, 0.95, 1.0])
unit_interval = USUAL | st.floats(min_value=0, max_value=1)
SEEDS = st.integers(0, 2**16)


class TokenBatch(NamedTuple):
    token_level_rewards: Tensor
    values: Tensor
    response_mask: Tensor
    bootstrap_values: Tensor


def poisoned(x: Tensor, response_mask: Tensor) -> Tensor:
    """The same numbers, nan outside the mask."""
    return torch.where(response_mask, x, torch.nan)


def numbers(seed: int, *shape: int) -> Tensor:
    source = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=source, dtype=torch.float64)


# How many tokens of a row count. Ends of a list are drawn more often than its middle:
# there a row is rarely empty.
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9]
LENGTHS_WITH_EMPTY = [1, 2, 3, 4, 0, 5, 6, 7, 8, 9]
MOST_TOKENS = 9
# Slots that others wrote before a token; without any, no token has to be moved.
NO_GAPS = st.just(0)
GAPS = st.sampled_from([0, 0, 1, 0, 2])


@st.composite
def masks(draw: st.DrawFn, least: int = 0, shortest: int = 0) -> Tensor:
    """Rows of every length, gaps in half of the batches, padding.

    ``least`` tokens count in all, ``shortest`` in each row.
    """
    sizes = LENGTHS if shortest else LENGTHS_WITH_EMPTY
    lengths = draw(st.lists(st.sampled_from(sizes), min_size=1, max_size=4))
    lengths[0] += max(0, least - sum(lengths))
    before = draw(st.sampled_from([NO_GAPS, GAPS]))
    rows = []
    for length in lengths:
        row: list[bool] = []
        for _ in range(length):
            row += [False] * draw(before)
            row.append(True)
        rows.append(row)
    longest = max(1, *map(len, rows))
    width = longest + draw(st.sampled_from([0, 1, 3]))
    for row in rows:
        row += [False] * (width - len(row))
    return torch.tensor(rows)


def full_row_masks() -> st.SearchStrategy[Tensor]:
    """A token in every row."""
    return masks(shortest=1)


@st.composite
def token_tensors(
    draw: st.DrawFn, count: int, least: int = 1
) -> tuple[tuple[Tensor, ...], Tensor]:
    """Several poisoned tensors on one mask, and the mask."""
    mask = draw(masks(least=least))
    tensors = numbers(draw(SEEDS), count, *mask.shape)
    return tuple(poisoned(x, mask) for x in tensors), mask


@st.composite
def token_batches(draw: st.DrawFn) -> TokenBatch:
    """Rewards and values for advantages; some rows are cut off and bootstrap."""
    (rewards, values), mask = draw(token_tensors(2, least=0))
    bits = draw(st.integers(0, 15))
    cut = (bits >> torch.arange(4)) % 2
    bootstrap = numbers(draw(SEEDS), 4) * cut
    return TokenBatch(rewards, values, mask, bootstrap[: len(mask)])


class GroupedBatch(NamedTuple):
    token_level_rewards: Tensor
    response_mask: Tensor
    groups: Tensor


@st.composite
def grouped_batches(draw: st.DrawFn) -> GroupedBatch:
    """Groups of two rows or more under any names, their rows in any order."""
    names = st.integers(-(2**40), 2**40)
    chosen = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    named = []
    for name in chosen:
        named += [name] * draw(st.integers(2, 5))
    groups = torch.tensor(draw(st.permutations(named)))
    time = draw(st.integers(1, 5))
    seed = draw(SEEDS)
    mask = numbers(seed + 1, len(groups), time) < 0.5
    always = draw(st.integers(0, time - 1))
    mask[:, always] = True
    rewards = poisoned(numbers(seed, *mask.shape), mask)
    return GroupedBatch(rewards, mask, groups)
