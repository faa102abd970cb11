"""Advantages without a critic, computed again from scores by group."""

from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.check.asserts.faults import counted, first, shown
from ppo_ref.check.dump.reading import Fields
from ppo_ref.check.dump.trainers import OPENRLHF, TRL, VERL
from ppo_ref.check.dump.verdicts import FAIL, LOOK, OK, OPEN, Said
from ppo_ref.check.dump.wrong_groups import named, named_of_centred
from ppo_ref.group_advantages import dr_grpo, grpo, rloo
from ppo_ref.masking import masked_whiten

ESTIMATORS = (
    *("grpo", "dr_grpo", "rloo", "reinforce_plus_plus_baseline"),
    *("opo", "grpo_passk", "gpg"),
    *("group_norm", "flash_reinforce"),  # of OpenRLHF
)
# OpenRLHF's that whiten, and what gives the returns before.
WHITENED = {"reinforce": "reinforce", "reinforce_baseline": "dr_grpo"}
_ROWS = ("advantages", "scores", "rewards")
_FEWEST_GROUPS = 4  # of which it is no chance that each of their parts has mean 0
OTHER = "other"  # the estimator is none of these


class Groups(NamedTuple):
    """The group of each row; ``sure`` if by uid, else by equal prompts."""

    of_row: Tensor
    sizes: Tensor
    sure: bool

    @property
    def complete(self) -> bool:
        """Say if rows were seen to share a prompt, as often in each group."""
        least, most = int(self.sizes.min()), int(self.sizes.max())
        return least > 1 and (self.sure or (least == most and len(self.sizes) > 1))


def groups_of(dump: Fields) -> Groups | None:
    """The groups of a dump; None if it has neither uid nor prompts."""
    names = dump.uid
    sure = names is not None and dump.trainer is not OPENRLHF  # texts may repeat
    if names is None and dump.prompts is not None:
        _, names = torch.unique(dump.prompts, dim=0, return_inverse=True)
    if names is None:
        return None
    _, of_row, sizes = torch.unique(names, return_inverse=True, return_counts=True)
    return Groups(of_row, sizes, sure)


def judge_rows(dump: Fields, groups: Groups) -> Said:
    """Compare the prompts within each group, and tell what the groups are like."""
    scores = dump.response_mask.new_zeros(len(dump.response_mask)).double()
    if dump.given is not None:
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
    of_scored = scores
    if dump.unscored is not None:
        of_scored = scores.masked_fill(dump.unscored, torch.nan)
    means = torch.stack([x.nanmean() for x in torch.split(of_scored[order], sizes)])
    means = means[~means.isnan()]
    text = (
        f"{counted(len(members), 'group')} of {_rows_each(groups)}, "
        f"{_range(lengths)} tokens long"
    )
    if dump.given is not None and len(means):
        text += f", mean scores {_range(means)}; {equal} with equal scores"
    text += f"; {alone} of one row"
    if dump.unscored is not None and dump.unscored.any():
        left_out = counted(int(dump.unscored.sum()), "row")
        text += f"; {left_out} that no reward function scored, left out"
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
        return _judge_alone(dump.prompts, text)
    return OK, f"{text}; a prompt in each"


def _judge_alone(prompts: Tensor, text: str) -> Said:
    """Groups of one row each, whose rows may share a prompt nevertheless."""
    _, of_row, sizes = torch.unique(
        prompts, dim=0, return_inverse=True, return_counts=True
    )
    shared = (sizes > 1)[of_row]
    if not shared.any():
        return OPEN, text
    one, other, *_ = (of_row == of_row[shared][0]).nonzero().flatten().tolist()
    text = f"each row has a uid of its own, but rows {one} and {other} share a prompt"
    # A data set may hold a prompt twice, but hardly all of them as often.
    if bool((sizes == sizes[0]).all()):
        return FAIL, f"{text}, and so do all: set uid by prompt, before it is repeated"
    rows = counted(int(shared.sum()), "row")
    return LOOK, f"{text}, and {rows} in all: is uid set before prompts are repeated?"


