"""Advantages without a critic, computed again from scores by group."""

from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.check.asserts.faults import counted, first, shown
from ppo_ref.check.dump.reading import Fields
from ppo_ref.check.dump.verdicts import FAIL, OK, OPEN, Said
from ppo_ref.group_advantages import dr_grpo, grpo, rloo
from ppo_ref.masking import masked_whiten

ESTIMATORS = ("grpo", "dr_grpo", "rloo", "reinforce_plus_plus_baseline", "opo")


class Groups(NamedTuple):
    """The group of each row; ``sure`` if by uid, else by equal prompts."""

    of_row: Tensor
    sizes: Tensor
    sure: bool


def groups_of(dump: Fields) -> Groups | None:
    """The groups of a dump; None if it has neither uid nor prompts."""
    names = dump.uid
    if names is None and dump.prompts is not None:
        _, names = torch.unique(dump.prompts, dim=0, return_inverse=True)
    if names is None:
        return None
    _, of_row, sizes = torch.unique(names, return_inverse=True, return_counts=True)
    return Groups(of_row, sizes, dump.uid is not None)


def judge_rows(dump: Fields, groups: Groups) -> Said:
    """Compare the prompts within each group, and tell what the groups are like."""
    scores = _scores(dump)
    lengths = dump.response_mask.sum(1)
    # Sorted once: looking through all rows for each group takes minutes with many.
    order = groups.of_row.argsort(stable=True)
    sizes = groups.sizes.tolist()
    members = torch.split(order, sizes)
    scores_of = torch.split(scores[order], sizes)
    equal = 0
    for of_group in scores_of:
        if len(of_group) > 1 and (of_group == of_group[0]).all():
            equal += 1
    alone = int((groups.sizes == 1).sum())
    means = torch.stack([of_group.mean() for of_group in scores_of])
    text = (
        f"{counted(len(members), 'group')} of {_range(groups.sizes)} rows, "
        f"{_range(lengths)} tokens long, mean scores {_range(means)}; {equal} with "
        f"equal scores, {alone} of one row"
    )
    if not groups.sure:
        return OPEN, f"{text}; no uid; taken from equal prompts, so not compared"
    if dump.prompts is None:
        return OPEN, f"{text}; no prompts, so they cannot be compared"
    for rows in members:
        one, *others = rows.tolist()
        for row in others:
            if not torch.equal(dump.prompts[row], dump.prompts[one]):
                text = f"rows {one} and {row} have one uid and other prompts: rows were"
                return FAIL, f"{text} put in another order, and uid was not"
    if alone == len(members):
        return OPEN, text
    return OK, f"{text}; a prompt in each"


def judge_advantages(dump: Fields, groups: Groups, estimator: str | None) -> Said:
    """Compare one advantage per row with what each estimator gives."""
    mask = dump.response_mask
    advantages = dump.advantages
    assert advantages is not None
    rows = mask.any(1)
    scores = _scores(dump)
    start = mask.long().argmax(1, keepdim=True)
    held = advantages.gather(1, start)[:, 0]
    uneven = mask & ((advantages - held[:, None]).abs() > dump.tolerance)
    if uneven.any():
        text = (
            f"{shown('advantages', advantages, uneven)} and its row began with "
            f"{float(held[first(uneven)[0]]):.4f}: not one number per row, as "
            "estimators by groups give; of a critic, add values"
        )
        if estimator is None:
            return OPEN, text
        return FAIL, text
    known = _known(scores, groups, mask)
    if estimator and estimator not in known:
        return OPEN, "fewer than 2 tokens"
    size = _rounding(dump, held, scores, known)
    off = {}
    for name, expected in known.items():
        off[name] = rows & ((held - expected).abs() > size)
    fits = [name for name in known if not off[name].any()]
    if fits and not (rows & (held.abs() > size)).any():
        return OPEN, "all 0, as any estimator gives: scores are equal in each group"
    count = counted(int(rows.sum()), "row")
    if estimator in fits or (estimator is None and fits):
        gives = estimator or " or ".join(fits)
        tokens = counted(dump.tokens, "token")
        return OK, f"as {gives} gives, on {tokens} of {count}"
    judge = estimator or ESTIMATORS[0]
    row = int(off[judge].nonzero()[0])
    text = (
        f"advantages[{row}, {int(start[row])}] is {float(held[row]):.4f}, {judge} "
        f"gives {float(known[judge][row]):.4f} (score {float(scores[row]):.4g})"
    )
    if fits:
        return FAIL, f"{text}: they are those of {' or '.join(fits)}"
    if estimator is None:
        others = ", ".join(ESTIMATORS[1:])
        return OPEN, f"{text}; nor are they those of {others}: pass --estimator"
    text += f"; {int(off[judge].sum())} of {count} differ"
    if not groups.sure:
        return OPEN, f"{text}; {dump.lacks('uid')}"
    return FAIL, text


def _rounding(
    dump: Fields, held: Tensor, scores: Tensor, known: dict[str, Tensor]
) -> Tensor:
    """The rounding of each row, lifted by a small deviation of its group."""
    excess = known["dr_grpo"]
    lifted = known["grpo"].abs() / excess.abs().clamp(min=1e-30)
    lifted = torch.where(excess == 0, 1e6, lifted.clamp(min=1))
    size = dump.tolerance * held.abs().clamp(min=1)
    return size + 1e-7 * scores.abs().max() * lifted


def _scores(dump: Fields) -> Tensor:
    assert dump.given is not None
    return dump.given.nan_to_num().sum(1)


def _range(x: Tensor) -> str:
    least, most = float(x.min()), float(x.max())
    if least == most:
        return f"{least:.4g}"
    return f"{least:.4g} to {most:.4g}"


def _known(scores: Tensor, groups: Groups, mask: Tensor) -> dict[str, Tensor]:
    """Each row's advantage, by estimator.

    As in verl, a row alone has mean 0 and deviation 1: its advantage is its score.
    """
    together = (groups.sizes > 1)[groups.of_row]
    found: dict[str, Tensor] = {}
    for estimator in (grpo, dr_grpo, rloo):
        of_row = scores.clone()
        if together.any():
            of_row[together] = estimator(
                token_level_rewards=scores[together, None],
                response_mask=together[together, None],
                groups=groups.of_row[together],
            ).advantages[:, 0]
        found[estimator.__name__] = of_row
    if int(mask.sum()) > 1:
        on_tokens = found["dr_grpo"][:, None].expand(mask.shape)
        white = torch.where(mask, masked_whiten(on_tokens, mask), -torch.inf)
        of_row = torch.where(mask.any(1), white.amax(1), 0)
        found["reinforce_plus_plus_baseline"] = of_row
    lengths = mask.sum(1).double()
    total = _summed(lengths * scores, groups)
    baseline = total / _summed(lengths, groups).clamp(min=1)
    found["opo"] = torch.where(together, scores - baseline, scores)
    return found


def _summed(x: Tensor, groups: Groups) -> Tensor:
    """The sum over each row's group, on the row."""
    sums = torch.zeros(len(groups.sizes), dtype=x.dtype)
    return sums.index_add(0, groups.of_row, x)[groups.of_row]
