"""Generalized advantage estimation."""

from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref import advantages, loops
from ppo_ref.practice.hole import (
    LONG,
    SIZES,
    Hole,
    after,
    backwards,
    before,
    counted,
    last_token,
    prefix_mask,
    tenths,
)


class Case(NamedTuple):
    """The arguments."""

    rewards: Tensor
    values: Tensor
    mask: Tensor
    gamma: float
    gae_lambda: float


def _make(rng: Generator, batch: int, time: int) -> Case:
    numbers = (1.0, 0.9, 0.5, 0.0)
    gamma, gae_lambda = (
        numbers[index] for index in torch.randint(4, (2,), generator=rng).tolist()
    )
    return Case(
        tenths(rng, batch, time),
        tenths(rng, batch, time) + 0.05,  # never 0
        prefix_mask(rng, batch, time),
        gamma,
        gae_lambda,
    )


def _right(case: Case) -> Tensor:
    return loops.over_rows(
        loops.gae,
        case.mask,
        case.rewards,
        case.values,
        gamma=case.gamma,
        gae_lambda=case.gae_lambda,
    )


def _ours(case: Case) -> object:
    return advantages.gae(
        token_level_rewards=case.rewards,
        values=case.values,
        response_mask=case.mask,
        gamma=case.gamma,
        gae_lambda=case.gae_lambda,
    )


HOLE = Hole(
    "gae",
    _make,
    _right,
    _ours,
    ("rewards", "values"),
    per_token=True,
    sizes=[*SIZES, LONG],
)


@HOLE.mistake
def _slot_after_eos(case: Case) -> Tensor:
    return _carried(case, _deltas(case, after(case.values)))


@HOLE.mistake
def _padding_carried(case: Case) -> Tensor:
    deltas = case.rewards + case.gamma * after(case.values) - case.values
    return counted(backwards(deltas, case.gamma * case.gae_lambda), case.mask)


@HOLE.mistake
def _rewards_in_padding(case: Case) -> Tensor:
    values = _values(case)
    deltas = case.rewards + case.gamma * after(values) - values
    return counted(backwards(deltas, case.gamma * case.gae_lambda), case.mask)


@HOLE.mistake
def _value_one_late(case: Case) -> Tensor:
    return _gae(case._replace(values=after(_values(case))))


@HOLE.mistake
def _value_one_early(case: Case) -> Tensor:
    return _gae(case._replace(values=before(_values(case))))


@HOLE.mistake
def _reward_one_late(case: Case) -> Tensor:
    return _gae(case._replace(rewards=after(counted(case.rewards, case.mask))))


@HOLE.mistake
def _next_value_left_out(case: Case) -> Tensor:
    return _carried(case, _deltas(case, torch.zeros_like(case.values)))


@HOLE.mistake
def _own_value_left_out(case: Case) -> Tensor:
    return _carried(case, _deltas(case, after(_values(case))) + _values(case))


@HOLE.mistake
def _last_value_repeated(case: Case) -> Tensor:
    following = torch.where(last_token(case.mask), case.values, after(_values(case)))
    return _carried(case, _deltas(case, following))


@HOLE.mistake
def _not_carried(case: Case) -> Tensor:
    return _gae(case._replace(gae_lambda=0))


@HOLE.mistake
def _lambda_left_out(case: Case) -> Tensor:
    return _gae(case._replace(gae_lambda=1))


@HOLE.mistake
def _gamma_not_carried(case: Case) -> Tensor:
    return backwards(_deltas(case, after(_values(case))), case.gae_lambda)


@HOLE.mistake
def _gamma_left_out_of_delta(case: Case) -> Tensor:
    return _carried(case, _deltas(case._replace(gamma=1), after(_values(case))))


@HOLE.mistake
def _gamma_left_out(case: Case) -> Tensor:
    return _gae(case._replace(gamma=1))


@HOLE.mistake
def _lambda_in_delta(case: Case) -> Tensor:
    following = case.gae_lambda * after(_values(case))
    return _carried(case, _deltas(case, following))


@HOLE.mistake
def _gamma_and_lambda_exchanged(case: Case) -> Tensor:
    return _gae(case._replace(gamma=case.gae_lambda, gae_lambda=case.gamma))


@HOLE.mistake
def _forwards(case: Case) -> Tensor:
    deltas = _deltas(case, after(_values(case))).flip(1)
    turned = backwards(deltas, case.gamma * case.gae_lambda).flip(1)
    return counted(turned, case.mask)


@HOLE.mistake
def _next_delta_only(case: Case) -> Tensor:
    deltas = _deltas(case, after(_values(case)))
    return deltas + case.gamma * case.gae_lambda * after(deltas)


@HOLE.mistake
def _own_delta_weighted(case: Case) -> Tensor:
    return case.gamma * case.gae_lambda * _gae(case)


@HOLE.mistake
def _mixed_by_one_minus_lambda(case: Case) -> Tensor:
    return (1 - case.gae_lambda) * _gae(case)


@HOLE.mistake
def _returns(case: Case) -> Tensor:
    return _gae(case) + _values(case)


@HOLE.mistake
def _monte_carlo_return(case: Case) -> Tensor:
    return backwards(counted(case.rewards, case.mask), case.gamma)


@HOLE.mistake
def _sign_turned(case: Case) -> Tensor:
    return -_gae(case)


@HOLE.mistake
def _whitened(case: Case) -> Tensor:
    advantages = _gae(case)
    kept = advantages[case.mask]
    spread = kept.var() + 1e-8 if len(kept) > 1 else torch.tensor(1.0)
    return counted((advantages - kept.mean()) / spread.sqrt(), case.mask)


@HOLE.mistake
def _last_token_ends_early(case: Case) -> Tensor:
    last = last_token(case.mask)
    deltas = _deltas(case, after(_values(case)))
    return _carried(case, deltas.where(~last, 0))


@HOLE.mistake
def _errors_of_padding_carried(case: Case) -> Tensor:
    following = after(_values(case))
    deltas = case.rewards + case.gamma * following - case.values
    return counted(_carried(case, deltas), case.mask)


@HOLE.mistake
def _rest_of_the_weights_missing(case: Case) -> Tensor:
    """Mixes the advantages of n steps by (1 - lambda) lambda**(n - 1), to the end."""
    left = backwards(case.mask.double(), 1)
    at_end = case.gae_lambda**left * _gae(case._replace(gae_lambda=1))
    return counted(_gae(case) - at_end, case.mask)


@HOLE.mistake
def _last_column_left_out(case: Case) -> Tensor:
    deltas = _deltas(case, after(_values(case)))
    deltas[:, -1] = 0
    return _carried(case, deltas)


def _values(case: Case) -> Tensor:
    return counted(case.values, case.mask)


def _deltas(case: Case, following: Tensor) -> Tensor:
    deltas = case.rewards + case.gamma * following - case.values
    return counted(deltas, case.mask)


def _carried(case: Case, deltas: Tensor) -> Tensor:
    return backwards(deltas, case.gamma * case.gae_lambda)


def _gae(case: Case) -> Tensor:
    return _carried(case, _deltas(case, after(counted(case.values, case.mask))))
