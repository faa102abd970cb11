"""What went into the advantages: the mask, the score, the KL, the log-probs."""

import torch
from torch import Tensor

from ppo_ref import alignment
from ppo_ref.alignment import last_token, slot_after_end
from ppo_ref.dump.fields import Fields
from ppo_ref.dump.verdicts import DIFFERS, OK, OPEN, Verdict
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

_AFTER_EOS = "mask counts the slot after EOS"
_FAR = 0.1  # nats between rollout and trainer that bfloat16 does not explain


def first(wrong: Tensor) -> str:
    """The first slot where something is, as one writes it.

    Args:
        wrong: True where it is, at least once.

    Returns:
        Row and token between brackets.

    Example:
        >>> first(torch.tensor([[False, True]]))
        '[0, 1]'
    """
    return str(wrong.nonzero()[0].tolist())


def mask(dump: Fields, eos_token_id: int | None = None) -> tuple[Verdict, Tensor]:
    """Whether the mask counts what was sampled, and the mask that does.

    Args:
        dump: The fields.
        eos_token_id: The id that ends a response; left out, the attention mask is
            taken for right.

    Returns:
        The verdict, and the mask without slots that should not count.

    Example:
        >>> from ppo_ref.dump.fields import fields
        >>> x, late = torch.zeros(1, 3), torch.tensor([[1, 1, 1]])
        >>> names = "values advantages returns token_level_scores".split()
        >>> batch = dict.fromkeys(names, x) | {"response_mask": late}
        >>> batch["attention_mask"] = torch.tensor([[1, 1, 1, 0]])
        >>> mask(fields(batch))[0].short
        'mask counts the slot after EOS'
    """
    given = dump.response_mask
    extra = _counted_too_much(dump, eos_token_id)
    right = given & ~extra
    gaps = int(
        (right.long().diff(dim=1) == 1).sum() - (~right[:, 0] & right.any(1)).sum()
    )
    if extra.any():
        after = bool((extra & slot_after_end(right)).any())
        text = f"{first(extra)} counts and was not sampled"
        if after:
            text += ", the slot after EOS: do not shift the mask with the values"
        return Verdict("mask", DIFFERS, text, _AFTER_EOS if after else ""), right
    attended = dump.attention_mask
    if attended is not None and attended.shape == given.shape:
        missing = last_token(attended) & ~given
        short = ~attended.all(1)
        if short.any() and missing.any(1)[short].all():
            text = f"{first(missing)} does not count, the last token (EOS) of its row"
            return Verdict("mask", DIFFERS, text, "mask leaves out EOS"), right
    gapped = f"{gaps} gap{'s' * (gaps > 1)}" if gaps else "no gaps"
    text = f"{dump.mask_dtype}, {gapped}, {int(given.sum())} tokens"
    return Verdict("mask", OK, text), right


def score(dump: Fields, response_mask: Tensor) -> Verdict:
    """Whether each score lies on the last token.

    Args:
        dump: The fields.
        response_mask: True where the token counts.

    Returns:
        The verdict; several scores in a row, as of processes, pass.

    Example:
        >>> from ppo_ref.dump.fields import fields
        >>> x = torch.tensor([[0., 0., 1.]])
        >>> names = "values advantages returns token_level_scores".split()
        >>> batch = fields(dict.fromkeys(names, x) | {"response_mask": x * 0 + 1})
        >>> score(batch, batch.response_mask).text
        'on the last token (1 of 1 rows)'
    """
    held, last = dump.scores != 0, last_token(response_mask)
    outside = held & ~response_mask
    if outside.any():
        row = int(outside.nonzero()[0][0])
        end = [row, *last[row].nonzero()[0].tolist()] if last[row].any() else "none"
        text = f"{first(outside)} has one and does not count; the last token is {end}"
        return Verdict("score", DIFFERS, text, "score outside the mask")
    single = held.sum(1) == 1
    early = held & ~last & single[:, None]
    if early.any() and single[held.any(1)].all():
        text = f"{first(early)} has one and is not the last token"
        return Verdict("score", DIFFERS, text, "score before the last token")
    rows = int(held.any(1).sum())
    where = "on the last token" if not (held & ~last).any() else "on several tokens"
    return Verdict("score", OK, f"{where} ({rows} of {len(held)} rows)")


