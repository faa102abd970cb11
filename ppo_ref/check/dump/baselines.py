"""Advantages without a critic that are neither the returns nor these whitened."""

import torch
from torch import Tensor

from ppo_ref.alignment import last_token
from ppo_ref.check.dump.groups import groups_of
from ppo_ref.check.dump.reading import Fields
from ppo_ref.check.dump.verdicts import FAIL, LOOK, Said

_NEAR = 1e-4
_FEWEST_ROWS = 4  # of which it is no chance that a baseline is twice the return


def judge_baseline(
    dump: Fields, returns: Tensor, whitened: list[Tensor], *, taken: bool
) -> Said:
    """Say what was done to the returns; LOOK where a baseline may explain it.

    ``taken`` says that the returns have had their baseline taken off. ReMax takes one
    number off each row that is not in the dump, and an optimal token baseline one off
    each place of a group.
    """
    mask, advantages = dump.response_mask, dump.advantages
    assert advantages is not None
    many = int((mask & (returns != 0)).any(1).sum()) >= _FEWEST_ROWS
    for of, name in (
        (returns, "returns"),
        *((x, "whitened returns") for x in whitened),
    ):
        if (taken or many) and _equal(advantages, -of, mask):
            return FAIL, f"they are the {name}, negated"
        for word in ("late", "early"):
            if _is_moved(advantages, of, mask, word):
                return FAIL, f"they are the {name}, one slot {word}"
    if taken:
        return FAIL, f"they are neither the returns nor these whitened{_factor(dump)}"
    gap = returns - advantages
    start = mask.long().argmax(1, keepdim=True)
    if _equal(gap, gap.gather(1, start), mask):
        text = "they are the returns minus one number a row, which is not in the dump"
        return LOOK, f"{text}: is it ReMax's baseline?"
    groups = groups_of(dump)
    if groups is None:
        return LOOK, f"{dump.lacks('uid')}: a baseline by groups cannot be told"
    places = (groups.of_row[:, None] * mask.shape[1] + mask.cumsum(1) - 1)[mask]
    most = torch.full((int(places.max()) + 1,), -torch.inf, dtype=gap.dtype)
    most = most.scatter_reduce(0, places, gap[mask], "amax")
    of_place = torch.zeros_like(gap).masked_scatter(mask, most[places])
    if _equal(gap, of_place, mask):
        text = "they are the returns minus one number for each place of a group"
        return LOOK, f"{text}: is it an optimal token baseline?"
    return FAIL, "no baseline, of a row or of a place in its group, gives these"


def _equal(one: Tensor, other: Tensor, mask: Tensor) -> bool:
    size = torch.maximum(one.abs(), other.abs()).clamp(min=1)
    return not (mask & ~((one - other).abs() <= _NEAR * size)).any()


def _is_moved(advantages: Tensor, of: Tensor, mask: Tensor, word: str) -> bool:
    """Say if each token has the number of the one before it or behind it.

    Rows of one number look the same behind a move, but for the token at their edge.
    """
    by = 1 if word == "late" else -1
    there = mask.roll(by, 1)
    there[:, 0 if by == 1 else -1] = False
    both = mask & there
    edge = last_token(mask)
    if by == 1:
        edge = mask & (mask.cumsum(1) == 1)
    return (
        bool(both.any())
        and _equal(advantages, of.roll(by, 1), both)
        and not _equal(advantages, of, edge | both)
    )


def _factor(dump: Fields) -> str:
    """How many times the returns they are, if they are; or nothing."""
    assert dump.advantages is not None and dump.returns is not None
    mask = dump.response_mask
    far = mask & (dump.returns.abs() > _NEAR)
    factor = float((dump.advantages / dump.returns)[far].median())
    if _equal(dump.advantages, factor * dump.returns, mask):
        return f", but {factor:.4g} times the returns"
    return ""
