"""Advantages, returns and whitening: which choices explain the numbers of a dump."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.advantages import gae
from ppo_ref.alignment import last_token, slot_after_end
from ppo_ref.asserts.rounding import beyond
from ppo_ref.dump.fields import Fields
from ppo_ref.dump.verdicts import DIFFERS, OK, OPEN, Verdict
from ppo_ref.masking import masked_whiten

GAMMAS = (1.0, 0.999, 0.995, 0.99, 0.98, 0.97, 0.95, 0.9)
LAMBDAS = (1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.92, 0.9, 0.8, 0.5, 0.0)
_SEARCHED = 16  # rows on which the grid is tried
_AFTER_EOS = "V in the slot after EOS went in"


class Explanation(NamedTuple):
    """The choices under which GAE gives the returns of a dump, and its advantages."""

    gamma: float
    gae_lambda: float
    variant: str
    advantages: Tensor
    error: float


def explain(
    dump: Fields,
    response_mask: Tensor,
    gamma: float | None = None,
    gae_lambda: float | None = None,
) -> Explanation | None:
    """The choices that give the returns of a dump, the closest ones.

    Args:
        dump: The fields.
        response_mask: True where the token counts.
        gamma: What to try; the usual ones if left out.
        gae_lambda: What to try; the usual ones if left out.

    Returns:
        None where nothing fits.

    Raises:
        ValueError: if one of them is outside [0, 1].

    Example:
        >>> from ppo_ref.dump.fields import fields
        >>> x, mask = torch.tensor([[0., 0., 1.]]), torch.ones(1, 3)
        >>> batch = {"values": x / 2, "advantages": x, "returns": x * 0 + 1}
        >>> dump = fields(batch | {"rm_scores": x, "response_mask": mask})
        >>> explain(dump, dump.response_mask)[:3]
        (1.0, 1.0, '')
    """
    few = response_mask[:_SEARCHED]
    rewards, values, returns = (
        x[:_SEARCHED] for x in (dump.rewards, dump.values, dump.returns)
    )
    gammas = GAMMAS if gamma is None else (gamma,)
    lambdas = LAMBDAS if gae_lambda is None else (gae_lambda,)
    best: tuple[float, int, float, float] | None = None
    for g, lam in product(gammas, lambdas):
        tries = _variants(rewards, values, returns, few, g, lam)
        for rank, (_, advantages) in enumerate(tries):
            error = _error(dump, returns, advantages + values, few)
            # Closer than rounding is no closer: then the plainer one, or the usual.
            if error < 1 and (best is None or (round(error, 2), rank) < best[:2]):
                best = round(error, 2), rank, g, lam
    if best is None:
        return None
    _, rank, g, lam = best
    whole = _variants(dump.rewards, dump.values, dump.returns, response_mask, g, lam)
    variant, advantages = [*whole][rank]
    error = _error(dump, dump.returns, advantages + dump.values, response_mask)
    if error >= 1:
        return None
    return Explanation(g, lam, variant, advantages, error)


def advantage(
    dump: Fields,
    response_mask: Tensor,
    gamma: float | None,
    gae_lambda: float | None,
) -> tuple[list[Verdict], Tensor | None]:
    """Whether returns are GAE plus values, and how: three verdicts.

    Args:
        dump: The fields.
        response_mask: True where the token counts.
        gamma: What it should be, or None.
        gae_lambda: What it should be, or None.

    Returns:
        On GAE, on cut responses and on the returns; and the raw advantages, None where
        nothing explains them.

    Raises:
        ValueError: if ``gamma`` or ``gae_lambda`` is outside [0, 1].

    Example:
        >>> from ppo_ref.dump.fields import fields
        >>> x, mask = torch.tensor([[0., 0., 1.]]), torch.ones(1, 3)
        >>> batch = {"values": x / 2, "advantages": x, "returns": x * 0 + 1}
        >>> dump = fields(batch | {"rm_scores": x, "response_mask": mask})
        >>> [v.text for v in advantage(dump, dump.response_mask, None, None)[0]]
        ['gamma 1, lambda 1', 'full rows: 1 of 1, V after them 0', 'advantage + V']
    """
    found = explain(dump, response_mask, gamma, gae_lambda)
    asked = (gamma, gae_lambda) != (None, None)
    other = explain(dump, response_mask) if found is None and asked else None
    shown = found or other
    if shown is None:
        return _unexplained(dump, response_mask, gamma, gae_lambda)
    text = f"gamma {shown.gamma:g}, lambda {shown.gae_lambda:g}"
    cut = _cut(shown, response_mask)
    returns = Verdict("returns", OK, "advantage + V")
    if shown.variant == "whitened":
        returns = Verdict(
            "returns",
            DIFFERS,
            "the whitened advantage + V; whiten after the returns are made",
            "returns hold whitened advantages",
        )
    if other is not None:
        asked_for = ", ".join(
            f"{name} {x:g}"
            for name, x in (("gamma", gamma), ("lambda", gae_lambda))
            if x is not None
        )
        wrong = Verdict("gae", DIFFERS, f"{text} explain it, not {asked_for}")
        return [wrong, cut, returns], shown.advantages
    if shown.variant not in ("", "bootstrapped", "whitened"):
        wrong = Verdict("gae", DIFFERS, f"{text}, if {shown.variant}", shown.variant)
        return [wrong, cut, returns], shown.advantages
    return [Verdict("gae", OK, text), cut, returns], shown.advantages


def values(dump: Fields, response_mask: Tensor) -> Verdict:
    """Whether the values of rows with one prompt part where their tokens do.

    Slot t has not read token t: up to and including the first token in which two
    answers to a prompt differ, their values are equal.

    Args:
        dump: The fields.
        response_mask: True where the token counts.

    Returns:
        The verdict, ``-`` where no two rows share a prompt.

    Example:
        >>> from ppo_ref.dump.fields import fields
        >>> x, ids = torch.tensor([[0.5, 0.9], [0.5, 0.1]]), torch.tensor([[7], [7]])
        >>> names = "values advantages returns rm_scores".split()
        >>> batch = dict.fromkeys(names, x) | {"response_mask": x * 0 + 1}
        >>> batch |= {"prompts": ids, "responses": torch.tensor([[4, 5], [6, 5]])}
        >>> dump = fields(batch)
        >>> values(dump, dump.response_mask).text
        '1 pair of answers to one prompt, equal up to their first other token'
    """
    pairs = [*_pairs(dump, response_mask)]
    if not pairs:
        return Verdict("values", OPEN, "no two rows share a prompt")
    near = 1e-2 * float(dump.values[response_mask].abs().max())
    late, early = [], []
    for one, other, token in pairs:
        apart = (dump.values[one] - dump.values[other]).abs()
        both = response_mask[one] & response_mask[other]
        late.append(bool(apart[token] > near))
        behind = apart[token + 1 :][both[token + 1 :]]
        if len(behind) > 1 and behind[1:].max() > near:
            early.append(bool(behind[0] <= 1e-3 * near))
    one, other, token = pairs[0]
    where = f"[{one}, {token}] and [{other}, {token}]"
    if all(late):
        text = f"{where} follow equal tokens and differ: cut [:, -T-1:-1], not [:, -T:]"
        return Verdict("values", DIFFERS, text, "values one slot late")
    if early and all(early):
        text = f"behind {where}, values are still equal: cut [:, -T-1:-1]"
        return Verdict("values", DIFFERS, text, "values one slot early")
    count = f"{len(pairs)} pair{'s' * (len(pairs) > 1)}"
    text = f"{count} of answers to one prompt, equal up to their first other token"
    return Verdict("values", OK, text)


def whitening(dump: Fields, response_mask: Tensor, raw: Tensor | None) -> Verdict:
    """Over what the advantages were whitened.

    Args:
        dump: The fields.
        response_mask: True where the token counts.
        raw: The advantages before it, None where they are not known.

    Returns:
        The verdict.

    Raises:
        ValueError: if ``raw`` is not finite where it counts.

    Example:
        >>> from ppo_ref.dump.fields import fields
        >>> x, mask = torch.tensor([[0., 0., 1.]]), torch.ones(1, 3)
        >>> batch = {"values": x, "advantages": x, "returns": x, "rm_scores": x}
        >>> dump = fields(batch | {"response_mask": mask})
        >>> whitening(dump, dump.response_mask, dump.advantages).text
        'none; verl whitens over the tokens that count'
    """
    if int(response_mask.sum()) < 2:
        return Verdict("whitening", OPEN, "fewer than 2 tokens")
    if raw is None:
        raw = torch.where(response_mask, dump.returns - dump.values, 0)
    right = masked_whiten(raw, response_mask)
    if _error(dump, dump.advantages, right, response_mask) < 1:
        return Verdict("whitening", OK, "over the tokens that count")
    tries = _whitenings(dump, raw, response_mask)
    for words, tried in tries:
        if _error(dump, dump.advantages, tried, response_mask) < 1:
            return Verdict("whitening", DIFFERS, words)
    wrong = beyond(dump.advantages - right, dump.tolerance, right) & response_mask
    at = tuple(wrong.nonzero()[0].tolist())
    text = (
        f"{list(at)} is {float(dump.advantages[at]):.4f}, over the tokens that count "
        f"{float(right[at]):.4f}; nothing tried explains it"
    )
    return Verdict("whitening", DIFFERS, text)


def _error(dump: Fields, x: Tensor, y: Tensor, response_mask: Tensor) -> float:
    """The largest difference, in units of what rounding allows."""
    size = torch.maximum(x.abs(), y.abs()).clamp(min=1)
    off = torch.where(response_mask, (x - y).abs() / size, 0)
    return float(off.max()) / dump.tolerance


def _variants(
    rewards: Tensor,
    values: Tensor,
    returns: Tensor,
    response_mask: Tensor,
    gamma: float,
    gae_lambda: float,
) -> Iterator[tuple[str, Tensor]]:
    """Raw advantages, the right ones first, then with one thing done otherwise.

    Those whose returns are not advantage + V are given less what is to be added.
    """

    def of(values: Tensor, mask: Tensor, ends: Tensor | None = None) -> Tensor:
        found = gae(
            token_level_rewards=rewards,
            values=values,
            response_mask=mask,
            gamma=gamma,
            gae_lambda=gae_lambda,
            bootstrap_values=ends,
        ).advantages
        return torch.where(response_mask, found, 0)

    plain = of(values, response_mask)
    yield "", plain
    last = last_token(response_mask)
    ends = torch.where(last & response_mask.all(1, keepdim=True), returns - rewards, 0)
    ends = ends.sum(1) / max(gamma, 1e-6)
    yield "bootstrapped", of(values, response_mask, ends)
    yield _AFTER_EOS, of(values, response_mask | slot_after_end(response_mask))
    for shift, word in ((-1, "late"), (1, "early")):
        moved = values.roll(shift, 1)
        yield f"values went in one slot {word}", of(moved, response_mask)
    if int(response_mask.sum()) > 1:
        yield "whitened", masked_whiten(plain, response_mask)


def _cut(found: Explanation, response_mask: Tensor) -> Verdict:
    full = int(response_mask.all(1).sum())
    if not full:
        return Verdict("truncation", OK, "no row is full")
    after = "bootstrapped" if found.variant == "bootstrapped" else "0"
    text = f"full rows: {full} of {len(response_mask)}, V after them {after}"
    return Verdict("truncation", OK, text)


def _unexplained(
    dump: Fields, response_mask: Tensor, gamma: float | None, gae_lambda: float | None
) -> tuple[list[Verdict], None]:
    g, lam = (1.0 if x is None else x for x in (gamma, gae_lambda))
    tries = _variants(dump.rewards, dump.values, dump.returns, response_mask, g, lam)
    wanted = next(tries)[1] + dump.values
    wrong = beyond(dump.returns - wanted, dump.tolerance, wanted) & response_mask
    at = tuple(wrong.nonzero()[0].tolist())
    text = (
        f"returns{list(at)} is {float(dump.returns[at]):.4f}, at gamma {g:g}, lambda "
        f"{lam:g} it is {float(wanted[at]):.4f}; no usual gamma and lambda explain it"
    )
    return [Verdict("gae", DIFFERS, text)], None


def _pairs(dump: Fields, response_mask: Tensor) -> Iterator[tuple[int, int, int]]:
    """Two rows with one prompt, and the first token in which they differ."""
    if dump.prompts is None or dump.responses is None:
        return
    if dump.responses.shape != response_mask.shape:
        return
    seen: dict[tuple[int, ...], int] = {}
    for row, prompt in enumerate(dump.prompts.tolist()):
        one = seen.setdefault(tuple(prompt), row)
        both = response_mask[one] & response_mask[row]
        other = both & (dump.responses[one] != dump.responses[row])
        if one != row and other.any():
            yield one, row, int(other.nonzero()[0])


def _whitenings(
    dump: Fields, raw: Tensor, response_mask: Tensor
) -> Iterator[tuple[str, Tensor]]:
    """Ways to whiten that are not verl's."""
    yield "none; verl whitens over the tokens that count", raw
    everywhere = dump.returns - dump.values
    for whole in (everywhere, torch.where(response_mask, raw, 0)):
        scaled = (whole - whole.mean()) / (whole.std() + 1e-8)
        yield "over all slots, padding too; pass response_mask", scaled
    count = response_mask.sum(1, keepdim=True)
    mean = torch.where(response_mask, raw, 0).sum(1, keepdim=True) / count.clamp(min=1)
    square = torch.where(response_mask, raw - mean, 0).square().sum(1, keepdim=True)
    for less in (1, 0):
        deviation = (square / (count - less).clamp(min=1)).sqrt()
        text = "row by row; verl whitens the whole batch"
        yield text, (raw - mean) / (deviation + 1e-8)
    white = masked_whiten(raw, response_mask)
    total = float(response_mask.sum())
    by_n = white * (total / (total - 1)) ** 0.5
    yield "over the tokens that count, the variance by n, not n - 1", by_n
    middle = raw[response_mask].mean()
    scaled = white + middle / raw[response_mask].std()
    yield "divided by the deviation, the mean left in", scaled
    yield "divided by the deviation, the mean added again", white + middle
    for workers in (2, 4, 8):
        if len(raw) % workers == 0:
            parts = zip(raw.chunk(workers), response_mask.chunk(workers), strict=True)
            if all(int(m.sum()) > 1 for m in response_mask.chunk(workers)):
                own = torch.cat([masked_whiten(x, m) for x, m in parts])
                yield f"in {workers} parts, as if by each of {workers} workers", own
