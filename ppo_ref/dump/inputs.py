"""What went into the advantages: the mask, the score, the KL, log-probs and values."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref import alignment
from ppo_ref.alignment import last_token, slot_after_end
from ppo_ref.dump.reading import Fields
from ppo_ref.dump.verdicts import FAIL, OK, OPEN, Verdict, counted, first, place
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

# Nats between rollout and trainer, mean per token: up to the first number two engines
# differ by precision, from the second on something else is wrong.
_NEAR, _FAR = 0.02, 0.1


def judge_mask(dump: Fields, eos_token_id: int | None) -> tuple[Verdict, Tensor]:
    """Whether the mask counts what was sampled, as far as ids or attention tell.

    The second result is the mask as it should be.
    """
    mask, sampled = dump.response_mask, dump.attended
    gaps = _gaps(mask)
    by = "attention_mask" if sampled is not None else "the first EOS"
    if eos_token_id is not None and dump.responses is not None and not gaps:
        # Rows of several turns have an EOS in each.
        ids = dump.responses.long()
        ended = alignment.response_mask(ids, eos_token_id)
        sampled = ended if sampled is None else sampled & ended
        by = "the first EOS"
    if sampled is None:
        ids_too = "" if dump.responses is None else ", and no --eos-token-id"
        text = f"no attention_mask to compare it with{ids_too}"
        if dump.responses is None:
            text += ", nor responses: add them, and pass --eos-token-id"
        return Verdict("mask", OPEN, f"{dump.tokens} tokens; {text}"), mask
    extra = mask & ~sampled
    if extra.any():
        text = f"{place('response_mask', extra)} is 1, by {by} 0: "
        if (extra & slot_after_end(mask & sampled)).any():
            text += "the slot after EOS counts; do not shift the mask with the values"
        else:
            text += "prompt, padding or another turn counts"
        return Verdict("mask", FAIL, text), mask & sampled
    short = ~sampled[:, -1] & mask.any(1)
    missing = last_token(sampled) & ~mask & short[:, None]
    if short.any() and missing.any(1)[short].all():
        text = f"{place('response_mask', missing)} is 0, the last token (EOS) of its "
        return Verdict("mask", FAIL, f"{text}row: it is never trained"), mask | missing
    if not short.any():
        text = f"{dump.tokens} tokens; every row is full, so nothing can count too much"
        return Verdict("mask", OPEN, text), mask
    shown = f"; {counted(gaps, 'gap')}" if gaps else ""
    text = (
        f"{dump.tokens} tokens of {counted(len(mask), 'row')}, as {by} says: nothing "
        f"behind the end counts, the last token does{shown}"
    )
    return Verdict("mask", OK, text), mask


def judge_score(dump: Fields, summed: bool) -> Verdict:
    """Whether each score lies on the last token; several in a row, by process, pass.

    Where advantages are made of a row's sum, ``summed``, the place loses nothing.
    """
    mask = dump.response_mask
    if dump.scores is None:
        return Verdict("score", OPEN, dump.lacks("scores"))
    scored = (dump.scores != 0) & mask.any(1, keepdim=True)
    last, outside = last_token(mask), scored & ~mask
    if outside.any():
        row, token = first(outside)
        end = int(last[row].nonzero()[0])
        text = (
            f"{place('score', outside)} is {float(dump.scores[row, token]):.4g} where "
            f"nothing counts; the last token, [{row}, {end}], has "
            f"{float(dump.scores[row, end]):.4g}"
        )
        if summed:
            text += "; advantages are made of whole rows here, so it is not lost"
            return Verdict("score", OPEN, text)
        cause = "it is written to the end of the row"
        if token == end + 1:
            cause = "it is one slot late, or the mask one short"
        text += f": {cause}, and lost; index the length of the response less 1"
        return Verdict("score", FAIL, text)
    rows = int(scored.any(1).sum())
    if not rows:
        return Verdict("score", OPEN, f"all 0 in {len(mask)} rows: it lies nowhere")
    single = scored.sum(1) == 1
    early = scored & ~last & single[:, None]
    if early.any() and single[scored.any(1)].all():
        row, token = first(early)
        end = int(last[row].nonzero()[0])
        text = (
            f"{place('score', early)} is {float(dump.scores[row, token]):.4g}, the "
            f"last token is [{row}, {end}]: it is early, or the mask too long"
        )
        return Verdict("score", FAIL, text)
    if (scored & ~last).any():
        text = f"on several tokens, none outside the mask ({counted(rows, 'row')})"
        return Verdict("score", OK, text)
    short = int((scored.any(1) & ~mask[:, -1]).sum())
    text = f"on the last token of {counted(rows, 'row')}"
    if short:
        return Verdict("score", OK, f"{text}, {short} of them with padding behind")
    text += ", all full: the end of the row and its last token are one"
    return Verdict("score", OPEN, text)


def judge_kl(dump: Fields, kl_coef: float | None) -> tuple[Verdict, float | None]:
    """Which KL was subtracted from the scores; the coefficient, if it is known."""
    mask, tokens = dump.response_mask, counted(dump.tokens, "token")
    if dump.scores is None or dump.rewards is None:
        return Verdict("kl", OPEN, dump.lacks("scores", "rewards")), None
    taken, old, ref = dump.scores - dump.rewards, dump.old_log_probs, dump.ref_log_probs
    if not taken.any():
        if old is not None and ref is not None and torch.equal(old[mask], ref[mask]):
            text = "old and ref log-probs are equal: any kl_coef takes 0"
            return Verdict("kl", OPEN, text), None
        text = f"none in the rewards: they are the scores on {tokens}"
        return Verdict("kl", OK, text), 0.0
    if old is None or ref is None:
        text = "rewards are not the scores, and what was taken off cannot be told: "
        text += dump.lacks("old_log_probs", "ref_log_probs")
        return Verdict("kl", OPEN, text), None
    apart, far = old - ref, mask & (taken.abs() > 1e-4 * dump.scores.abs())
    outside = (taken != 0) & ~mask & mask.any(1, keepdim=True)

    def lost(where: Tensor) -> str:
        x, y = float(taken[first(where)]), float(apart[first(where)])
        return f"{place('score', where)} lost {x:.4g}, with old - ref {y:.4g}: "

    if outside.any():
        text = lost(outside) + "that slot does not count; multiply by response_mask"
        return Verdict("kl", FAIL, text), None
    if not far.any():
        text = f"at most {float(taken[mask].abs().max()):.2g} was taken off: rounding"
        return Verdict("kl", OPEN, text), None
    fits = [*_fits(dump, taken, old, ref, kl_coef)]
    swapped = [*_fits(dump, taken, ref, old, None)]
    best = min(
        fits + swapped,
        key=lambda fit: (int(fit.wrong.sum()), fit.coef < 0, fit.coef != kl_coef),
    )
    if best.wrong.any():
        rest = dump.tokens - int(best.wrong.sum())
        text = (
            f"{lost(best.wrong)}no kl_coef times k1, k2, k3 or abs gives that; "
            f"{best.coef:.4g} times {best.name} explains {rest} of {tokens}"
        )
    elif best.coef < 0 or any(best is fit for fit in swapped):
        text = (
            f"{lost(far)}{abs(best.coef):.4g} times {best.name} with the wrong sign; "
            "old and ref are swapped, or it is added"
        )
    else:
        text = f"{best.coef:.4g} times {best.name} taken off {tokens}"
        return Verdict("kl", OK, text), best.coef
    return Verdict("kl", FAIL, text), None


def judge_rollout(dump: Fields) -> Verdict:
    """How far old log-probs are from the rollout's."""
    mask = dump.response_mask
    old, rollout = dump.old_log_probs, dump.rollout_log_probs
    for name, x in (("old_log_probs", old), ("rollout_log_probs", rollout)):
        if x is not None and (mask & (x > 1e-3)).any():
            above = mask & (x > 1e-3)
            text = f"{place(name, above)} is {float(x[first(above)]):.4f}, above 0"
            return Verdict("rollout", FAIL, f"{text}: no log-prob")
    if rollout is None or old is None:
        text = dump.lacks("old_log_probs", "rollout_log_probs")
        return Verdict("rollout", OPEN, text)
    gap = torch.where(mask, old - rollout, 0)
    mean = float(gap.abs().sum() / mask.sum())
    if mean == 0:
        return Verdict("rollout", OPEN, "old_log_probs are the rollout's own, copied")
    text = f"{mean:.4f} nats from rollout_log_probs, mean of {dump.tokens} tokens"
    if mean <= _NEAR:
        return Verdict("rollout", OK, text)
    cause = "another temperature, top-p, precision or older weights"
    for shift, word in ((1, "late"), (-1, "early")):
        both = mask & mask.roll(shift, 1)
        both[:, 0 if shift > 0 else -1] = False
        moved = (old - rollout.roll(shift, 1))[both].abs()
        if len(moved) and moved.mean() <= min(_NEAR, 0.1 * mean):
            cause = f"old_log_probs lie one slot {word}"
    near = "lie" not in cause and mean <= _FAR
    far = mask & (gap.abs() >= mean)
    row, token = first(far)
    text += (
        f", first {place('old_log_probs', far)} {float(old[row, token]):.4f} and "
        f"{float(rollout[row, token]):.4f}"
    )
    if near:
        text += f": more than engines differ by, {_NEAR}, but below {_FAR}; {cause}?"
        return Verdict("rollout", OPEN, text)
    if not rollout[far].any():
        cause = "no model sampled these; a tool's tokens count"
    return Verdict("rollout", FAIL, f"{text}: {cause}")


