"""Advantages without a critic: which estimator gives what a dump holds per row."""

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
    """Which rows answer one prompt; ``sure`` if by uid, else by equal prompts."""

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
    """Whether the rows of a group have one prompt, and what their scores are like."""
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


def judge_advantages(
    dump: Fields, groups: Groups, estimator: str | None
) -> tuple[Said, str | None]:
    """Whether an estimator explains the advantages, and which."""
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
        return (OPEN if estimator is None else FAIL, text), None
    known = _known(scores, groups, mask)
    # The deviation of nearly equal scores lifts their rounding.
    lifted = known["grpo"].abs() / known["dr_grpo"].abs().clamp(min=1e-30)
    lifted = torch.where(known["dr_grpo"] == 0, 1e6, lifted.clamp(min=1))
    size = dump.tolerance * held.abs().clamp(min=1)
    size = size + 1e-7 * scores.abs().max() * lifted

    def wrong(of_row: Tensor) -> Tensor:
        return rows & ((held - of_row).abs() > size)

    best = estimator or min(known, key=lambda name: int(wrong(known[name]).sum()))
    off, count = wrong(known[best]), int(rows.sum())
    if not off.any() and wrong(-known[best]).any():
        tokens = f"{counted(dump.tokens, 'token')} of {counted(count, 'row')}"
        return (OK, f"as {best} gives, on {tokens}"), best
    if not off.any():
        text = "all 0, as any estimator gives: scores are equal in each group"
        return (OPEN, text), best
    row = int(off.nonzero()[0])
    text = (
        f"advantages[{row}, {int(start[row])}] is {float(held[row]):.4f}, {best} gives "
        f"{float(known[best][row]):.4f} (score {float(scores[row]):.4g}): "
    )
    mistakes = {
        f"they are those of {name}": x
        for name, x in known.items()
        if estimator and name != best
    }
    mistakes |= _mistakes(scores, known)
    cause = next((words for words, x in mistakes.items() if not wrong(x).any()), None)
    if cause:
        state = OPEN if "TRL" in cause and estimator is None else FAIL
        return (state, text + cause), None
    text += f"{best} explains {count - int(off.sum())} of {count} rows; "
    if estimator is None or not groups.sure:
        text += "pass --estimator" if groups.sure else dump.lacks("uid")
        return (OPEN, text), None
    return (FAIL, text + "other scores or groups went in"), None


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


def _mistakes(scores: Tensor, known: dict[str, Tensor]) -> dict[str, Tensor]:
    """What else may have been computed, in the words of its cause."""
    deviation, excess = scores.std() + 1e-6, scores - scores.mean()
    by_batch = known["dr_grpo"] / deviation
    return {
        **{f"the sign of {name} is flipped": -x for name, x in known.items()},
        "divided by the deviation of all rows (TRL's scale_rewards='batch')": by_batch,
        "mean and deviation are of all rows, not of each group": excess / deviation,
        "the mean is of all rows, not of each group": excess,
        "no baseline at all: they are the scores": scores,
    }
