"""The inputs of the advantages: mask, score, KL, log-probs and values."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from ppo_ref import alignment
from ppo_ref.alignment import last_token, slot_after_end
from ppo_ref.check.asserts.faults import counted, first, place, shown
from ppo_ref.check.dump.reading import Fields
from ppo_ref.check.dump.verdicts import FAIL, LOOK, OK, OPEN, Said
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

# Nats between rollout and trainer, mean per token: up to the first number two engines
# differ by precision, from the second on something else is wrong.
_NEAR, _FAR = 0.02, 0.1
# Fewest tokens of which a shift by a slot is told, and the least correlation of the
# log-probs that two models of one family give to the same tokens.
_FEWEST, _ALIKE = 16, 0.3


def judge_mask(dump: Fields, eos_token_id: int | None) -> tuple[Said, Tensor]:
    """Compare the mask with what was sampled, as far as ids or attention tell.

    The second result is the mask as it should be.
    """
    mask, sampled, by = dump.response_mask, dump.attended, "attention_mask"
    gaps = _gaps(mask)
    if eos_token_id is not None and dump.responses is not None and not gaps:
        # Rows of several turns have an EOS in each.
        ended = alignment.response_mask(dump.responses.long(), eos_token_id)
        sampled = ended if sampled is None else sampled & ended
        by = "the first EOS"
    tokens = f"{dump.tokens} tokens"
    if sampled is None:
        text = ", and no --eos-token-id"
        if dump.responses is None:
            text = ", nor responses: add them, and pass --eos-token-id"
        return (OPEN, f"{tokens}; no attention_mask to compare it with{text}"), mask
    extra = mask & ~sampled
    if extra.any():
        cause = "prompt, padding or another turn counts"
        if (extra & slot_after_end(mask & sampled)).any():
            cause = "the slot after EOS counts; do not shift the mask with the values"
        text = f"{place('response_mask', extra)} is 1, by {by} 0: {cause}"
        return (FAIL, text), mask & sampled
    short = ~sampled[:, -1] & mask.any(1)
    if not short.any():
        text = f"{tokens}; every row is full, so nothing can count too much"
        return (OPEN, text), mask
    missing = last_token(sampled) & ~mask & short[:, None]
    if missing.any(1)[short].all():
        text = f"{place('response_mask', missing)} is 0, the last token (EOS) of its "
        return (FAIL, f"{text}row: it is never trained"), mask | missing
    rows = counted(len(mask), "row")
    text = f"{tokens} of {rows}, as {by} says: nothing behind the end counts, the last "
    text += "token does"
    if gaps:
        text += f"; {counted(gaps, 'gap')}"
    return (OK, text), mask


def _gaps(mask: Tensor) -> int:
    """The number of gaps between tokens that count, in all rows."""
    starts = int((mask.long().diff(dim=1) == 1).sum())
    late_rows = ~mask[:, 0] & mask.any(1)
    return starts - int(late_rows.sum())


def judge_score(dump: Fields, summed: bool) -> Said:
    """Look whether each score is on the last token; several, by process, pass.

    Where advantages are made of a row's sum, ``summed``, the place loses nothing.
    """
    mask, scores = dump.response_mask, dump.scores
    if scores is None:
        return OPEN, dump.lacks("scores")
    if dump.scores_by_row:
        text = "one number a row, so which token had it is not in the dump"
        return OPEN, f"{text} ({counted(len(mask), 'row')})"
    last = last_token(mask)
    scored = (scores != 0) & mask.any(1, keepdim=True)
    outside = scored & ~mask
    early = scored & ~last
    if outside.any():
        row, token = first(outside)
        end = int(last[row].nonzero())
        text = (
            f"{shown('score', scores, outside, '.4g')} where nothing counts; the last "
            f"token, [{row}, {end}], has {float(scores[row, end]):.4g}"
        )
        if summed:
            text += "; advantages are made of whole rows here, so it is not lost"
            return OPEN, text
        cause = "it is written to the end of the row"
        if token == end + 1:
            cause = "it is one slot late, or the mask one short"
        text += f": {cause}, and lost; index the length of the response less 1"
        return FAIL, text
    if not scored.any():
        return OPEN, f"all 0 in {len(mask)} rows: it lies nowhere"
    with_score = scored.any(1)
    rows = counted(int(with_score.sum()), "row")
    if early.any() and (scored.sum(1) <= 1).all():
        row, _ = first(early)
        return FAIL, (
            f"{shown('score', scores, early, '.4g')}, the last token is "
            f"[{row}, {int(last[row].nonzero())}]: it is early, or the mask too long"
        )
    if early.any():
        return OK, f"on several tokens, none outside the mask ({rows})"
    short = int((with_score & ~mask[:, -1]).sum())
    if short:
        return OK, f"on the last token of {rows}, {short} of them with padding behind"
    text = "all full: the end of the row and its last token are one"
    return OPEN, f"on the last token of {rows}, {text}"


def judge_kl(dump: Fields, kl_coef: float | None) -> Said:
    """Compare what the rewards lack of the scores with each estimate of the KL."""
    mask = dump.response_mask
    tokens = counted(dump.tokens, "token")
    scores = dump.scores
    old = dump.old_log_probs
    ref = dump.ref_log_probs
    if scores is None or dump.rewards is None:
        return OPEN, dump.lacks("rewards", "scores")
    if dump.scores_by_row:
        return OPEN, "the rewards of single tokens are not in the dump"
    taken = scores - dump.rewards
    equal = old is not None and ref is not None and torch.equal(old[mask], ref[mask])
    if not taken.any() and equal:
        return OPEN, "old and ref log-probs are equal: any kl_coef takes 0"
    if not taken.any() and kl_coef:
        return FAIL, f"none in the rewards, with kl_coef {kl_coef:g}"
    if not taken.any():
        return OK, f"none in the rewards: they are the scores on {tokens}"
    if old is None or ref is None:
        text = "rewards are not the scores, and what was taken off cannot be told: "
        return OPEN, text + dump.lacks("old_log_probs", "ref_log_probs")

    def lost(where: Tensor) -> str:
        x = float(taken[first(where)])
        y = float((old - ref)[first(where)])
        return f"{place('score', where)} lost {x:.4g}, with old - ref {y:.4g}"

    outside = (taken != 0) & ~mask & mask.any(1, keepdim=True)
    if outside.any():
        text = "that slot does not count; multiply by response_mask"
        return FAIL, f"{lost(outside)}: {text}"
    far = mask & (taken.abs() > 1e-4 * scores.abs())
    if not far.any():
        most = float(taken[mask].abs().max())
        return OPEN, f"at most {most:.2g} was taken off: rounding"
    best = _best_fit(mask, scores, taken, old, ref)
    times = f"{abs(best.coef):.4g} times {best.name}"
    if best.wrong.any():
        text = f"{lost(best.wrong)}: no kl_coef times k1, k2, k3 or abs gives that"
        rest = dump.tokens - int(best.wrong.sum())
        if rest > dump.tokens / 2:
            return FAIL, f"{text}; {times} explains {rest} of {tokens}"
        return FAIL, text + _other_pair(dump, taken)
    if best.coef < 0:
        return FAIL, f"{lost(far)}: {times} with the wrong sign"
    if kl_coef is not None and abs(best.coef - kl_coef) > 1e-2 * kl_coef:
        return FAIL, f"{times} taken off {tokens}, not kl_coef {kl_coef:g}"
    return OK, f"{times} taken off {tokens}"


def _other_pair(dump: Fields, taken: Tensor) -> str:
    """Which other log-probs would have given what was taken off; or nothing."""
    scores, mask = dump.scores, dump.response_mask
    given = {
        "rollout_log_probs": dump.rollout_log_probs,
        "old_log_probs": dump.old_log_probs,
        "ref_log_prob": dump.ref_log_probs,
    }
    assert scores is not None
    for one, x in given.items():
        for other, y in given.items():
            if one == other or x is None or y is None:
                continue
            best = _best_fit(mask, scores, taken, x, y)
            if not best.wrong.any():
                times = f"{best.coef:.4g} times {best.name}"
                return (
                    f" of old_log_probs and ref_log_prob; {times} of {one} and {other} "
                    f"explains {counted(dump.tokens, 'token')}: these went in"
                )
    return " of old_log_probs and ref_log_prob"


class _Fit(NamedTuple):
    """An estimate of the KL, its coefficient, and the tokens where it is not taken."""

    name: str
    coef: float
    wrong: Tensor


def _best_fit(
    mask: Tensor, scores: Tensor, taken: Tensor, old: Tensor, ref: Tensor
) -> _Fit:
    """The estimate of the KL that explains most tokens.

    Its coefficient is that of most tokens: the median of taken / k.
    """
    far = mask & (taken.abs() > 1e-4 * scores.abs())
    both = {"log_probs": old, "ref_log_probs": ref}
    k1 = kl_k1(**both)
    # verl bounds k3 so.
    k3 = kl_k3(**both).clamp(-10, 10)
    rounding = 1e-6 * torch.maximum(old.abs(), ref.abs()).clamp(min=1)
    fits = []
    estimates = {"k1": k1, "k2": kl_k2(**both), "k3": k3, "abs": k1.abs()}
    for name, k in estimates.items():
        ratios = (taken / k)[far & (k != 0)]
        if len(ratios):
            coef = float(ratios.median())
            allowed = abs(coef) * (1e-3 * k.abs() + rounding) + 1e-6 * scores.abs()
            wrong = mask & ((taken - coef * k).abs() > allowed)
            fits.append(_Fit(name, coef, wrong))
    fits = fits or [_Fit("k1", 0.0, far)]
    return min(fits, key=lambda fit: (int(fit.wrong.sum()), fit.coef < 0))


class Apart(NamedTuple):
    """How far two log-probs are apart, and how alike, over tokens that count."""

    nats: float
    correlation: float
    tokens: int

    def __str__(self) -> str:
        tokens = counted(self.tokens, "token")
        return (
            f"{self.nats:.4f} nats apart, correlation {self.correlation:.3f} ({tokens})"
        )


def apart(one: Tensor, other: Tensor, mask: Tensor) -> Apart:
    """Compare two log-probs, slot by slot."""
    x, y = one[mask], other[mask]
    both = torch.stack([x, y])
    correlation = float(torch.corrcoef(both)[0, 1]) if len(x) > 1 else 0.0
    nats = float((x - y).abs().mean()) if len(x) else 0.0
    return Apart(nats, correlation, len(x))


def _moved(
    name: str, old: Tensor, other: Tensor, third: Tensor | None, mask: Tensor
) -> tuple[str, str]:
    """Which of two log-probs lies one slot late or early, as a third has it.

    The first result is the way in which the other lies against the old, or nothing.
    """
    both = mask[:, 1:] & mask[:, :-1]
    if int(both.sum()) < _FEWEST:
        return "", ""
    here = apart(old, other, mask)
    late = apart(old[:, :-1], other[:, 1:], both)
    early = apart(old[:, 1:], other[:, :-1], both)
    for word, there, back in (("late", late, "early"), ("early", early, "late")):
        closer = there.nats < here.nats / 2
        if not closer or there.correlation <= here.correlation + 0.3:
            continue
        lies = f"{name} lies one slot {word}"
        if third is None:
            lies += f" or old_log_probs one slot {back}, one of the two"
        elif _moved("", old, third, None, mask)[0] == word:
            lies = f"old_log_probs lies one slot {back}, as the third log-probs have it"
        return word, f"{here}; {lies}: put back, they are {there}"
    return "", ""


def judge_reference(dump: Fields) -> Said:
    """Compare old log-probs with the reference's: the same tokens, much the same model.

    After a shift by a slot they are those of other tokens.
    """
    mask, old, ref = dump.response_mask, dump.old_log_probs, dump.ref_log_probs
    if old is None or ref is None:
        return OPEN, dump.lacks("old_log_probs", "ref_log_probs")
    if torch.equal(old[mask], ref[mask]):
        return OPEN, "old and ref log-probs are equal: step 0, or the actor itself"
    if dump.tokens < _FEWEST or float(old[mask].std()) == 0:
        return OPEN, "too few unequal tokens to tell a slot from the next"
    _, found = _moved("ref_log_prob", old, ref, dump.rollout_log_probs, mask)
    if found:
        return FAIL, f"old_log_probs and ref_log_prob are {found}"
    here = apart(old, ref, mask)
    text = f"old_log_probs and ref_log_prob are {here}"
    if here.correlation < _ALIKE:
        return LOOK, f"{text}: hardly the same tokens, or quite another model"
    return OK, f"{text}; a slot late or early they fit no better"


def judge_rollout(dump: Fields) -> Said:
    """Compare old log-probs with the rollout's: the ratio before the first step."""
    mask = dump.response_mask
    old = dump.old_log_probs
    rollout = dump.rollout_log_probs
    for name, x in (("old_log_probs", old), ("rollout_log_probs", rollout)):
        if x is None:
            continue
        above = mask & (x > 1e-3)
        if above.any():
            return FAIL, f"{shown(name, x, above)}, above 0: no log-prob"
    if rollout is None or old is None:
        return OPEN, dump.lacks("old_log_probs", "rollout_log_probs")
    gap = torch.where(mask, old - rollout, 0).abs()
    mean = float(gap.sum() / mask.sum())
    if mean == 0:
        return OPEN, "old_log_probs are the rollout's own, copied"
    text = f"{mean:.4f} nats from rollout_log_probs, mean of {dump.tokens} tokens"
    if mean <= _NEAR:
        return OK, text
    _, moved = _moved("rollout_log_probs", old, rollout, dump.ref_log_probs, mask)
    if moved:
        return FAIL, f"old_log_probs and rollout_log_probs are {moved}"
    far = mask & (gap >= mean)
    ours = float(old[first(far)])
    theirs = float(rollout[first(far)])
    text += f", first {place('old_log_probs', far)} {ours:.4f} and {theirs:.4f}"
    if mean <= _FAR:
        return LOOK, f"{text}: more than engines differ by, {_NEAR}, but below {_FAR}"
    if not rollout[far].any():
        return FAIL, f"{text}: no model sampled these; a tool's tokens count"
    return FAIL, f"{text}: another temperature, top-p, slot, precision or weights"


