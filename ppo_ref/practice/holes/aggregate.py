"""From the losses of tokens to one loss."""

from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref import aggregation, loops
from ppo_ref.practice.hole import Hole, counted, rows_with_gaps, tenths

MODES = "token-mean", "seq-mean-token-mean", "seq-mean-token-sum"
DEFINITIONS = (
    loops.token_mean,
    loops.sequence_mean_token_mean,
    loops.sequence_mean_token_sum,
)
OURS = (
    aggregation.token_mean,
    aggregation.sequence_mean_token_mean,
    aggregation.sequence_mean_token_sum,
)


class Case(NamedTuple):
    """The arguments."""

    losses: Tensor
    mask: Tensor
    mode: str


def _make(rng: Generator, batch: int, time: int) -> Case:
    mode = MODES[int(torch.randint(3, (), generator=rng))]
    return Case(tenths(rng, batch, time), rows_with_gaps(rng, batch, time), mode)


def _right(case: Case) -> Tensor:
    definition = DEFINITIONS[MODES.index(case.mode)]
    return torch.tensor(definition(loops.row_lists(case.losses, case.mask)))


def _ours(case: Case) -> object:
    return OURS[MODES.index(case.mode)](case.losses, case.mask)


HOLE = Hole("aggregate", _make, _right, _ours, ("losses",))


@HOLE.mistake
def _padding_counts(case: Case) -> Tensor:
    return _mean(case._replace(mask=torch.ones_like(case.mask)))


@HOLE.mistake
def _padding_in_the_count(case: Case) -> Tensor:
    zeros = counted(case.losses, case.mask)
    return _mean(Case(zeros, torch.ones_like(case.mask), case.mode))


@HOLE.mistake
def _token_mean_is_mean_of_means(case: Case) -> Tensor:
    return _with(case, "token-mean", "seq-mean-token-mean")


@HOLE.mistake
def _mean_of_means_is_token_mean(case: Case) -> Tensor:
    return _with(case, "seq-mean-token-mean", "token-mean")


@HOLE.mistake
def _means_exchanged(case: Case) -> Tensor:
    exchanged = dict(zip(MODES, (MODES[1], MODES[0], MODES[2]), strict=True))
    return _mean(case._replace(mode=exchanged[case.mode]))


@HOLE.mistake
def _token_mean_divides_by_rows(case: Case) -> Tensor:
    return _with(case, "token-mean", "seq-mean-token-sum")


@HOLE.mistake
def _token_mean_divides_by_slots(case: Case) -> Tensor:
    if case.mode != "token-mean":
        return _mean(case)
    return counted(case.losses, case.mask).mean()


@HOLE.mistake
def _means_divide_by_slots(case: Case) -> Tensor:
    if case.mode != "seq-mean-token-mean":
        return _mean(case)
    return counted(case.losses, case.mask).mean()


@HOLE.mistake
def _means_divide_by_longest(case: Case) -> Tensor:
    if case.mode != "seq-mean-token-mean":
        return _mean(case)
    longest = case.mask.sum(1).max()
    return (counted(case.losses, case.mask).sum(1) / longest).mean()


@HOLE.mistake
def _means_are_summed(case: Case) -> Tensor:
    rows = len(case.mask) if case.mode == "seq-mean-token-mean" else 1
    return _mean(case) * rows


@HOLE.mistake
def _sums_are_summed(case: Case) -> Tensor:
    rows = len(case.mask) if case.mode == "seq-mean-token-sum" else 1
    return _mean(case) * rows


@HOLE.mistake
def _sums_divide_by_tokens(case: Case) -> Tensor:
    return _with(case, "seq-mean-token-sum", "token-mean")


@HOLE.mistake
def _sums_divide_by_slots(case: Case) -> Tensor:
    if case.mode != "seq-mean-token-sum":
        return _mean(case)
    return _mean(case) / case.mask.shape[1]


@HOLE.mistake
def _sums_divide_by_longest(case: Case) -> Tensor:
    if case.mode != "seq-mean-token-sum":
        return _mean(case)
    return _mean(case) / case.mask.sum(1).max()


@HOLE.mistake
def _mean_of_columns(case: Case) -> Tensor:
    if case.mode == "token-mean":
        return _mean(case)
    used = case.mask.any(0)
    return _mean(Case(case.losses.T[used], case.mask.T[used], case.mode))


@HOLE.mistake
def _sums_count_padding(case: Case) -> Tensor:
    if case.mode != "seq-mean-token-sum":
        return _mean(case)
    return case.losses.sum(1).mean()


@HOLE.mistake
def _length_by_last_token(case: Case) -> Tensor:
    last = case.mask.flip(1).int().cumsum(1).flip(1) > 0
    return _mean(case._replace(mask=last))


@HOLE.mistake
def _padding_in_the_sum(case: Case) -> Tensor:
    """Counts by the mask, and sums without it."""
    ones, count = torch.ones_like(case.mask), case.mask.sum(1)
    sums = case._replace(mask=ones, mode="seq-mean-token-sum")
    if case.mode == "token-mean":
        return case.losses.sum() / count.sum()
    if case.mode == "seq-mean-token-mean":
        return (case.losses.sum(1) / count).mean()
    return _mean(sums)


@HOLE.mistake
def _first_tokens(case: Case) -> Tensor:
    """Takes as many tokens as count from the beginning of each row."""
    places = torch.arange(case.mask.shape[1])
    return _mean(case._replace(mask=places < case.mask.sum(1, keepdim=True)))


@HOLE.mistake
def _gaps_count(case: Case) -> Tensor:
    begun = case.mask.int().cumsum(1) > 0
    goes_on = case.mask.flip(1).int().cumsum(1).flip(1) > 0
    return _mean(case._replace(mask=begun & goes_on))


@HOLE.mistake
def _zeros_left_out(case: Case) -> Tensor:
    if case.mode == "seq-mean-token-sum":
        return _mean(case)
    kept = case.mask & (case.losses != 0)
    sums, count = counted(case.losses, kept).sum(1), kept.sum(1)
    if case.mode == "token-mean":
        return sums.sum() / count.sum().clamp(min=1)
    return (sums / count.clamp(min=1)).mean()


def _with(case: Case, mode: str, taken: str) -> Tensor:
    return _mean(case._replace(mode=taken if case.mode == mode else case.mode))


def _mean(case: Case) -> Tensor:
    zeros, count = counted(case.losses, case.mask), case.mask.sum(1)
    if case.mode == "token-mean":
        return zeros.sum() / count.sum()
    if case.mode == "seq-mean-token-mean":
        return (zeros.sum(1) / count.clamp(min=1)).mean()
    return zeros.sum(1).mean()