def judge_advantages(dump: Fields, groups: Groups, estimator: str | None) -> Said:
    """Compare one advantage per row with what each estimator gives."""
    mask = dump.response_mask
    advantages = dump.advantages
    assert advantages is not None
    if estimator == OTHER:
        return OPEN, f"--estimator {OTHER}: none that is known here"
    start = mask.long().argmax(1, keepdim=True)
    held = advantages.gather(1, start)[:, 0]
    uneven = mask & ((advantages - held[:, None]).abs() > dump.tolerance(*_ROWS))
    if uneven.any() and dump.row_kl is None:
        rows = int(uneven.any(1).sum())
        text = (
            f"{shown('advantages', advantages, uneven)} and its row began with "
            f"{float(held[first(uneven)[0]]):.4f}: not one number per row, as "
            f"estimators by groups give, in {rows} of {counted(len(mask), 'row')}"
        )
        if estimator is None and rows > len(mask) / 2:
            return LOOK, f"{text}; of a critic, add values"
        return FAIL, text
    if "scores" in dump.unfit or "rewards" in dump.unfit:
        missing = dump.lacks("rewards") if "rewards" in dump.unfit else ""
        return OPEN, missing or dump.lacks("scores")
    if dump.given is None:
        return _judge_sums(dump, groups, held)
    known = _known(dump, groups)
    if estimator == "group_norm":
        estimator = "grpo"
    if estimator != "gpg" and torch.equal(known.get("gpg", held), known["dr_grpo"]):
        known.pop("gpg", None)  # no score is 0, so that it is no other estimator
    if estimator and estimator not in known:
        why = "is not one of this trainer's"
        if estimator == "gpg" and dump.trainer is VERL:
            why = "divides by the number of scores that are not 0, and there are none"
        elif dump.tokens < 2:
            why = "needs 2 tokens at least"
        return OPEN, f"{estimator} {why}; known: {', '.join(known)}"
    return _compared(dump, groups, held, known, estimator)


def _compared(
    dump: Fields,
    groups: Groups,
    held: Tensor,
    known: dict[str, Tensor],
    estimator: str | None,
) -> Said:
    """Compare the advantage of each row with those of every estimator."""
    mask = dump.response_mask
    rows = mask.any(1)
    scores = _scores(dump)
    size = _rounding(dump, held, scores, known)
    off, kl = {}, {}
    for name, expected in known.items():
        kl[name] = _kl_taken(dump, expected - held)
        off[name] = rows & ((held + kl[name] - expected).abs() > size)
    fits = [name for name in known if not off[name].any()]
    if fits and not (rows & (held.abs() > size)).any():
        return OPEN, "all 0, as any estimator gives: scores are equal in each group"
    count = counted(int(rows.sum()), "row")
    if estimator in fits or (estimator is None and fits):
        gives = estimator or " or ".join(fits)
        text = f"as {gives} gives, on {counted(dump.tokens, 'token')} of {count}"
        if kl[fits[0]].any():
            text += ", less the KL of each row"
        alone = int(groups.sizes.max()) == 1
        if alone and not any("reinforce" in name for name in fits):
            why = "no two rows share a prompt: dump whole groups"
            if groups.sure:
                why = "each row is alone in its group, so nothing was compared with it"
            return LOOK, f"{text}; but {why}"
        return OK, text
    judge = estimator or min(known, key=lambda name: int(off[name].sum()))
    row = int(off[judge].nonzero()[0])
    place = f"advantages[{row}, {int(mask[row].long().argmax())}]"
    text = (
        f"{place} is {float(held[row]):.4f}, {judge} gives "
        f"{float(known[judge][row]) + 0.0:.4f} (score {float(scores[row]):.4g})"
    )
    if fits:
        return FAIL, f"{text}: they are those of {' or '.join(fits)}"
    explained = f"{int((rows & ~off[judge]).sum())} of {count}"
    by_judge = f"{text}; {judge} explains {explained}"
    if dump.row_kl is None and not (dump.unscored is not None and dump.unscored.any()):
        way = named(scores, groups.of_row, mask.sum(1), held, size)
        if way and (groups.complete or groups.sure):
            return FAIL, f"{by_judge}: {way}"
    if not groups.complete and not groups.sure:
        why = f"{dump.lacks('uid')}; groups by equal prompts are of "
        return LOOK, f"{by_judge}; {why}{_rows_each(groups)}: are they whole?"
    if estimator is None:
        return FAIL, (
            f"{text}; none of {', '.join(known)} explains more than {explained}; if "
            f"yours is none of them, pass --estimator {OTHER}"
        )
    return FAIL, by_judge