def judge_values(dump: Fields) -> Verdict:
    """Whether the values of rows with one prompt differ only once their tokens do.

    Slot t has not read token t: up to and including the first token in which two
    answers to a prompt differ, their values are equal.
    """
    if dump.values is None:
        return Verdict("values", OPEN, f"{dump.lacks('values')}; is there a critic?")
    mask, pairs = dump.response_mask, [*_pairs(dump)]
    if not pairs:
        why = "no two rows share a prompt and differ in a token"
        if dump.prompts is None or dump.responses is None:
            why = "no prompts and responses in the dump"
        text = f"from values alone their slots cannot be told, and {why}"
        return Verdict("values", OPEN, text)
    apart = [(dump.values[one] - dump.values[other]).abs() for one, other, _ in pairs]
    # Up to the first other token both have read the same: what differs there is noise.
    same = torch.cat([x[: pair[2]] for pair, x in zip(pairs, apart, strict=True)])
    noise = float(same.max()) if len(same) else 0.0
    near = max(1e-2 * float(dump.values[mask].abs().max()), 4 * noise)
    late, early, told = [], [], 0
    for (one, other, token), difference in zip(pairs, apart, strict=True):
        late.append(bool(difference[token] > near))
        behind = difference[token + 1 :][(mask[one] & mask[other])[token + 1 :]]
        told += bool((behind > near).any())
        if len(behind) > 1 and behind[1:].max() > near:
            early.append(bool(behind[0] <= max(1e-3 * near, noise)))
    one, other, token = pairs[0]
    numbers = (float(dump.values[row, token]) for row in (one, other))
    where = f"values[{one}, {token}] and [{other}, {token}]"
    if all(late):
        text = "{} follow equal tokens and are {:.4f} and {:.4f}: one slot late; {}"
        text = text.format(where, *numbers, "cut [:, -T-1:-1], not [:, -T:]")
        return Verdict("values", FAIL, text)
    if early and all(early):
        text = f"behind {where}, whose tokens differ, values are still equal: one slot "
        return Verdict("values", FAIL, text + "early; cut [:, -T-1:-1]")
    count = counted(len(pairs), "pair")
    if not told:
        text = f"equal in {count} of answers to one prompt, whatever their tokens"
        return Verdict("values", OPEN, text)
    text = f"{count} of answers to one prompt, equal up to their first other token"
    return Verdict("values", OK, text)