def judge_ratio(dump: Fields) -> Said:
    """Compare TRL's importance_sampling_ratio with exp(old less sampling)."""
    mask, ratio = dump.response_mask, dump.ratio
    old, rollout = dump.old_log_probs, dump.rollout_log_probs
    if ratio is None or old is None or rollout is None:
        return OPEN, dump.lacks("old_log_probs", "rollout_log_probs")
    gap = torch.where(mask, old - rollout, 0)
    whole = ratio.shape == (len(mask), 1)
    if whole:
        gap, mask = gap.sum(1, keepdim=True), mask.any(1, keepdim=True)
    if ratio.shape != mask.shape or not ratio.is_floating_point():
        shape = list(ratio.shape)
        return (
            LOOK,
            f"importance_sampling_ratio has shape {shape}, not one a token or row",
        )
    ratio, expected = ratio.double(), gap.exp()
    near = max(dump.tolerance("old_log_probs", "rollout_log_probs"), 1e-3)
    off = mask & ((ratio - expected).abs() > near * expected.clamp(min=1))
    # What is too large or too small was set to 0, or to the bound.
    largest, least = ratio[mask].max(), ratio[mask].min()
    bound = (ratio == 0) | ((ratio == largest) & (expected > largest))
    bound |= (ratio == least) & (expected < least)
    count = counted(int(mask.sum()), "row" if whole else "token")
    wrong = off & ~bound
    if wrong.any():
        text = shown("importance_sampling_ratio", ratio, wrong)
        there = float(expected[first(wrong)])
        return FAIL, f"{text}, exp(old_log_probs - rollout_log_probs) is {there:.4f}"
    text = f"importance_sampling_ratio is exp(old - sampling) on {count}"
    return OK, f"{text}, {int(off.sum())} of them at a bound or 0"