def _kl_taken(dump: Fields, missing: Tensor) -> Tensor:
    """The KL of each row times one coefficient, if that is what rows lack; else 0."""
    kl = dump.row_kl
    if kl is None:
        return torch.zeros_like(missing)
    ratios = (missing / kl)[kl.abs() > 1e-3 * kl.abs().max()]
    coef = float(ratios.median().clamp(min=0)) if len(ratios) else 0.0
    return coef * kl


def _judge_sums(dump: Fields, groups: Groups, held: Tensor) -> Said:
    """Advantages without scores: in each group their mean is 0, their deviation 1."""
    most = int(groups.sizes.max())
    lacking = dump.lacks("scores")
    if most == 1:
        return LOOK, f"no two rows share a prompt; {lacking}: dump whole groups"
    near = max(dump.tolerance(*_ROWS), 1e-3) * held.abs().max().clamp(min=1)
    sizes = groups.sizes.double()
    mean = _summed(held, groups) / sizes[groups.of_row]
    if not (held.abs() > near).any():
        return OPEN, f"all 0, as if all scores of a prompt are equal; {lacking}"
    degrees = (sizes - 1).clamp(min=1)[groups.of_row]
    deviation = (_summed((held - mean).square(), groups) / degrees).sqrt()
    number = counted(len(groups.sizes), "group")
    groups_said = f"{number} of {_rows_each(groups)}"
    off = (groups.sizes > 1)[groups.of_row] & (mean.abs() > near)
    unequal = deviation[deviation > near]
    is_one = bool(((unequal - 1).abs() < 0.02).all())
    # TRL leaves out of its group a row that no reward function scored, with 0.
    counts = (held != 0).double()
    degrees = (_summed(counts, groups) - 1).clamp(min=1)
    of_scored = (_summed((held - mean).square(), groups) / degrees).sqrt()
    others = of_scored[deviation > near]
    is_trl = dump.trainer is TRL and not is_one
    left_out = is_trl and bool(
        torch.minimum((unequal - 1).abs(), (others - 1).abs()).max() < 0.02
    )
    size = near.expand(len(held))
    way, sure = "", False
    if off.any():
        way = named(None, groups.of_row, dump.response_mask.sum(1), held, size)
    elif not is_one and not left_out:
        way, sure = named_of_centred(groups.of_row, held, size)
    if off.any() or sure:
        row = int(off.nonzero()[0]) if off.any() else 0
        text = (
            f"the rows of row {row}'s prompt have mean advantage "
            f"{round(float(mean[row]), 4) + 0.0:.4f} and deviation "
            f"{float(deviation[row]):.4f} ({groups_said})"
        )
        if groups.complete:
            way = way or "their mean must be 0, over the whole group"
            return FAIL, f"{text}: {way}"
        return LOOK, f"{text}: are the groups whole? dump before the batch is split"
    text = f"mean 0 in each of {groups_said}, {counted(len(held), 'row')}"
    if is_one:
        return OK, f"{text}, deviation 1, as GRPO gives; {lacking}"
    if left_out and not off.any():
        text += ", deviation 1 over the rows that are not 0, as GRPO gives where TRL "
        return OK, f"{text}leaves out rows that no reward function scored; {lacking}"
    text += f", deviation {_range(unequal)}"
    several = len(set(groups.of_row[deviation > near].tolist())) >= _FEWEST_GROUPS
    if way and several:
        return LOOK, f"{text}, but as if {way}; {lacking}"
    return OK, f"{text}, as without a division or by that of the batch; {lacking}"


