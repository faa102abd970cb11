"""What went into the advantages: the mask, the score, the KL, the log-probs."""

import torch
from torch import Tensor

from ppo_ref import alignment
from ppo_ref.alignment import last_token, slot_after_end
from ppo_ref.dump.reading import Fields
from ppo_ref.dump.verdicts import DIFFERS, OK, OPEN, Verdict
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

_FAR = 0.1  # nats between rollout and trainer that bfloat16 does not explain


def first(wrong: Tensor) -> str:
    """The first slot that is True, as in ``[0, 1]``."""
    return str(wrong.nonzero()[0].tolist())


def judge_mask(dump: Fields, eos_token_id: int | None) -> tuple[Verdict, Tensor]:
    """Whether the mask counts what was sampled, and the mask that does.

    Without the id that ends a response, the attention mask is taken for right.
    """
    mask = dump.response_mask
    extra = _not_sampled(dump, eos_token_id)
    right = mask & ~extra
    if extra.any():
        text, short = f"{first(extra)} counts and was not sampled", ""
        if (extra & slot_after_end(right)).any():
            text += ", the slot after EOS: do not shift the mask with the values"
            short = "mask counts the slot after EOS"
        return Verdict("mask", DIFFERS, text, short), right
    attended = dump.attention_mask
    if attended is not None and attended.shape == mask.shape:
        missing = last_token(attended) & ~mask
        short_rows = ~attended.all(1)
        if short_rows.any() and missing.any(1)[short_rows].all():
            text = f"{first(missing)} does not count, the last token (EOS) of its row"
            return Verdict("mask", DIFFERS, text, "mask leaves out EOS"), right
    starts = (mask.long().diff(dim=1) == 1).sum()
    gaps = int(starts - (~mask[:, 0] & mask.any(1)).sum())
    shown = f"{gaps} gap{'s' * (gaps > 1)}" if gaps else "no gaps"
    text = f"{dump.mask_dtype}, {shown}, {int(mask.sum())} tokens"
    return Verdict("mask", OK, text), right


def judge_score(dump: Fields) -> Verdict:
    """Whether each score lies on the last token; several in a row, by process, pass."""
    mask, scored = dump.response_mask, dump.scores != 0
    last, outside = last_token(mask), scored & ~mask
    if outside.any():
        row = int(outside.nonzero()[0][0])
        end = [row, *last[row].nonzero()[0].tolist()] if last[row].any() else "none"
        text = f"{first(outside)} has one and does not count; the last token is {end}"
        return Verdict("score", DIFFERS, text, "score outside the mask")
    single = scored.sum(1) == 1
    early = scored & ~last & single[:, None]
    if early.any() and single[scored.any(1)].all():
        text = f"{first(early)} has one and is not the last token"
        return Verdict("score", DIFFERS, text, "score before the last token")
    place = "on several tokens" if (scored & ~last).any() else "on the last token"
    rows = f"{int(scored.any(1).sum())} of {len(scored)} rows"
    return Verdict("score", OK, f"{place} ({rows})")


def judge_kl(dump: Fields, kl_coef: float | None) -> Verdict:
    """Which KL was subtracted from the scores: the coefficient and the estimator."""
    mask, subtracted = dump.response_mask, dump.scores - dump.rewards
    if not subtracted.any():
        if kl_coef:
            return Verdict("kl", DIFFERS, f"none in the rewards, kl_coef {kl_coef:g}")
        return Verdict("kl", OK, "none in the rewards")
    old, ref = dump.old_log_probs, dump.ref_log_probs
    if old is None or ref is None:
        text = (
            "rewards differ from scores, and no ref_log_prob or old_log_probs says why"
        )
        return Verdict("kl", OPEN, text)
    counted = torch.where(mask, subtracted, 0)
    allowed = 1e-3 * counted.abs().max() + 1e-6 * dump.scores.abs().max().clamp(min=1)
    k1, k2, k3 = (kl(log_probs=old, ref_log_probs=ref) for kl in (kl_k1, kl_k2, kl_k3))
    # verl bounds k3 so.
    estimators = {"k1": k1, "k2": k2, "k3": k3.clamp(-10, 10), "abs": k1.abs()}
    coefs: dict[str, float] = {}
    for name, kl in estimators.items():
        k = torch.where(mask, kl, 0)
        coef = float((counted * k).sum() / k.square().sum().clamp(min=1e-30))
        if coef and (counted - coef * k).abs().max() <= allowed:
            coefs[name] = coef
    if not coefs:
        where = first(counted.abs() > allowed)
        text = f"{where} is not any kl_coef times k1, k2, k3 or abs"
        return Verdict("kl", DIFFERS, text)
    name, coef = next(iter(coefs.items()))
    text = f"kl_coef {coef:.4g}, {name}"
    if coef < 0:
        text += ": below 0, so old and reference are swapped, or the sign is"
        return Verdict("kl", DIFFERS, text, "kl has the wrong sign")
    outside = (subtracted != 0) & ~mask
    if outside.any():
        text += f"; {first(outside)} lost some and does not count"
        return Verdict("kl", DIFFERS, text, "kl taken off padding")
    if kl_coef is not None and abs(coef - kl_coef) > 1e-2 * abs(kl_coef):
        return Verdict("kl", DIFFERS, f"{text} explain it, not {kl_coef:g}")
    return Verdict("kl", OK, text)


def judge_ratio(dump: Fields) -> Verdict:
    """How far old log-probs are from the rollout's; a mean above 0.1 nats differs."""
    mask = dump.response_mask
    old, rollout = dump.old_log_probs, dump.rollout_log_probs
    if old is not None and (mask & (old > 1e-3)).any():
        where = first(mask & (old > 1e-3))
        text = f"old_log_probs{where} is above 0: no log-prob"
        return Verdict("ratio", DIFFERS, text)
    if rollout is None or old is None:
        missing = "rollout_log_probs" if rollout is None else "old_log_probs"
        return Verdict("ratio", OPEN, f"no {missing}")
    gap = torch.where(mask, old - rollout, 0)
    mean = float(gap.abs().sum() / mask.sum())
    if mean == 0:
        return Verdict("ratio", OK, "old_log_probs are the rollout's own")
    for shift, word in ((1, "late"), (-1, "early")):
        both = mask & mask.roll(shift, 1)
        both[:, 0 if shift > 0 else -1] = False
        moved = (old - rollout.roll(shift, 1))[both].abs()
        if mean > 1e-3 and len(moved) and moved.max() <= 0.1 * mean:
            text = f"rollout_log_probs explain old_log_probs one slot {word}"
            return Verdict("ratio", DIFFERS, text, "old_log_probs shifted by one")
    text = f"{mean:.4f} nats between rollout and trainer, mean per token"
    if mean > _FAR:
        where = first(mask & (gap.abs() > _FAR))
        text += f", first at {where}: another temperature, top-p or precision"
        return Verdict("ratio", DIFFERS, text)
    return Verdict("ratio", OK, text)


def _not_sampled(dump: Fields, eos_token_id: int | None) -> Tensor:
    """Slots that count and were not sampled."""
    mask, ids = dump.response_mask, dump.responses
    if ids is not None and ids.shape != mask.shape:
        ids = None
    if ids is not None and eos_token_id is not None:
        return mask & ~alignment.response_mask(ids.long(), eos_token_id)
    if dump.attention_mask is not None:
        return mask & ~dump.attention_mask
    return torch.zeros_like(mask)
