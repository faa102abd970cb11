"""From one score to a reward per token."""

from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref import loops, rewards
from ppo_ref.practice.hole import (
    Hole,
    after,
    before,
    counted,
    last_token,
    prefix_mask,
    tenths,
)


class Case(NamedTuple):
    """The arguments."""

    scores: Tensor
    kl: Tensor
    mask: Tensor
    kl_coef: float


def _make(rng: Generator, batch: int, time: int) -> Case:
    scores = tenths(rng, batch) + 0.05  # never 0
    kl_coef = (0.0, 0.1, 0.5)[int(torch.randint(3, (), generator=rng))]
    return Case(
        scores, tenths(rng, batch, time), prefix_mask(rng, batch, time), kl_coef
    )


def _right(case: Case) -> Tensor:
    result = torch.zeros(case.kl.shape, dtype=torch.float64)
    for row, mask in enumerate(case.mask):
        kl = loops.counted(case.kl[row], mask)
        reward = loops.token_level_rewards(
            float(case.scores[row]), kl, kl_coef=case.kl_coef
        )
        result[row][mask] = torch.tensor(reward, dtype=torch.float64)
    return result


def _ours(case: Case) -> object:
    return rewards.token_level_rewards(
        token_level_scores=rewards.token_level_scores(case.scores, case.mask),
        kl=case.kl,
        response_mask=case.mask,
        kl_coef=case.kl_coef,
    )


HOLE = Hole("token_level_rewards", _make, _right, _ours, ("kl",), per_token=True)


@HOLE.mistake
def _score_in_last_column(case: Case) -> Tensor:
    result = _penalty(case)
    result[:, -1] += case.scores
    return result


@HOLE.mistake
def _score_after_eos(case: Case) -> Tensor:
    slot = before(last_token(case.mask).int()).bool()
    slot[:, -1] |= case.mask[:, -1]  # a full row has no such slot
    return _penalty(case) + _score_at(case, slot)


@HOLE.mistake
def _score_before_eos(case: Case) -> Tensor:
    slot = after(last_token(case.mask).int()).bool()
    slot[:, 0] |= case.mask.sum(1) == 1  # an answer of one token has none before it
    return _penalty(case) + _score_at(case, slot)


@HOLE.mistake
def _score_at_every_token(case: Case) -> Tensor:
    return _penalty(case) + _score_at(case, case.mask)


@HOLE.mistake
def _score_at_first_token(case: Case) -> Tensor:
    result = _penalty(case)
    result[:, 0] += case.scores
    return result


@HOLE.mistake
def _score_shared_out(case: Case) -> Tensor:
    share = case.scores / case.mask.sum(1)
    return _penalty(case) + _score_at(case._replace(scores=share), case.mask)


@HOLE.mistake
def _score_left_out(case: Case) -> Tensor:
    return _penalty(case)


@HOLE.mistake
def _score_replaces_penalty(case: Case) -> Tensor:
    last = last_token(case.mask)
    return _penalty(case).where(~last, _score_at(case, last))


@HOLE.mistake
def _penalty_with_other_sign(case: Case) -> Tensor:
    return -_penalty(case) + _score_at(case, last_token(case.mask))


@HOLE.mistake
def _all_with_other_sign(case: Case) -> Tensor:
    return -_penalty(case) - _score_at(case, last_token(case.mask))


@HOLE.mistake
def _penalty_without_coefficient(case: Case) -> Tensor:
    return _penalty(case._replace(kl_coef=1)) + _score_at(case, last_token(case.mask))


@HOLE.mistake
def _penalty_left_out(case: Case) -> Tensor:
    return _score_at(case, last_token(case.mask))


@HOLE.mistake
def _penalty_at_last_token(case: Case) -> Tensor:
    total = counted(case.kl, case.mask).sum(1)
    scores = case.scores - case.kl_coef * total
    return _score_at(case._replace(scores=scores), last_token(case.mask))


@HOLE.mistake
def _mean_penalty_at_last_token(case: Case) -> Tensor:
    mean = counted(case.kl, case.mask).sum(1) / case.mask.sum(1)
    scores = case.scores - case.kl_coef * mean
    return _score_at(case._replace(scores=scores), last_token(case.mask))


@HOLE.mistake
def _padding_at_last_token(case: Case) -> Tensor:
    scores = case.scores - case.kl_coef * counted(case.kl, ~case.mask).sum(1)
    last = last_token(case.mask)
    return _penalty(case) + _score_at(case._replace(scores=scores), last)


@HOLE.mistake
def _penalty_never_negative(case: Case) -> Tensor:
    positive = case._replace(kl=case.kl.clamp(min=0))
    return _penalty(positive) + _score_at(case, last_token(case.mask))


@HOLE.mistake
def _coefficient_on_score(case: Case) -> Tensor:
    scores = case.kl_coef * case.scores
    last = last_token(case.mask)
    return _penalty(case) + _score_at(case._replace(scores=scores), last)


@HOLE.mistake
def _end_by_first_padding(case: Case) -> Tensor:
    """Looks for the first padding, of which a full row has none."""
    last = last_token(case.mask)
    full = case.mask.all(1, keepdim=True)
    first = torch.arange(case.kl.shape[1]) == 0
    return _penalty(case) + _score_at(case, torch.where(full, first, last))


def _penalty(case: Case) -> Tensor:
    return -case.kl_coef * counted(case.kl, case.mask)


def _score_at(case: Case, places: Tensor) -> Tensor:
    return torch.where(places, case.scores[:, None], 0)