def judge_values(dump: Fields) -> Said:
    """Compare the values of two answers to one prompt.

    Slot t has not read token t: up to and including the first token in which two
    answers differ, their values are equal, and behind it they are not.
    """
    values, mask = dump.values, dump.response_mask
    if values is None:
        return OPEN, dump.lacks("values")
    pairs = [*_pairs(dump, values)]
    if not pairs:
        why = "no two rows share a prompt and differ in a token"
        if dump.prompts is None or dump.responses is None:
            why = "no prompts and responses in the dump"
        return OPEN, f"from values alone their slots cannot be told, and {why}"
    # Up to the first other token both have read the same: what differs there is noise.
    noise = max(float(pair.before.amax()) for pair in pairs)
    near = max(1e-2 * float(values[mask].abs().max()), 4 * noise)
    first_pair = pairs[0]
    one = first_pair.one
    other = first_pair.other
    token = first_pair.token
    where = f"values[{one}, {token}] and [{other}, {token}]"
    if all(pair.there > near for pair in pairs):
        x = float(values[one, token])
        y = float(values[other, token])
        text = f"{where} follow equal tokens and are {x:.4f} and {y:.4f}"
        return FAIL, f"{text}: one slot late; cut [:, -T-1:-1], not [:, -T:]"
    apart = [pair.behind for pair in pairs if (pair.behind[1:] > near).any()]
    if apart and all(behind[0] <= max(1e-3 * near, noise) for behind in apart):
        text = "whose tokens differ, values are still equal: one slot early"
        return FAIL, f"behind {where}, {text}; cut [:, -T-1:-1]"
    count = f"{counted(len(pairs), 'pair')} of answers to one prompt"
    if not any((pair.behind > near).any() for pair in pairs):
        return OPEN, f"equal in {count}, whatever their tokens"
    return OK, f"{count}, equal up to their first other token"


