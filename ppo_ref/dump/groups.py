"""Advantages without a critic: which estimator gives what a dump holds per row."""

from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.dump.reading import Fields
from ppo_ref.dump.verdicts import FAIL, OK, OPEN, Verdict, counted
from ppo_ref.group_advantages import dr_grpo, grpo, rloo
from ppo_ref.masking import masked_whiten

ESTIMATORS = ("grpo", "dr_grpo", "rloo", "reinforce_plus_plus_baseline", "opo")


class Groups(NamedTuple):
    """Which rows answer one prompt; ``sure`` if by uid, else by equal prompts."""

    of_row: Tensor
    sizes: Tensor
    sure: bool


def judge_groups(
    dump: Fields, estimator: str | None
) -> tuple[list[Verdict], str | None]:
    """Verdicts on groups and advantages, and which estimator explains these."""
    missing = dump.lacks("advantages", "given")
    groups = _groups(dump)
    if missing or groups is None:
        text = missing or dump.lacks("uid")
        return [Verdict("groups", OPEN, text)], None
    mask, advantages = dump.response_mask, dump.advantages
    rows = mask.any(1)
    assert advantages is not None
    start = mask.long().argmax(1, keepdim=True)
    held = advantages.gather(1, start)[:, 0]
    uneven = mask & ((advantages - held[:, None]).abs() > dump.tolerance)
    assert dump.given is not None
    scores = dump.given.nan_to_num().sum(1)
    of_groups = _judge_rows(dump, groups, scores)
    if uneven.any():
        row, token = uneven.nonzero()[0].tolist()
        text = (
            f"advantages[{row}, {token}] is {float(advantages[row, token]):.4f} and "
            f"its row began with {float(held[row]):.4f}: not one number per row, as "
            "estimators by groups give; of a critic, add values"
        )
        state = OPEN if estimator is None else FAIL
        return [of_groups, Verdict("advantages", state, text)], None
    known = _known(scores, groups, mask)
    # The deviation of nearly equal scores lifts their rounding.
    lifted = known["grpo"].abs() / known["dr_grpo"].abs().clamp(min=1e-30)
    lifted = torch.where(known["dr_grpo"] == 0, 1e6, lifted.clamp(min=1))
    size = dump.tolerance * held.abs().clamp(min=1)
    size = size + 1e-7 * scores.abs().max() * lifted

    def wrong(of_row: Tensor) -> Tensor:
        return rows & ((held - of_row).abs() > size)

    count = f"on {counted(dump.tokens, 'token')} of {counted(int(rows.sum()), 'row')}"
    best = estimator or min(known, key=lambda name: int(wrong(known[name]).sum()))
    off = wrong(known[best])
    if not off.any():
        if not wrong(-known[best]).any():
            text = "all 0, as any estimator gives: scores are equal in each group"
            return [of_groups, Verdict("advantages", OPEN, text)], best
        return [of_groups, Verdict("advantages", OK, f"as {best} gives, {count}")], best
    row = int(off.nonzero()[0])
    text = (
        f"advantages[{row}, {int(start[row])}] is {float(held[row]):.4f}, {best} gives "
        f"{float(known[best][row]):.4f} (score {float(scores[row]):.4g}): "
    )
    mistakes = {name: x for name, x in known.items() if estimator and name != best}
    mistakes = {f"they are those of {name}": x for name, x in mistakes.items()}
    mistakes |= _mistakes(scores, groups, known)
    cause = next((words for words, x in mistakes.items() if not wrong(x).any()), None)
    if cause:
        state = OPEN if "TRL" in cause and estimator is None else FAIL
        return [of_groups, Verdict("advantages", state, text + cause)], None
    text += f"{best} explains {int((rows & ~off).sum())} of {int(rows.sum())} rows; "
    if estimator is None or not groups.sure:
        others = "pass --estimator" if groups.sure else dump.lacks("uid")
        return [of_groups, Verdict("advantages", OPEN, text + others)], None
    text += "other scores or groups went in"
    return [of_groups, Verdict("advantages", FAIL, text)], None


