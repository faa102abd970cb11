"""PPO's clipped policy loss."""

import math
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref import loops, losses
from ppo_ref.practice.hole import Hole, counted, log_probs, mask_with_gaps, tenths


class Case(NamedTuple):
    """The arguments."""

    log_probs: Tensor
    old_log_probs: Tensor
    advantages: Tensor
    mask: Tensor
    clip: float


def _make(rng: Generator, batch: int, time: int) -> Case:
    old = log_probs(rng, batch, time) - 2  # so that the new ones are below 0
    return Case(
        # Ratios up to 4, of which none is where the clip begins.
        old + 1.2 * tenths(rng, batch, time) + 0.01,
        old,
        tenths(rng, batch, time) + 0.05,  # never 0
        mask_with_gaps(rng, batch, time),
        clip=0.2,
    )


def _right(case: Case) -> Tensor:
    rows = (loops.counted(x, case.mask) for x in case[:3])
    tokens = [
        loops.policy_loss(math.exp(new - old), advantage, case.clip, case.clip, None)
        for new, old, advantage in zip(*rows, strict=True)
    ]
    return torch.tensor(loops.mean(tokens), dtype=torch.float64)


def _ours(case: Case) -> object:
    return losses.policy_loss(
        log_probs=case.log_probs,
        old_log_probs=case.old_log_probs,
        advantages=case.advantages,
        response_mask=case.mask,
        clip_range=case.clip,
    )


HOLE = Hole(
    "policy_loss",
    _make,
    _right,
    _ours,
    ("log_probs", "old_log_probs", "advantages"),
    gradient="log_probs",
)


@HOLE.mistake
def _wrong_side(case: Case) -> Tensor:
    return _mean(case, -torch.max(_plain(case), _clipped(case)))


@HOLE.mistake
def _ascent(case: Case) -> Tensor:
    return _mean(case, torch.min(_plain(case), _clipped(case)))


@HOLE.mistake
def _ascent_of_the_larger(case: Case) -> Tensor:
    return _mean(case, torch.max(_plain(case), _clipped(case)))


@HOLE.mistake
def _dual_clip(case: Case) -> Tensor:
    worse = _worse(case, _ratio(case))
    bounded = torch.max(worse, 3 * case.advantages)
    return _mean(case, -torch.where(case.advantages < 0, bounded, worse))


@HOLE.mistake
def _always_clipped(case: Case) -> Tensor:
    return _mean(case, -_clipped(case))


@HOLE.mistake
def _never_clipped(case: Case) -> Tensor:
    return _mean(case, -_plain(case))


@HOLE.mistake
def _ratio_upside_down(case: Case) -> Tensor:
    turned = case._replace(log_probs=case.old_log_probs, old_log_probs=case.log_probs)
    return _loss(turned)


@HOLE.mistake
def _ratio_without_exp(case: Case) -> Tensor:
    return _mean(case, -_worse(case, case.log_probs - case.old_log_probs))


@HOLE.mistake
def _ratio_of_log_probs(case: Case) -> Tensor:
    return _mean(case, -_worse(case, case.log_probs / case.old_log_probs))


@HOLE.mistake
def _ratio_detached(case: Case) -> Tensor:
    return _mean(case, -_worse(case, _ratio(case).detach()) + 0 * case.log_probs)


@HOLE.mistake
def _clipped_to_clip(case: Case) -> Tensor:
    near = _ratio(case).clamp(-case.clip, case.clip) * case.advantages
    return _mean(case, -torch.min(_plain(case), near))


@HOLE.mistake
def _clipped_above_only(case: Case) -> Tensor:
    near = _ratio(case).clamp(max=1 + case.clip) * case.advantages
    return _mean(case, -torch.min(_plain(case), near))


@HOLE.mistake
def _log_ratio_clipped(case: Case) -> Tensor:
    log_ratio = case.log_probs - case.old_log_probs
    near = log_ratio.clamp(-case.clip, case.clip).exp() * case.advantages
    return _mean(case, -torch.min(_plain(case), near))


@HOLE.mistake
def _minimum_of_ratios(case: Case) -> Tensor:
    ratio = _ratio(case)
    near = ratio.clamp(1 - case.clip, 1 + case.clip)
    return _mean(case, -torch.min(ratio, near) * case.advantages)


@HOLE.mistake
def _product_clipped(case: Case) -> Tensor:
    near = _plain(case).clamp(1 - case.clip, 1 + case.clip)
    return _mean(case, -torch.min(_plain(case), near))


@HOLE.mistake
def _advantages_without_sign(case: Case) -> Tensor:
    return _loss(case._replace(advantages=case.advantages.abs()))


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
def _means_multiplied(case: Case) -> Tensor:
    ratio = _mean(case, _ratio(case))
    advantage = _mean(case, case.advantages)
    near = ratio.clamp(1 - case.clip, 1 + case.clip)
    return -torch.min(ratio * advantage, near * advantage)


@HOLE.mistake
def _ratio_of_responses(case: Case) -> Tensor:
    log_ratio = counted(case.log_probs - case.old_log_probs, case.mask)
    ratio = log_ratio.sum(1, keepdim=True).exp()
    return _mean(case, -_worse(case, ratio))


@HOLE.mistake
def _log_probs_instead_of_ratio(case: Case) -> Tensor:
    return _mean(case, -case.log_probs * case.advantages)


@HOLE.mistake
def _smaller_of_two_means(case: Case) -> Tensor:
    return -torch.min(_mean(case, _plain(case)), _mean(case, _clipped(case)))


@HOLE.mistake
def _gradient_through_the_clip(case: Case) -> Tensor:
    ratio = _ratio(case)
    moved = (ratio.clamp(1 - case.clip, 1 + case.clip) - ratio).detach()
    near = (ratio + moved) * case.advantages
    return _mean(case, -torch.min(_plain(case), near))


def _ratio(case: Case) -> Tensor:
    return (case.log_probs - case.old_log_probs).exp()


def _plain(case: Case) -> Tensor:
    return _ratio(case) * case.advantages


def _clipped(case: Case) -> Tensor:
    return _ratio(case).clamp(1 - case.clip, 1 + case.clip) * case.advantages


def _worse(case: Case, ratio: Tensor) -> Tensor:
    near = ratio.clamp(1 - case.clip, 1 + case.clip)
    return torch.min(ratio * case.advantages, near * case.advantages)


def _tokens(case: Case) -> Tensor:
    return -_worse(case, _ratio(case))


def _loss(case: Case) -> Tensor:
    return _mean(case, _tokens(case))


def _mean(case: Case, tokens: Tensor) -> Tensor:
    return counted(tokens, case.mask).sum() / case.mask.sum()