def kl(dump: Fields, response_mask: Tensor, kl_coef: float | None) -> Verdict:
    """Which KL was subtracted from the scores.

    Args:
        dump: The fields.
        response_mask: True where the token counts.
        kl_coef: What it should be, or None.

    Returns:
        The verdict, with the coefficient and the estimator that explain the rewards.

    Example:
        >>> from ppo_ref.dump.fields import fields
        >>> x = torch.tensor([[0., 0., 1.]])
        >>> names = "values advantages returns token_level_scores".split()
        >>> batch = fields(dict.fromkeys(names, x) | {"response_mask": x * 0 + 1})
        >>> kl(batch, batch.response_mask, None).text
        'none in the rewards'
    """
    taken = dump.scores - dump.rewards
    if not taken.any():
        if kl_coef:
            return Verdict("kl", DIFFERS, f"none in the rewards, kl_coef {kl_coef:g}")
        return Verdict("kl", OK, "none in the rewards")
    if dump.ref_log_probs is None or dump.old_log_probs is None:
        text = (
            "rewards differ from scores, and no ref_log_prob or old_log_probs says why"
        )
        return Verdict("kl", OPEN, text)
    outside = (taken != 0) & ~response_mask
    counted = torch.where(response_mask, taken, 0)
    allowed = 1e-3 * counted.abs().max() + 1e-6 * dump.scores.abs().max().clamp(min=1)
    for name, per_token in _estimators(dump.old_log_probs, dump.ref_log_probs).items():
        k = torch.where(response_mask, per_token, 0)
        coef = float((counted * k).sum() / k.square().sum().clamp(min=1e-30))
        if coef and (counted - coef * k).abs().max() <= allowed:
            return _explained(name, coef, kl_coef, outside)
    text = (
        f"{first(counted.abs() > allowed)} is not any kl_coef times k1, k2, k3 or abs"
    )
    return Verdict("kl", DIFFERS, text)


def ratio(dump: Fields, response_mask: Tensor) -> Verdict:
    """How far the trainer's old log-probs are from the rollout's.

    Args:
        dump: The fields.
        response_mask: True where the token counts.

    Returns:
        The verdict; a mean beyond 0.1 nats differs.

    Example:
        >>> from ppo_ref.dump.fields import fields
        >>> x = torch.tensor([[0., 0., 1.]])
        >>> names = "values advantages returns token_level_scores".split()
        >>> batch = fields(dict.fromkeys(names, x) | {"response_mask": x * 0 + 1})
        >>> ratio(batch, batch.response_mask).text
        'no rollout_log_probs'
    """
    old, rollout = dump.old_log_probs, dump.rollout_log_probs
    if old is not None and (response_mask & (old > 1e-3)).any():
        where = first(response_mask & (old > 1e-3))
        return Verdict(
            "ratio", DIFFERS, f"old_log_probs{where} is above 0: no log-prob"
        )
    if rollout is None or old is None:
        lacks = "rollout_log_probs" if rollout is None else "old_log_probs"
        return Verdict("ratio", OPEN, f"no {lacks}")
    gap = torch.where(response_mask, old - rollout, 0)
    mean = float(gap.abs().sum() / response_mask.sum())
    if mean == 0:
        return Verdict("ratio", OK, "old_log_probs are the rollout's own")
    for shift in (1, -1):
        both = response_mask & response_mask.roll(shift, 1)
        both[:, 0 if shift > 0 else -1] = False
        moved = (old - rollout.roll(shift, 1))[both].abs()
        if mean > 1e-3 and len(moved) and moved.max() <= 0.1 * mean:
            word = "late" if shift > 0 else "early"
            text = f"rollout_log_probs explain old_log_probs one slot {word}"
            return Verdict("ratio", DIFFERS, text, "old_log_probs shifted by one")
    text = f"{mean:.4f} nats between rollout and trainer, mean per token"
    if mean > _FAR:
        far = response_mask & (gap.abs() > _FAR)
        text += f", first at {first(far)}: another temperature, top-p or precision"
        return Verdict("ratio", DIFFERS, text)
    return Verdict("ratio", OK, text)


def _explained(
    name: str, coef: float, wanted: float | None, outside: Tensor
) -> Verdict:
    text = f"kl_coef {coef:.4g}, {name}"
    if coef < 0:
        text += ": below 0, so old and reference are swapped, or the sign is"
        return Verdict("kl", DIFFERS, text, "kl has the wrong sign")
    if outside.any():
        text += f"; {first(outside)} lost some and does not count"
        return Verdict("kl", DIFFERS, text, "kl taken off padding")
    if wanted is not None and abs(coef - wanted) > 1e-2 * abs(wanted):
        return Verdict("kl", DIFFERS, f"{text} explain it, not {wanted:g}")
    return Verdict("kl", OK, text)


def _estimators(old: Tensor, ref: Tensor) -> dict[str, Tensor]:
    given = {"log_probs": old, "ref_log_probs": ref}
    return {
        "k1": kl_k1(**given),
        "k2": kl_k2(**given),
        "k3": kl_k3(**given).clamp(-10, 10),  # as verl does
        "abs": kl_k1(**given).abs(),
    }


def _counted_too_much(dump: Fields, eos_token_id: int | None) -> Tensor:
    """Slots that count and were not sampled."""
    given = dump.response_mask
    ids = dump.responses
    if ids is not None and ids.shape != given.shape:
        ids = None
    if ids is not None and eos_token_id is not None:
        return given & ~alignment.response_mask(ids.long(), eos_token_id)
    if dump.attention_mask is not None or ids is None:
        attended = given if dump.attention_mask is None else dump.attention_mask
        return given & ~attended
    # Without either: padding that follows itself, where an end and padding differ not.
    last = last_token(given)
    before = last_token(given & ~last)
    short = ~given[:, -1:] & before.any(1, keepdim=True)
    tail = [ids[slots & short] for slots in (before, last, slot_after_end(given))]
    doubled = bool(short.any()) and bool((tail[0] == tail[1]).all())
    return last & short & (doubled and bool((tail[1] == tail[2]).all()))
