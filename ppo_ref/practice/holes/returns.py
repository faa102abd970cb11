"""The discounted return of each token."""

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
    mask: Tensor
    gamma: float


def _make(rng: Generator, batch: int, time: int) -> Case:
    gamma = (1.0, 0.9, 0.5, 0.0)[int(torch.randint(4, (), generator=rng))]
    return Case(tenths(rng, batch, time), prefix_mask(rng, batch, time), gamma)


def _right(case: Case) -> Tensor:
    return loops.over_rows(
        loops.monte_carlo_returns, case.mask, case.rewards, gamma=case.gamma
    )


def _ours(case: Case) -> object:
    return advantages.monte_carlo_returns(
        token_level_rewards=case.rewards, response_mask=case.mask, gamma=case.gamma
    )


HOLE = Hole(
    "returns", _make, _right, _ours, ("rewards",), per_token=True, sizes=[*SIZES, LONG]
)


@HOLE.mistake
def _padding_is_received(case: Case) -> Tensor:
    return counted(backwards(case.rewards, case.gamma), case.mask)


@HOLE.mistake
def _not_discounted(case: Case) -> Tensor:
    return _returns(case._replace(gamma=1))


@HOLE.mistake
def _own_reward_left_out(case: Case) -> Tensor:
    return case.gamma * after(_returns(case))


@HOLE.mistake
def _next_return_only(case: Case) -> Tensor:
    return after(_returns(case))


@HOLE.mistake
def _own_reward_discounted(case: Case) -> Tensor:
    return case.gamma * _returns(case)


@HOLE.mistake
def _forwards(case: Case) -> Tensor:
    turned = backwards(_rewards(case).flip(1), case.gamma).flip(1)
    return counted(turned, case.mask)


@HOLE.mistake
def _forwards_not_discounted(case: Case) -> Tensor:
    return counted(_rewards(case).cumsum(1), case.mask)


@HOLE.mistake
def _discounted_from_the_start(case: Case) -> Tensor:
    return backwards(_discounts(case) * _rewards(case), 1)


@HOLE.mistake
def _discounted_twice(case: Case) -> Tensor:
    return backwards(_discounts(case) * _rewards(case), case.gamma)


@HOLE.mistake
def _discounted_from_the_end(case: Case) -> Tensor:
    left = backwards(case.mask.double(), 1) - 1
    return counted(backwards(case.gamma**left * _rewards(case), 1), case.mask)


@HOLE.mistake
def _total_at_every_token(case: Case) -> Tensor:
    total = _rewards(case).sum(1, keepdim=True)
    return counted(total.expand_as(case.rewards), case.mask)


@HOLE.mistake
def _discounted_total_at_every_token(case: Case) -> Tensor:
    total = _returns(case)[:, :1]
    return counted(total.expand_as(case.rewards), case.mask)


@HOLE.mistake
def _one_step_only(case: Case) -> Tensor:
    rewards = _rewards(case)
    return rewards + case.gamma * after(rewards)


@HOLE.mistake
def _reward_itself(case: Case) -> Tensor:
    return _rewards(case)


@HOLE.mistake
def _mean_of_the_rest(case: Case) -> Tensor:
    left = backwards(case.mask.double(), 1).clamp(min=1)
    return _returns(case) / left


@HOLE.mistake
def _one_token_late(case: Case) -> Tensor:
    return counted(before(_returns(case)), case.mask)


@HOLE.mistake
def _runs_on_into_the_next_row(case: Case) -> Tensor:
    flat = backwards(_rewards(case).reshape(1, -1), case.gamma)
    return counted(flat.view_as(case.rewards), case.mask)


@HOLE.mistake
def _slot_after_end(case: Case) -> Tensor:
    """Receives what stands in the first slot of the padding."""
    longer = case.mask | before(case.mask.int()).bool()
    return counted(_returns(case._replace(mask=longer)), case.mask)


@HOLE.mistake
def _last_column_left_out(case: Case) -> Tensor:
    rewards = _rewards(case)
    rewards[:, -1] = 0
    return backwards(rewards, case.gamma)


@HOLE.mistake
def _runs_on_into_the_row_below(case: Case) -> Tensor:
    result, carried = torch.zeros_like(case.rewards), 0.0
    for row, length in enumerate(case.mask.sum(1).tolist()):
        for t in reversed(range(length)):
            carried = float(case.rewards[row, t]) + case.gamma * carried
            result[row, t] = carried
    return result


@HOLE.mistake
def _last_reward_only(case: Case) -> Tensor:
    last = _rewards(case).where(last_token(case.mask), 0)
    return backwards(last, case.gamma)


@HOLE.mistake
def _divided_by_powers(case: Case) -> Tensor:
    """Divides the discount out again, which nothing is left of far from the start."""
    discounts = _discounts(case).to(case.rewards.dtype)
    summed = backwards(discounts * _rewards(case), 1)
    return counted(summed / discounts, case.mask)


def _rewards(case: Case) -> Tensor:
    return counted(case.rewards, case.mask)


def _returns(case: Case) -> Tensor:
    return backwards(_rewards(case), case.gamma)


def _discounts(case: Case) -> Tensor:
    return case.gamma ** torch.arange(case.rewards.shape[1]).double()