class _Pair(NamedTuple):
    """Two rows with one prompt, how far their values are apart, and where.

    ``token`` is the first in which they differ; ``before`` it, ``there``, ``behind``.
    """

    one: int
    other: int
    token: int
    before: Tensor
    there: Tensor
    behind: Tensor


def _pairs(dump: Fields, values: Tensor) -> Iterator[_Pair]:
    """Each row with the first one of its prompt.

    A pair is left out where its first other token is a tool's: it has no value.
    """
    mask, prompts, responses = dump.response_mask, dump.prompts, dump.responses
    if prompts is None or responses is None:
        return
    reached = mask.flip(1).cummax(1).values.flip(1)  # up to the last that counts
    row_of: dict[tuple[int, ...], int] = {}
    for row, prompt in enumerate(prompts.tolist()):
        one = row_of.setdefault(tuple(prompt), row)
        both = mask[one] & mask[row]
        differ = (responses[one] != responses[row]) & reached[one] & reached[row]
        if not differ.any():
            continue
        token = int(differ.nonzero()[0])
        if both[token]:
            apart = (values[one] - values[row]).abs()
            before = pad(apart[:token], (1, 0))  # 0 where there is none
            behind = apart[token + 1 :][both[token + 1 :]]
            yield _Pair(one, row, token, before, apart[token], behind)