def _groups(dump: Fields) -> Groups | None:
    names = dump.uid
    if names is None and dump.prompts is not None:
        names = torch.unique(dump.prompts, dim=0, return_inverse=True)[1]
    if names is None:
        return None
    _, of_row, sizes = torch.unique(names, return_inverse=True, return_counts=True)
    return Groups(of_row, sizes, dump.uid is not None)


def _judge_rows(dump: Fields, groups: Groups, scores: Tensor) -> Verdict:
    """Whether the rows of a group have one prompt, and what their scores are like."""
    of = [scores[groups.of_row == group] for group in range(len(groups.sizes))]
    equal = sum(bool((x == x[0]).all()) for x in of if len(x) > 1)
    alone = sum(len(x) == 1 for x in of)
    means, lengths = torch.stack([x.mean() for x in of]), dump.response_mask.sum(1)
    text = (
        f"{counted(len(of), 'group')} of {_range(groups.sizes)} rows, "
        f"{_range(lengths)} tokens long, mean scores {_range(means)}; {equal} with "
        f"equal scores, {alone} of one row"
    )
    if dump.prompts is None or not groups.sure:
        why = "no prompts" if groups.sure else "no uid; taken from equal prompts"
        return Verdict("groups", OPEN, f"{text}; {why}, so they cannot be compared")
    for group in range(len(groups.sizes)):
        rows = (groups.of_row == group).nonzero().flatten().tolist()
        for row in rows[1:]:
            if not torch.equal(dump.prompts[row], dump.prompts[rows[0]]):
                text = (
                    f"rows {rows[0]} and {row} have one uid and other prompts: rows "
                    "were put in another order, and uid was not"
                )
                return Verdict("groups", FAIL, text)
    if alone == len(of):
        return Verdict("groups", OPEN, text)
    return Verdict("groups", OK, f"{text}; a prompt in each")


def _range(x: Tensor) -> str:
    least, most = float(x.min()), float(x.max())
    return f"{least:.4g}" if least == most else f"{least:.4g} to {most:.4g}"


def _known(scores: Tensor, groups: Groups, mask: Tensor) -> dict[str, Tensor]:
    """Of each row, by estimator; a row alone has mean 0 and deviation 1, as in verl."""
    together = (groups.sizes > 1)[groups.of_row]
    found = {name: scores.clone() for name in ("grpo", "dr_grpo", "rloo")}
    if together.any():
        given = {
            "token_level_rewards": scores[together, None],
            "response_mask": together[together, None],
            "groups": groups.of_row[together],
        }
        for of in (grpo, dr_grpo, rloo):
            found[of.__name__][together] = of(**given).advantages[:, 0]
    excess, lengths = found["dr_grpo"], mask.sum(1).double()
    if int(mask.sum()) > 1:
        white = masked_whiten(excess[:, None].expand(mask.shape), mask)
        of_row = torch.where(mask, white, -torch.inf).amax(1)
        found["reinforce_plus_plus_baseline"] = torch.where(mask.any(1), of_row, 0)
    zeros = torch.zeros(len(groups.sizes)).double()
    total, length = (
        zeros.index_add(0, groups.of_row, x) for x in (lengths * scores, lengths)
    )
    baseline = (total / length.clamp(min=1))[groups.of_row]
    found["opo"] = torch.where(together, scores - baseline, scores)
    return found


def _mistakes(
    scores: Tensor, groups: Groups, known: dict[str, Tensor]
) -> dict[str, Tensor]:
    """What else may have been computed, in the words of its cause."""
    deviation = scores.std() + 1e-6
    found = {f"the sign of {name} is flipped": -x for name, x in known.items()}
    found["divided by the deviation of all rows (TRL's scale_rewards='batch')"] = (
        known["dr_grpo"] / deviation
    )
    text = "mean and deviation are of all rows, not of each group"
    found[text] = (scores - scores.mean()) / deviation
    found["the mean is of all rows, not of each group"] = scores - scores.mean()
    found["no baseline at all: they are the scores"] = scores
    return found
