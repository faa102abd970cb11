"""Three estimates of the KL."""

from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref import kl, loops
from ppo_ref.practice.hole import Hole, log_probs


class Case(NamedTuple):
    """The arguments."""

    log_probs: Tensor
    ref_log_probs: Tensor


def _make(rng: Generator, batch: int, time: int) -> Case:
    return Case(log_probs(rng, batch, time), log_probs(rng, batch, time))


def _right(case: Case) -> tuple[Tensor, ...]:
    pairs = list(zip(*(x.flatten().tolist() for x in case), strict=True))
    estimates = loops.kl_k1, loops.kl_k2, loops.kl_k3
    return tuple(
        torch.tensor([k(*pair) for pair in pairs], dtype=torch.float64).view_as(case[0])
        for k in estimates
    )


def _ours(case: Case) -> object:
    estimates = kl.kl_k1, kl.kl_k2, kl.kl_k3
    return [k(**case._asdict()) for k in estimates]


HOLE = Hole("kl", _make, _right, _ours)


@HOLE.mistake
def _reversed(case: Case) -> tuple[Tensor, ...]:
    return _estimates(case.ref_log_probs - case.log_probs)


@HOLE.mistake
def _k1_reversed(case: Case) -> tuple[Tensor, ...]:
    k1, k2, k3 = _of(case)
    return -k1, k2, k3


@HOLE.mistake
def _k3_reversed(case: Case) -> tuple[Tensor, ...]:
    k1, k2, _ = _of(case)
    return k1, k2, k1.exp() - 1 - k1


@HOLE.mistake
def _k2_without_half(case: Case) -> tuple[Tensor, ...]:
    k1, k2, k3 = _of(case)
    return k1, 2 * k2, k3


@HOLE.mistake
def _k2_of_the_ratio(case: Case) -> tuple[Tensor, ...]:
    k1, _, k3 = _of(case)
    return k1, ((-k1).exp() - 1) ** 2 / 2, k3


@HOLE.mistake
def _k1_without_sign(case: Case) -> tuple[Tensor, ...]:
    k1, k2, k3 = _of(case)
    return k1.abs(), k2, k3


@HOLE.mistake
def _k1_not_negative(case: Case) -> tuple[Tensor, ...]:
    k1, k2, k3 = _of(case)
    return k1.clamp(min=0), k2, k3


@HOLE.mistake
def _k1_weighted(case: Case) -> tuple[Tensor, ...]:
    k1, k2, k3 = _of(case)
    return case.log_probs.exp() * k1, k2, k3


@HOLE.mistake
def _k3_without_the_one(case: Case) -> tuple[Tensor, ...]:
    k1, k2, k3 = _of(case)
    return k1, k2, k3 + 1


@HOLE.mistake
def _k3_with_other_sign(case: Case) -> tuple[Tensor, ...]:
    k1, k2, _ = _of(case)
    return k1, k2, (-k1).exp() - 1 - k1


@HOLE.mistake
def _k3_of_both_signs(case: Case) -> tuple[Tensor, ...]:
    k1, k2, _ = _of(case)
    return k1, k2, k1.exp() - 1 + k1


@HOLE.mistake
def _k3_without_log_ratio(case: Case) -> tuple[Tensor, ...]:
    k1, k2, _ = _of(case)
    return k1, k2, (-k1).exp() - 1


@HOLE.mistake
def _ratio_of_log_probs(case: Case) -> tuple[Tensor, ...]:
    return _estimates(case.log_probs / case.ref_log_probs)


@HOLE.mistake
def _difference_of_probabilities(case: Case) -> tuple[Tensor, ...]:
    return _estimates(case.log_probs.exp() - case.ref_log_probs.exp())


@HOLE.mistake
def _k3_bounded(case: Case) -> tuple[Tensor, ...]:
    k1, k2, k3 = _of(case)
    return k1, k2, k3.clamp(-10, 10)


def _estimates(k1: Tensor) -> tuple[Tensor, ...]:
    return k1, k1**2 / 2, (-k1).exp() - 1 + k1


def _of(case: Case) -> tuple[Tensor, ...]:
    return _estimates(case.log_probs - case.ref_log_probs)
