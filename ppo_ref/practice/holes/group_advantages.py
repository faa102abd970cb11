"""GRPO's advantages in a group."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref import group_advantages, loops
from ppo_ref.practice.hole import Hole

EPSILON = 1e-6


class Case(NamedTuple):
    """The arguments."""

    scores: Tensor
    groups: Tensor


def _make(rng: Generator, batch: int, time: int) -> Case:
    """``batch`` prompts with 2 to ``time`` responses each, in any order."""
    sizes = torch.randint(2, time + 1, (batch,), generator=rng)
    ids = torch.randperm(9, generator=rng).repeat(batch // 9 + 1)[:batch]
    groups = (ids + 9 * torch.arange(batch)).repeat_interleave(sizes)
    groups = groups[torch.randperm(len(groups), generator=rng)]
    # Halves: the mean of equal ones is exact, so that a group of them has no spread.
    # Some are as near to each other as epsilon.
    unit = (0.5, 0.5, 0.5**10)[_number(rng, 3)]
    scores = torch.randint(-2, 4, (len(groups),), generator=rng) * unit
    if _number(rng, 2):
        equal = groups == groups[0]
        scores[equal] = scores[0]
    return Case(scores, groups)


def _number(rng: Generator, below: int) -> int:
    return int(torch.randint(below, (), generator=rng))


def _right(case: Case) -> Tensor:
    scores, groups = case.scores.tolist(), case.groups.tolist()
    return torch.tensor(loops.grpo(scores, groups, EPSILON), dtype=torch.float64)


def _ours(case: Case) -> object:
    # One token a response: the score is its reward.
    return group_advantages.grpo(
        token_level_rewards=case.scores[:, None],
        response_mask=torch.ones(len(case.scores), 1, dtype=torch.bool),
        groups=case.groups,
    )


HOLE = Hole(
    "group_advantages",
    _make,
    _right,
    _ours,
    sizes=[(1, 2), (1, 3), (2, 2), (2, 3), (3, 4), (4, 6)],
)


@HOLE.mistake
def _whole_batch(case: Case) -> Tensor:
    spread = case.scores.std() + EPSILON
    return (case.scores - case.scores.mean()) / spread


@HOLE.mistake
def _group_mean_batch_spread(case: Case) -> Tensor:
    return _excess(case) / (case.scores.std() + EPSILON)


@HOLE.mistake
def _batch_mean_group_spread(case: Case) -> Tensor:
    return (case.scores - case.scores.mean()) / (_spread(case) + EPSILON)


@HOLE.mistake
def _divided_by_n(case: Case) -> Tensor:
    return _excess(case) / (_spread(case, correction=0) + EPSILON)


@HOLE.mistake
def _divided_by_variance(case: Case) -> Tensor:
    return _excess(case) / (_spread(case) ** 2 + EPSILON)


@HOLE.mistake
def _not_divided(case: Case) -> Tensor:
    return _excess(case)


@HOLE.mistake
def _not_shifted(case: Case) -> Tensor:
    return case.scores / (_spread(case) + EPSILON)


@HOLE.mistake
def _without_itself(case: Case) -> Tensor:
    return _without_own(case) / (_spread(case) + EPSILON)


@HOLE.mistake
def _leave_one_out(case: Case) -> Tensor:
    return _without_own(case)


@HOLE.mistake
def _without_epsilon(case: Case) -> Tensor:
    return _excess(case) / _spread(case)


@HOLE.mistake
def _equal_groups_are_one(case: Case) -> Tensor:
    spread = _spread(case)
    return torch.where(spread == 0, 1, _excess(case) / (spread + EPSILON))


@HOLE.mistake
def _equal_groups_keep_scores(case: Case) -> Tensor:
    spread = _spread(case)
    return torch.where(spread == 0, case.scores, _excess(case) / (spread + EPSILON))


@HOLE.mistake
def _groups_in_order(case: Case) -> Tensor:
    """Takes the rows in the order they stand in for one group after the other."""
    sizes = torch.unique(case.groups, return_counts=True)[1]
    groups = torch.arange(len(sizes)).repeat_interleave(sizes)
    return _grpo(case._replace(groups=groups))


@HOLE.mistake
def _groups_of_equal_size(case: Case) -> Tensor:
    number = len(torch.unique(case.groups))
    size = max(1, len(case.groups) // number)
    return _grpo(case._replace(groups=torch.arange(len(case.groups)) // size))


@HOLE.mistake
def _groups_of_neighbours(case: Case) -> Tensor:
    begins = torch.ones(len(case.groups), dtype=torch.bool)
    begins[1:] = case.groups[1:] != case.groups[:-1]
    return _grpo(case._replace(groups=begins.cumsum(0)))


@HOLE.mistake
def _sorted_by_group(case: Case) -> Tensor:
    return _grpo(case)[case.groups.argsort(stable=True)]


@HOLE.mistake
def _median(case: Case) -> Tensor:
    medians = _by_group(case, lambda scores: scores.median())
    return (case.scores - medians) / (_spread(case) + EPSILON)


@HOLE.mistake
def _by_range(case: Case) -> Tensor:
    lowest = _by_group(case, lambda scores: scores.min())
    highest = _by_group(case, lambda scores: scores.max())
    return (case.scores - lowest) / (highest - lowest + EPSILON)


@HOLE.mistake
def _sign_turned(case: Case) -> Tensor:
    return -_grpo(case)


@HOLE.mistake
def _mean_absolute_deviation(case: Case) -> Tensor:
    excess = _excess(case)
    spread = _by_group(case._replace(scores=excess.abs()), lambda x: x.mean())
    return excess / (spread + EPSILON)


@HOLE.mistake
def _best_subtracted(case: Case) -> Tensor:
    best = _by_group(case, lambda scores: scores.max())
    return (case.scores - best) / (_spread(case) + EPSILON)


@HOLE.mistake
def _mean_group_size(case: Case) -> Tensor:
    """Takes responses divided by prompts for the size of every group."""
    size = len(case.scores) / len(set(case.groups.tolist()))
    excess = case.scores - _by_group(case, Tensor.sum) / size
    squares = _by_group(case._replace(scores=excess**2), Tensor.sum)
    return excess / ((squares / (size - 1)).sqrt() + EPSILON)


@HOLE.mistake
def _epsilon_under_root(case: Case) -> Tensor:
    return _excess(case) / (_spread(case) ** 2 + EPSILON).sqrt()


def _by_group(case: Case, number: Callable[[Tensor], Tensor]) -> Tensor:
    result = torch.zeros_like(case.scores)
    for group in set(case.groups.tolist()):
        inside = case.groups == group
        result[inside] = number(case.scores[inside])
    return result


def _spread(case: Case, correction: int = 1) -> Tensor:
    def std(scores: Tensor) -> Tensor:
        if len(scores) <= correction:
            return torch.tensor(0.0)
        return scores.std(correction=correction)

    return _by_group(case, std)


def _excess(case: Case) -> Tensor:
    return case.scores - _by_group(case, Tensor.mean)


def _without_own(case: Case) -> Tensor:
    count = _by_group(case, lambda scores: torch.tensor(float(len(scores))))
    return _excess(case) * count / (count - 1).clamp(min=1)


def _grpo(case: Case) -> Tensor:
    return _excess(case) / (_spread(case) + EPSILON)
