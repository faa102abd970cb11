"""The clipped value loss."""

from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref import loops, losses
from ppo_ref.practice.hole import Hole, counted, mask_with_gaps, tenths


class Case(NamedTuple):
    """The arguments."""

    values: Tensor
    old_values: Tensor
    returns: Tensor
    mask: Tensor
    clip: float


def _make(rng: Generator, batch: int, time: int) -> Case:
    old = tenths(rng, batch, time)
    return Case(
        old + tenths(rng, batch, time) / 2,
        old,
        tenths(rng, batch, time) + 0.03,  # no error of 0, no two that are equal
        mask_with_gaps(rng, batch, time),
        clip=0.285,  # nothing lies just at its edge
    )


def _right(case: Case) -> Tensor:
    rows = (loops.counted(x, case.mask) for x in case[:3])
    tokens = [
        loops.value_loss(*numbers, value_clip_range=case.clip)
        for numbers in zip(*rows, strict=True)
    ]
    return torch.tensor(loops.mean(tokens), dtype=torch.float64)


def _ours(case: Case) -> object:
    return losses.value_loss(
        values=case.values,
        old_values=case.old_values,
        returns=case.returns,
        response_mask=case.mask,
        value_clip_range=case.clip,
    )


HOLE = Hole(
    "value_loss",
    _make,
    _right,
    _ours,
    ("values", "old_values", "returns"),
    gradient="values",
)


@HOLE.mistake
def _smaller_of_both(case: Case) -> Tensor:
    return _mean(case, torch.min(_plain(case), _clipped(case)))


@HOLE.mistake
def _never_clipped(case: Case) -> Tensor:
    return _mean(case, _plain(case))


@HOLE.mistake
def _always_clipped(case: Case) -> Tensor:
    return _mean(case, _clipped(case))


@HOLE.mistake
def _without_half(case: Case) -> Tensor:
    return 2 * _loss(case)


@HOLE.mistake
def _clipped_around_zero(case: Case) -> Tensor:
    return _against(case, case.values.clamp(-case.clip, case.clip))


@HOLE.mistake
def _error_clipped(case: Case) -> Tensor:
    error = (case.values - case.returns).clamp(-case.clip, case.clip)
    return _mean(case, error**2 / 2)


@HOLE.mistake
def _returns_clipped(case: Case) -> Tensor:
    target = _near(case.returns, case.old_values, case.clip)
    error = (case.values - target) ** 2
    return _mean(case, torch.max(2 * _plain(case), error) / 2)


@HOLE.mistake
def _returns_clipped_only(case: Case) -> Tensor:
    target = _near(case.returns, case.old_values, case.clip)
    return _mean(case, (case.values - target) ** 2 / 2)


@HOLE.mistake
def _clipped_above_only(case: Case) -> Tensor:
    near = case.values.minimum(case.old_values + case.clip)
    return _against(case, near)


@HOLE.mistake
def _old_values_as_target(case: Case) -> Tensor:
    return _loss(case._replace(returns=case.old_values))


@HOLE.mistake
def _values_and_old_exchanged(case: Case) -> Tensor:
    turned = case._replace(values=case.old_values, old_values=case.values)
    return _loss(turned)


@HOLE.mistake
def _absolute_error(case: Case) -> Tensor:
    return _mean(case, (2 * torch.max(_plain(case), _clipped(case))).sqrt())


@HOLE.mistake
def _half_absolute_error(case: Case) -> Tensor:
    return _absolute_error(case) / 2


@HOLE.mistake
def _error_not_squared(case: Case) -> Tensor:
    near = _near(case.values, case.old_values, case.clip)
    worse = torch.max(case.values - case.returns, near - case.returns)
    return _mean(case, worse / 2)


@HOLE.mistake
def _maximum_of_means(case: Case) -> Tensor:
    return torch.max(_mean(case, _plain(case)), _mean(case, _clipped(case)))


@HOLE.mistake
def _values_detached(case: Case) -> Tensor:
    return _loss(case._replace(values=case.values.detach())) + 0 * case.values.sum()


@HOLE.mistake
def _padding_counts(case: Case) -> Tensor:
    return _tokens(case).mean()


@HOLE.mistake
def _padding_in_the_count(case: Case) -> Tensor:
    return counted(_tokens(case), case.mask).mean()


@HOLE.mistake
def _mean_of_means(case: Case) -> Tensor:
    count = case.mask.sum(1)
    means = counted(_tokens(case), case.mask).sum(1) / count.clamp(min=1)
    return means[count > 0].mean()


@HOLE.mistake
def _empty_rows_are_zero(case: Case) -> Tensor:
    count = case.mask.sum(1).clamp(min=1)
    return (counted(_tokens(case), case.mask).sum(1) / count).mean()


@HOLE.mistake
def _sum_only(case: Case) -> Tensor:
    return counted(_tokens(case), case.mask).sum()


@HOLE.mistake
def _divided_by_rows(case: Case) -> Tensor:
    return counted(_tokens(case), case.mask).sum() / len(case.mask)


@HOLE.mistake
def _ascent(case: Case) -> Tensor:
    return -_loss(case)


@HOLE.mistake
def _clipped_to_a_share(case: Case) -> Tensor:
    """Clips to old * (1 - clip) and old * (1 + clip), as a ratio is."""
    return _against(
        case, _near(case.values, case.old_values, case.clip * case.old_values.abs())
    )


@HOLE.mistake
def _larger_before_the_square(case: Case) -> Tensor:
    near = _near(case.values, case.old_values, case.clip)
    worse = torch.max(case.values - case.returns, near - case.returns)
    return _mean(case, worse**2 / 2)


@HOLE.mistake
def _clipped_part_detached(case: Case) -> Tensor:
    """Where value and clipped value are the same, half of the gradient is lost."""
    near = _near(case.values.detach(), case.old_values, case.clip)
    return _against(case, near)


def _near(x: Tensor, center: Tensor, clip: float | Tensor) -> Tensor:
    return x.maximum(center - clip).minimum(center + clip)


def _plain(case: Case) -> Tensor:
    return (case.values - case.returns) ** 2 / 2


def _clipped(case: Case) -> Tensor:
    near = _near(case.values, case.old_values, case.clip)
    return (near - case.returns) ** 2 / 2


def _tokens(case: Case) -> Tensor:
    return torch.max(_plain(case), _clipped(case))


def _loss(case: Case) -> Tensor:
    return _mean(case, _tokens(case))


def _against(case: Case, near: Tensor) -> Tensor:
    return _mean(case, torch.max(_plain(case), (near - case.returns) ** 2 / 2))


def _mean(case: Case, tokens: Tensor) -> Tensor:
    return counted(tokens, case.mask).sum() / case.mask.sum()