class _Fit(NamedTuple):
    """A coefficient, and the tokens of which an estimator takes off something else."""

    name: str
    coef: float
    wrong: Tensor


def _fits(
    dump: Fields, taken: Tensor, old: Tensor, ref: Tensor, asked: float | None
) -> Iterator[_Fit]:
    """What each estimator explains, first with the coefficient that is asked."""
    assert dump.scores is not None
    mask, scores = dump.response_mask, dump.scores.abs()
    far = mask & (taken.abs() > 1e-4 * scores)
    k1, k2, k3 = (kl(log_probs=old, ref_log_probs=ref) for kl in (kl_k1, kl_k2, kl_k3))
    # verl bounds k3 so.
    estimators = {"k1": k1, "k2": k2, "k3": k3.clamp(-10, 10), "abs": k1.abs()}
    rounding = 1e-6 * torch.maximum(old.abs(), ref.abs()).clamp(min=1)
    for name, k in estimators.items():
        ratios = (taken / k)[far & (k != 0)]
        solved = float(ratios.median()) if len(ratios) else 0.0
        for coef in filter(None, (asked, solved)):
            allowed = abs(coef) * (1e-3 * k.abs() + rounding) + 1e-6 * scores
            yield _Fit(name, coef, mask & ((taken - coef * k).abs() > allowed))


def _gaps(mask: Tensor) -> int:
    """How many runs of tokens begin behind another one in their row."""
    starts = (mask.long().diff(dim=1) == 1).sum()
    return int(starts - (~mask[:, 0] & mask.any(1)).sum())


def _pairs(dump: Fields) -> Iterator[tuple[int, int, int]]:
    """Two rows with one prompt, and the first token in which they differ.

    A pair is left out where that is a tool's: no value stands there.
    """
    mask = dump.response_mask
    if dump.prompts is None or dump.responses is None:
        return
    there = mask.flip(1).cummax(1).values.flip(1)  # up to the last that counts
    row_of: dict[tuple[int, ...], int] = {}
    for row, prompt in enumerate(dump.prompts.tolist()):
        one = row_of.setdefault(tuple(prompt), row)
        differ = dump.responses[one] != dump.responses[row]
        differ &= there[one] & there[row]
        if one != row and differ.any():
            token = int(differ.nonzero()[0])
            if mask[one, token] and mask[row, token]:
                yield one, row, token
