"""Seeded batches: ragged response masks, with and without gaps, and what lies on them.

All of it is float64, made on the CPU. Slots outside the mask hold garbage unless a
test clears them, as a trainer's padding would.
"""

import pytest
import torch
from torch import Generator, Tensor

seeds = pytest.mark.parametrize("seed", range(3))


def generator(seed: int) -> Generator:
    return torch.Generator().manual_seed(seed)


def contiguous_mask(seed: int) -> Tensor:
    """True on the first one to ``time`` slots of each row; at least two of each."""
    source = generator(seed)
    batch, time = torch.randint(2, 24, (2,), generator=source).tolist()
    lengths = torch.randint(1, time + 1, (batch, 1), generator=source)
    return torch.arange(time) < lengths


def gapped_mask(seed: int) -> Tensor:
    """The contiguous mask with gaps, as tool tokens leave them; a row may be empty."""
    mask = contiguous_mask(seed)
    mask &= torch.rand(mask.shape, generator=generator(seed)) < 0.7
    mask[:2, 0] = True
    return mask


def normal(seed: int, mask: Tensor, *axes: int, scale: float = 1.0) -> Tensor:
    shape = (*mask.shape, *axes)
    return scale * torch.randn(shape, generator=generator(seed), dtype=torch.float64)


def zero_outside(mask: Tensor, values: Tensor) -> Tensor:
    return torch.where(mask, values, 0.0)


def row(*values: float) -> Tensor:
    return torch.tensor([values], dtype=torch.float64)
