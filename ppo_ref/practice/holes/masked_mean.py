"""The mean over the tokens that count."""

from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref import loops, masking
from ppo_ref.practice.hole import Hole, counted, mask_with_gaps, tenths


class Case(NamedTuple):
    """The arguments."""

    x: Tensor
    mask: Tensor


def _make(rng: Generator, batch: int, time: int) -> Case:
    return Case(tenths(rng, batch, time), mask_with_gaps(rng, batch, time))


def _right(case: Case) -> Tensor:
    return torch.tensor(loops.mean(loops.counted(case.x, case.mask)))


HOLE = Hole(
    "masked_mean", _make, _right, lambda case: masking.masked_mean(*case), ("x",)
)


@HOLE.mistake
def _padding_counts(case: Case) -> Tensor:
    return case.x.mean()


@HOLE.mistake
def _padding_is_zero(case: Case) -> Tensor:
    return counted(case.x, case.mask).mean()


@HOLE.mistake
def _padding_in_the_sum(case: Case) -> Tensor:
    return case.x.sum() / case.mask.sum()


@HOLE.mistake
def _mean_of_means(case: Case) -> Tensor:
    return _row_means(case)[case.mask.any(1)].mean()


@HOLE.mistake
def _empty_rows_are_zero(case: Case) -> Tensor:
    return _row_means(case).mean()


@HOLE.mistake
def _one_too_many(case: Case) -> Tensor:
    return counted(case.x, case.mask).sum() / (case.mask.sum() + 1)


@HOLE.mistake
def _one_too_few(case: Case) -> Tensor:
    return counted(case.x, case.mask).sum() / (case.mask.sum() - 1).clamp(min=1)


@HOLE.mistake
def _sum_only(case: Case) -> Tensor:
    return counted(case.x, case.mask).sum()


@HOLE.mistake
def _divided_by_rows(case: Case) -> Tensor:
    return counted(case.x, case.mask).sum() / len(case.x)


@HOLE.mistake
def _divided_by_longest(case: Case) -> Tensor:
    longest = case.mask.sum(1).max()
    return (counted(case.x, case.mask).sum(1) / longest).mean()


@HOLE.mistake
def _zeros_left_out(case: Case) -> Tensor:
    x = counted(case.x, case.mask)
    return x.sum() / (x != 0).sum().clamp(min=1)


@HOLE.mistake
def _mask_upside_down(case: Case) -> Tensor:
    return counted(case.x, ~case.mask).sum() / (~case.mask).sum().clamp(min=1)


@HOLE.mistake
def _first_row_only(case: Case) -> Tensor:
    return counted(case.x, case.mask)[0].sum() / case.mask[0].sum()


@HOLE.mistake
def _first_tokens(case: Case) -> Tensor:
    """Takes as many tokens as count from the beginning of each row."""
    places = torch.arange(case.mask.shape[1])
    return _padding_counts_not(case.x, places < case.mask.sum(1, keepdim=True))


@HOLE.mistake
def _empty_row_counts_one(case: Case) -> Tensor:
    count = case.mask.sum(1).clamp(min=1).sum()
    return counted(case.x, case.mask).sum() / count


def _padding_counts_not(x: Tensor, mask: Tensor) -> Tensor:
    return counted(x, mask).sum() / mask.sum()


def _row_means(case: Case) -> Tensor:
    return counted(case.x, case.mask).sum(1) / case.mask.sum(1).clamp(min=1)