def _rounding(
    dump: Fields, held: Tensor, scores: Tensor, known: dict[str, Tensor]
) -> Tensor:
    """The rounding of each row, lifted by a small deviation of its group."""
    excess = known["dr_grpo"]
    lifted = known["grpo"].abs() / excess.abs().clamp(min=1e-30)
    lifted = torch.where(excess == 0, 1e6, lifted.clamp(min=1))
    size = dump.tolerance(*_ROWS) * held.abs().clamp(min=1)
    # Trainers add 1e-9 to 1e-4 to the deviation.
    size += 1e-3 * held.abs()
    return size + 1e-7 * scores.abs().max() * lifted


def _scores(dump: Fields) -> Tensor:
    assert dump.given is not None
    return dump.given.nan_to_num().sum(1)


def _rows_each(groups: Groups) -> str:
    """How many rows a group has."""
    return f"{_range(groups.sizes)} {'row' if int(groups.sizes.max()) == 1 else 'rows'}"


def _range(x: Tensor) -> str:
    least, most = float(x.min()), float(x.max())
    if least == most:
        return f"{least:.4g}"
    return f"{least:.4g} to {most:.4g}"


def _known(dump: Fields, groups: Groups) -> dict[str, Tensor]:
    """Each row's advantage, by estimator.

    As in verl, a row alone has mean 0 and deviation 1: its advantage is its score.
    """
    scores, mask = _scores(dump), dump.response_mask
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
    excess = found["dr_grpo"]
    if dump.trainer is TRL:
        unscored = dump.unscored
        if unscored is None:
            unscored = torch.zeros_like(scores).bool()
        return _known_of_trl(scores, groups, unscored)
    if int(mask.sum()) > 1:
        on_tokens = excess[:, None].expand(mask.shape)
        white = torch.where(mask, masked_whiten(on_tokens, mask), -torch.inf)
        of_row = torch.where(mask.any(1), white.amax(1), 0)
        found["reinforce_plus_plus_baseline"] = of_row
    if dump.trainer is OPENRLHF:
        found["reinforce"] = scores
        found["flash_reinforce"] = scores - scores.mean()
        return found
    lengths = mask.sum(1).double()
    total = _summed(lengths * scores, groups)
    baseline = total / _summed(lengths, groups).clamp(min=1)
    found["opo"] = torch.where(together, scores - baseline, scores)
    found["grpo_passk"] = _best_less_second(scores, groups)
    # Where no score is 0, its factor is 1.
    scored = int((scores != 0).sum())
    if scored:
        found["gpg"] = excess * len(scores) / scored
    return found


def _known_of_trl(
    scores: Tensor, groups: Groups, unscored: Tensor
) -> dict[str, Tensor]:
    """TRL's three by scale_rewards; it adds 1e-4 to the deviation.

    A row that was not scored is left out of all means, and its advantage is 0.
    """
    counts = (~unscored).double()
    number = _summed(counts, groups)
    mean = _summed(counts * scores, groups) / number.clamp(min=1)
    excess = counts * (scores - mean)
    squares = _summed(excess.square(), groups)
    deviation = (squares / (number - 1).clamp(min=1)).sqrt()
    return {
        "grpo": excess / (deviation + 1e-4),
        "dr_grpo": excess,
        "scale_rewards=batch": excess / (scores[~unscored].std() + 1e-4),
    }


def _best_less_second(scores: Tensor, groups: Groups) -> Tensor:
    """GRPO's pass@k: the best row of a group has how far it is above the second."""
    found = torch.zeros_like(scores)
    order = groups.of_row.argsort(stable=True)
    for rows in torch.split(order, groups.sizes.tolist()):
        if len(rows) > 1:
            best, second = scores[rows].topk(2).values
            row = rows[scores[rows].argmax()]
            found[row] = (best - second) / (scores[rows].std() + 1e-6)
    return found


def _summed(x: Tensor, groups: Groups) -> Tensor:
    """The sum over each row's group, on the row."""
    sums = torch.zeros(len(groups.sizes), dtype=x.dtype)
    return sums.index_add(0, groups.of_row, x)[groups.of_row]
