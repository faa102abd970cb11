"""Advantages without a critic, computed again from scores by group."""

from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.check.asserts.faults import first, shown
from ppo_ref.check.dump.reading import Fields
from ppo_ref.check.dump.verdicts import FAIL, OK, OPEN, Said, counted
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
        names = torch.unique(dump.prompts, dim=0, return_inverse=True)[1]
    if names is None:
        return None
    _, of_row, sizes = torch.unique(names, return_inverse=True, return_counts=True)
    return Groups(of_row, sizes, dump.uid is not None)


def judge_rows(dump: Fields, groups: Groups) -> Said:
    """Compare the prompts within each group, and tell what the groups are like."""
    scores, lengths = _scores(dump), dump.response_mask.sum(1)
    # Sorted once: looking through all rows for each group takes minutes with many.
    order, sizes = groups.of_row.argsort(stable=True), groups.sizes.tolist()
    members, of = (torch.split(x, sizes) for x in (order, scores[order]))
    equal = sum(bool((x == x[0]).all()) for x in of if len(x) > 1)
    alone = int((groups.sizes == 1).sum())
    means = torch.stack([x.mean() for x in of])
    text = (
        f"{counted(len(of), 'group')} of {_range(groups.sizes)} rows, "
        f"{_range(lengths)} tokens long, mean scores {_range(means)}; {equal} with "
        f"equal scores, {alone} of one row"
    )
    if dump.prompts is None or not groups.sure:
        why = "no prompts" if groups.sure else "no uid; taken from equal prompts"
        return OPEN, f"{text}; {why}, so they cannot be compared"
    for rows in members:
        one, *others = rows.tolist()
        for row in others:
            if not torch.equal(dump.prompts[row], dump.prompts[one]):
                text = f"rows {one} and {row} have one uid and other prompts: rows were"
                return FAIL, f"{text} put in another order, and uid was not"
    return (OPEN, text) if alone == len(of) else (OK, f"{text}; a prompt in each")


def judge_advantages(dump: Fields, groups: Groups, estimator: str | None) -> Said:
    """Compare one advantage per row with what each estimator gives."""
    mask, advantages = dump.response_mask, dump.advantages
    assert advantages is not None
    rows, scores = mask.any(1), _scores(dump)
    start = mask.long().argmax(1, keepdim=True)
    held = advantages.gather(1, start)[:, 0]
    uneven = mask & ((advantages - held[:, None]).abs() > dump.tolerance)
    if uneven.any():
        text = (
            f"{shown('advantages', advantages, uneven)} and its row began with "
            f"{float(held[first(uneven)[0]]):.4f}: not one number per row, as "
            "estimators by groups give; of a critic, add values"
        )
        return (OPEN if estimator is None else FAIL, text)
    known = _known(scores, groups, mask)
    if estimator and estimator not in known:
        return OPEN, "fewer than 2 tokens"
    size = _rounding(dump, held, scores, known)
    off = {name: rows & ((held - x).abs() > size) for name, x in known.items()}
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
    """How far each row may be off: a small deviation of its group lifts rounding."""
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
    return f"{least:.4g}" if least == most else f"{least:.4g} to {most:.4g}"


def _known(scores: Tensor, groups: Groups, mask: Tensor) -> dict[str, Tensor]:
    """Of each row, by estimator; a row alone has mean 0 and deviation 1, as in verl."""
    together = (groups.sizes > 1)[groups.of_row]
    found = {of.__name__: scores.clone() for of in (grpo, dr_grpo, rloo)}
    for of in (grpo, dr_grpo, rloo) if together.any() else ():
        found[of.__name__][together] = of(
            token_level_rewards=scores[together, None],
            response_mask=together[together, None],
            groups=groups.of_row[together],
        ).advantages[:, 0]
    if int(mask.sum()) > 1:
        white = masked_whiten(found["dr_grpo"][:, None].expand(mask.shape), mask)
        of_row = torch.where(mask, white, -torch.inf).amax(1)
        found["reinforce_plus_plus_baseline"] = torch.where(mask.any(1), of_row, 0)
    lengths, zeros = mask.sum(1).double(), torch.zeros(len(groups.sizes)).double()
    total, length = (
        zeros.index_add(0, groups.of_row, x) for x in (lengths * scores, lengths)
    )
    baseline = (total / length.clamp(min=1))[groups.of_row]
    found["opo"] = torch.where(together, scores - baseline, scores)
    return found
