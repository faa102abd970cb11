"""Truncated importance weights."""

import math
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref import loops, rollout_correction
from ppo_ref.practice.hole import Hole, counted, log_probs, mask_with_gaps, tenths


class Case(NamedTuple):
    """The arguments."""

    log_probs: Tensor
    engine_log_probs: Tensor
    mask: Tensor
    cap: float


def _make(rng: Generator, batch: int, time: int) -> Case:
    engine = log_probs(rng, batch, time) - 2  # so that the trainer's are below 0
    cap = (2.0, 1.5, 3.0)[int(torch.randint(3, (), generator=rng))]
    mask = mask_with_gaps(rng, batch, time)
    return Case(engine + 1.5 * tenths(rng, batch, time) + 0.01, engine, mask, cap)


def _right(case: Case) -> Tensor:
    result = torch.zeros(case.mask.shape, dtype=torch.float64)
    rows = (loops.counted(x, case.mask) for x in case[:2])
    weights = [
        min(math.exp(trainer - engine), case.cap)
        for trainer, engine in zip(*rows, strict=True)
    ]
    result[case.mask] = torch.tensor(weights, dtype=torch.float64)
    return result


def _ours(case: Case) -> object:
    return rollout_correction.token_weights(
        old_log_probs=case.log_probs,
        rollout_log_probs=case.engine_log_probs,
        response_mask=case.mask,
        cap=case.cap,
    )


HOLE = Hole(
    "truncated_weights",
    _make,
    _right,
    _ours,
    ("log_probs", "engine_log_probs"),
    per_token=True,
    gradient="log_probs",
    is_detached=True,
)


@HOLE.mistake
def _with_gradient(case: Case) -> Tensor:
    return _capped(case, _ratio(case))


@HOLE.mistake
def _ratio_upside_down(case: Case) -> Tensor:
    return _weights(case, 1 / _ratio(case))


@HOLE.mistake
def _never_capped(case: Case) -> Tensor:
    return counted(_ratio(case).detach(), case.mask)


@HOLE.mistake
def _lower_bound(case: Case) -> Tensor:
    return _weights(case, _ratio(case).clamp(min=1 / case.cap))


@HOLE.mistake
def _never_below_one(case: Case) -> Tensor:
    return _weights(case, _ratio(case).clamp(min=1))


@HOLE.mistake
def _clipped_as_in_ppo(case: Case) -> Tensor:
    return _weights(case, _ratio(case).clamp(min=2 - case.cap))


@HOLE.mistake
def _dropped_above_cap(case: Case) -> Tensor:
    ratio = _ratio(case).detach()
    return counted(ratio.where(ratio <= case.cap, 0), case.mask)


@HOLE.mistake
def _one_above_cap(case: Case) -> Tensor:
    ratio = _ratio(case).detach()
    return counted(ratio.where(ratio <= case.cap, 1), case.mask)


@HOLE.mistake
def _log_ratio_capped(case: Case) -> Tensor:
    return counted(_log_ratio(case).clamp(max=case.cap).exp().detach(), case.mask)


@HOLE.mistake
def _without_exp(case: Case) -> Tensor:
    return _weights(case, _log_ratio(case))


@HOLE.mistake
def _ratio_of_log_probs(case: Case) -> Tensor:
    return _weights(case, case.log_probs / case.engine_log_probs)


@HOLE.mistake
def _at_least_cap(case: Case) -> Tensor:
    return counted(_ratio(case).clamp(min=case.cap).detach(), case.mask)


@HOLE.mistake
def _whole_response(case: Case) -> Tensor:
    total = counted(_log_ratio(case), case.mask).sum(1, keepdim=True)
    return _weights(case, total.exp().expand_as(case.log_probs))


@HOLE.mistake
def _product_up_to_the_token(case: Case) -> Tensor:
    return _weights(case, counted(_log_ratio(case), case.mask).cumsum(1).exp())


@HOLE.mistake
def _geometric_mean(case: Case) -> Tensor:
    total = counted(_log_ratio(case), case.mask).sum(1, keepdim=True)
    count = case.mask.sum(1, keepdim=True).clamp(min=1)
    return _weights(case, (total / count).exp().expand_as(case.log_probs))


@HOLE.mistake
def _mean_is_one(case: Case) -> Tensor:
    weights = _weights(case, _ratio(case))
    return weights / (weights.sum() / case.mask.sum())


@HOLE.mistake
def _mean_is_one_in_the_row(case: Case) -> Tensor:
    weights = _weights(case, _ratio(case))
    mean = weights.sum(1, keepdim=True) / case.mask.sum(1, keepdim=True).clamp(min=1)
    return weights / mean.clamp(min=1e-8)


@HOLE.mistake
def _sum_is_one(case: Case) -> Tensor:
    weights = _weights(case, _ratio(case))
    return weights / weights.sum()


@HOLE.mistake
def _trainer_probability(case: Case) -> Tensor:
    return _weights(case, case.log_probs.exp())


@HOLE.mistake
def _mean_is_one_then_capped(case: Case) -> Tensor:
    weights = _weights(case, _ratio(case))
    return (weights / (weights.sum() / case.mask.sum())).clamp(max=case.cap)


@HOLE.mistake
def _difference_of_probabilities(case: Case) -> Tensor:
    difference = case.log_probs.exp() - case.engine_log_probs.exp()
    return _weights(case, 1 + difference)


def _log_ratio(case: Case) -> Tensor:
    return case.log_probs - case.engine_log_probs


def _ratio(case: Case) -> Tensor:
    return _log_ratio(case).exp()


def _capped(case: Case, ratio: Tensor) -> Tensor:
    return counted(ratio.clamp(max=case.cap), case.mask)


def _weights(case: Case, ratio: Tensor) -> Tensor:
    return _capped(case, ratio).detach()
