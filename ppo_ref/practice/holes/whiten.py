"""Whitening over the tokens that count."""

from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref import loops, masking
from ppo_ref.practice.hole import SIZES, Hole, counted, mask_with_gaps

EPSILON = 1e-8


class Case(NamedTuple):
    """The arguments."""

    x: Tensor
    mask: Tensor


def _make(rng: Generator, batch: int, time: int) -> Case:
    numbers = (torch.randperm(batch * time, generator=rng) + 1) / 2
    # Most are far apart, some as near as epsilon, some equal, which float32 holds.
    kind = int(torch.randint(4, (), generator=rng))
    x = (numbers, numbers, numbers / 2**13, torch.full_like(numbers, 0.5))[kind]
    return Case(x.view(batch, time), mask_with_gaps(rng, batch, time, least=2))


def _right(case: Case) -> Tensor:
    result = torch.zeros(case.x.shape, dtype=torch.float64)
    numbers = loops.whitened(loops.counted(case.x, case.mask), EPSILON)
    result[case.mask] = torch.tensor(numbers, dtype=torch.float64)
    return result


HOLE = Hole(
    "whiten",
    _make,
    _right,
    lambda case: masking.masked_whiten(*case),
    ("x",),
    per_token=True,
    sizes=[size for size in SIZES if size != (1, 1)],
)


@HOLE.mistake
def _padding_is_whitened(case: Case) -> Tensor:
    return (case.x - case.x.mean()) / (case.x.var() + EPSILON).sqrt()


@HOLE.mistake
def _padding_is_zero(case: Case) -> Tensor:
    return _padding_is_whitened(Case(case.x.where(case.mask, 0), case.mask))


@HOLE.mistake
def _variance_with_padding(case: Case) -> Tensor:
    return _centered(case) / (case.x.var() + EPSILON).sqrt()


@HOLE.mistake
def _variance_with_zeros(case: Case) -> Tensor:
    zeros = case.x.where(case.mask, 0)
    return _centered(case) / (zeros.var() + EPSILON).sqrt()


@HOLE.mistake
def _mean_with_padding(case: Case) -> Tensor:
    x = case.x - case.x.mean()
    variance = (x[case.mask] ** 2).sum() / (case.mask.sum() - 1)
    return x / (variance + EPSILON).sqrt()


@HOLE.mistake
def _each_row_alone(case: Case) -> Tensor:
    count = case.mask.sum(1, keepdim=True)
    mean = case.x.where(case.mask, 0).sum(1, keepdim=True) / count.clamp(min=1)
    squares = ((case.x - mean) ** 2).where(case.mask, 0).sum(1, keepdim=True)
    variance = squares / (count - 1).clamp(min=1)
    return (case.x - mean) / (variance + EPSILON).sqrt()


@HOLE.mistake
def _divided_by_n(case: Case) -> Tensor:
    variance = case.x[case.mask].var(correction=0)
    return _centered(case) / (variance + EPSILON).sqrt()


@HOLE.mistake
def _divided_by_variance(case: Case) -> Tensor:
    return _centered(case) / (case.x[case.mask].var() + EPSILON)


@HOLE.mistake
def _not_shifted(case: Case) -> Tensor:
    return case.x / (case.x[case.mask].var() + EPSILON).sqrt()


@HOLE.mistake
def _shifted_only(case: Case) -> Tensor:
    return _centered(case)


@HOLE.mistake
def _mean_put_back(case: Case) -> Tensor:
    x = case.x[case.mask]
    return _centered(case) / (x.var() + EPSILON).sqrt() + x.mean()


@HOLE.mistake
def _sign_turned(case: Case) -> Tensor:
    return -_centered(case) / (case.x[case.mask].var() + EPSILON).sqrt()


@HOLE.mistake
def _padding_in_the_squares(case: Case) -> Tensor:
    """The padding, set to 0 first, is as far from the mean as the mean is large."""
    shifted = case.x.where(case.mask, 0) - case.x[case.mask].mean()
    variance = (shifted**2).sum() / (case.mask.sum() - 1)
    return counted(shifted / (variance + EPSILON).sqrt(), case.mask)


@HOLE.mistake
def _epsilon_on_the_root(case: Case) -> Tensor:
    return counted(_centered(case) / (case.x[case.mask].std() + EPSILON), case.mask)


@HOLE.mistake
def _epsilon_left_out(case: Case) -> Tensor:
    return counted(_centered(case) / case.x[case.mask].std(), case.mask)


def _centered(case: Case) -> Tensor:
    return case.x - case.x[case.mask].mean()
