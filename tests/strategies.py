"""Random token batches: masks with gaps, empty and truncated rows, nan as padding.

Hypothesis draws the structure and a seed for the numbers; whatever lies outside the
mask is nan, so that every property also says that padding is never read.
"""

from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor

unit_interval = st.one_of(
    st.sampled_from([0, 1, 0.5, 0.95, 1.0]), st.floats(min_value=0, max_value=1)
)


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


@st.composite
def masks(draw: st.DrawFn, least: int = 0) -> Tensor:
    """Gaps, padding and, while ``least`` allows it, rows without a token."""
    batch, time = draw(st.integers(1, 4)), draw(st.integers(max(1, least), 9))
    bits = draw(st.integers(0, 2 ** (batch * time) - 1))
    mask = (bits >> torch.arange(batch * time)) % 2 == 1
    if mask.sum() < least:
        mask[:least] = True
    return mask.view(batch, time)


@st.composite
def full_row_masks(draw: st.DrawFn) -> Tensor:
    """A token in every row."""
    mask = draw(masks())
    mask[torch.arange(len(mask)), draw(st.integers(0, mask.shape[1] - 1))] = True
    return mask


@st.composite
def token_tensors(
    draw: st.DrawFn, count: int, least: int = 1
) -> tuple[tuple[Tensor, ...], Tensor]:
    """Several poisoned tensors on one mask, and the mask."""
    mask = draw(masks(least=least))
    seed = draw(st.integers(0, 2**16))
    tensors = numbers(seed, count, *mask.shape)
    return tuple(poisoned(x, mask) for x in tensors), mask


@st.composite
def token_batches(draw: st.DrawFn) -> TokenBatch:
    """What advantages are made of; some rows are cut off and bootstrap."""
    (rewards, values), mask = draw(token_tensors(2, least=0))
    cut = (draw(st.integers(0, 15)) >> torch.arange(4)) % 2
    bootstrap = numbers(draw(st.integers(0, 2**16)), 4) * cut
    return TokenBatch(rewards, values, mask, bootstrap[: len(mask)])


class GroupedBatch(NamedTuple):
    token_level_rewards: Tensor
    response_mask: Tensor
    groups: Tensor


@st.composite
def grouped_batches(draw: st.DrawFn) -> GroupedBatch:
    """Groups of two rows or more under any names, their rows in any order."""
    sizes = draw(st.lists(st.integers(2, 5), min_size=1, max_size=3))
    names = st.integers(-(2**40), 2**40)
    chosen = draw(
        st.lists(names, min_size=len(sizes), max_size=len(sizes), unique=True)
    )
    named = [
        name for name, size in zip(chosen, sizes, strict=True) for _ in range(size)
    ]
    groups = torch.tensor(draw(st.permutations(named)))
    time, seed = draw(st.integers(1, 5)), draw(st.integers(0, 2**16))
    mask = numbers(seed + 1, len(groups), time) < 0.5
    mask[torch.arange(len(groups)), draw(st.integers(0, time - 1))] = True
    rewards = poisoned(numbers(seed, *mask.shape), mask)
    return GroupedBatch(rewards, mask, groups)
