"""Advantages, returns and whitening: which choices explain the numbers of a dump."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.advantages import gae
from ppo_ref.alignment import last_token, slot_after_end
from ppo_ref.asserts.faults import beyond
from ppo_ref.asserts.targets import GAMMAS, LAMBDAS
from ppo_ref.dump.inputs import first
from ppo_ref.dump.reading import Fields
from ppo_ref.dump.verdicts import DIFFERS, OK, OPEN, Verdict
from ppo_ref.masking import masked_whiten

# How a trainer may have used GAE, the plainest first.
PLAIN, BOOTSTRAPPED = "plain", "bootstrapped"
AFTER_EOS = "V in the slot after EOS went in"
WHITENED = "whitened"
VARIANTS = (PLAIN, BOOTSTRAPPED, AFTER_EOS, WHITENED)
_SEARCHED = 16  # rows on which the grid is tried


class Choice(NamedTuple):
    """One way to have computed the returns of a dump."""

    gamma: float
    gae_lambda: float
    variant: str

    def advantages(self, dump: Fields) -> Tensor:
        """The advantages that this choice gives; whitened for ``WHITENED``."""
        counted, bootstrap = dump.response_mask, None
        if self.variant == BOOTSTRAPPED:
            cut = last_token(counted) & counted.all(1, keepdim=True)
            after = torch.where(cut, dump.returns - dump.rewards, 0)
            bootstrap = after.sum(1) / max(self.gamma, 1e-6)
        elif self.variant == AFTER_EOS:
            counted = counted | slot_after_end(counted)
        raw = gae(
            token_level_rewards=dump.rewards,
            values=dump.values,
            response_mask=counted,
            gamma=self.gamma,
            gae_lambda=self.gae_lambda,
            bootstrap_values=bootstrap,
        ).advantages
        raw = torch.where(dump.response_mask, raw, 0)
        if self.variant == WHITENED:
            return masked_whiten(raw, dump.response_mask)
        return raw

    def error(self, dump: Fields) -> float:
        """How far its returns are from those of the dump, in units of rounding."""
        return _error(dump, dump.returns, self.advantages(dump) + dump.values)


def explain(
    dump: Fields, gamma: float | None = None, gae_lambda: float | None = None
) -> Choice | None:
    """The choice that gives the returns of a dump; the usual values unless given."""
    few = _rows(dump, _SEARCHED)
    gammas = GAMMAS if gamma is None else (gamma,)
    lambdas = (1.0, *LAMBDAS) if gae_lambda is None else (gae_lambda,)
    variants = VARIANTS if int(few.response_mask.sum()) > 1 else VARIANTS[:-1]
    best, least = None, 1.0
    # The plainest first: closer than rounding is no closer.
    for variant, g, lam in product(variants, gammas, lambdas):
        choice = Choice(g, lam, variant)
        error = round(choice.error(few), 2)
        if error < least:
            best, least = choice, error
        if least == 0:
            break
    return best if best and best.error(dump) < 1 else None


def judge_advantages(
    dump: Fields, gamma: float | None, gae_lambda: float | None
) -> tuple[list[Verdict], Tensor | None]:
    """Verdicts on GAE, cut responses and returns, and the advantages if explained."""
    asked = (gamma, gae_lambda) != (None, None)
    choice = explain(dump, gamma, gae_lambda)
    as_asked = choice is not None
    if asked and not as_asked:
        choice = explain(dump)
    if choice is None:
        return [_unexplained(dump, gamma, gae_lambda)], None
    text = f"gamma {choice.gamma:g}, lambda {choice.gae_lambda:g}"
    verdict = Verdict("gae", OK, text)
    if not as_asked:
        numbers = {"gamma": gamma, "lambda": gae_lambda}
        wish = [f"{name} {x:g}" for name, x in numbers.items() if x is not None]
        verdict = Verdict("gae", DIFFERS, f"{text} explain it, not {', '.join(wish)}")
    elif choice.variant == AFTER_EOS:
        text += f", if {choice.variant}"
        verdict = Verdict("gae", DIFFERS, text, choice.variant)
    returns = Verdict("returns", OK, "advantage + V")
    if choice.variant == WHITENED:
        text = "the whitened advantage + V; whiten after the returns are made"
        returns = Verdict("returns", DIFFERS, text, "returns hold whitened advantages")
    full = int(dump.response_mask.all(1).sum())
    text = "no row is full"
    if full:
        after = BOOTSTRAPPED if choice.variant == BOOTSTRAPPED else "0"
        text = f"full rows: {full} of {len(dump.values)}, V after them {after}"
    truncation = Verdict("truncation", OK, text)
    return [verdict, truncation, returns], choice.advantages(dump)


def judge_values(dump: Fields) -> Verdict:
    """Whether the values of rows with one prompt differ only once their tokens do.

    Slot t has not read token t: up to and including the first token in which two
    answers to a prompt differ, their values are equal.
    """
    mask, pairs = dump.response_mask, [*_pairs(dump)]
    if not pairs:
        return Verdict("values", OPEN, "no two rows share a prompt")
    near = 1e-2 * float(dump.values[mask].abs().max())
    late, early = [], []
    for one, other, token in pairs:
        difference = (dump.values[one] - dump.values[other]).abs()
        late.append(bool(difference[token] > near))
        behind = difference[token + 1 :][(mask[one] & mask[other])[token + 1 :]]
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


def judge_whitening(dump: Fields, raw: Tensor | None) -> Verdict:
    """Over what the advantages were whitened; ``raw`` are those before, if known."""
    mask = dump.response_mask
    if int(mask.sum()) < 2:
        return Verdict("whitening", OPEN, "fewer than 2 tokens")
    if raw is None:
        raw = torch.where(mask, dump.returns - dump.values, 0)
    right = masked_whiten(raw, mask)
    if _error(dump, dump.advantages, right) < 1:
        return Verdict("whitening", OK, "over the tokens that count")
    for words, other in _other_whitenings(dump, raw):
        if _error(dump, dump.advantages, other) < 1:
            return Verdict("whitening", DIFFERS, words)
    wrong = beyond(dump.advantages - right, dump.tolerance, right) & mask
    at = tuple(wrong.nonzero()[0].tolist())
    text = (
        f"{first(wrong)} is {float(dump.advantages[at]):.4f}, over the tokens that "
        f"count {float(right[at]):.4f}; nothing tried explains it"
    )
    return Verdict("whitening", DIFFERS, text)


def _rows(dump: Fields, count: int) -> Fields:
    """The first rows of what enters the returns."""
    return dump._replace(
        response_mask=dump.response_mask[:count],
        rewards=dump.rewards[:count],
        values=dump.values[:count],
        returns=dump.returns[:count],
    )


def _error(dump: Fields, x: Tensor, y: Tensor) -> float:
    """The largest difference, in units of what rounding allows."""
    size = torch.maximum(x.abs(), y.abs()).clamp(min=1)
    difference = torch.where(dump.response_mask, (x - y).abs() / size, 0)
    return float(difference.max()) / dump.tolerance


def _unexplained(
    dump: Fields, gamma: float | None, gae_lambda: float | None
) -> Verdict:
    g, lam = (1.0 if x is None else x for x in (gamma, gae_lambda))
    expected = Choice(g, lam, PLAIN).advantages(dump) + dump.values
    wrong = beyond(dump.returns - expected, dump.tolerance, expected)
    wrong &= dump.response_mask
    at = tuple(wrong.nonzero()[0].tolist())
    text = (
        f"returns{first(wrong)} is {float(dump.returns[at]):.4f}, at gamma {g:g}, "
        f"lambda {lam:g} it is {float(expected[at]):.4f}; no usual gamma and lambda "
        "explain it"
    )
    return Verdict("gae", DIFFERS, text)


def _pairs(dump: Fields) -> Iterator[tuple[int, int, int]]:
    """Two rows with one prompt, and the first token in which they differ."""
    mask = dump.response_mask
    if dump.prompts is None or dump.responses is None:
        return
    if dump.responses.shape != mask.shape:
        return
    row_of: dict[tuple[int, ...], int] = {}
    for row, prompt in enumerate(dump.prompts.tolist()):
        one = row_of.setdefault(tuple(prompt), row)
        differ = dump.responses[one] != dump.responses[row]
        differ &= mask[one] & mask[row]
        if one != row and differ.any():
            yield one, row, int(differ.nonzero()[0])


def _other_whitenings(dump: Fields, raw: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Ways to whiten that are not verl's."""
    mask = dump.response_mask
    yield "none; verl whitens over the tokens that count", raw
    for slots in (dump.returns - dump.values, torch.where(mask, raw, 0)):
        scaled = (slots - slots.mean()) / (slots.std() + 1e-8)
        yield "over all slots, padding too; pass response_mask", scaled
    count = mask.sum(1, keepdim=True)
    mean = torch.where(mask, raw, 0).sum(1, keepdim=True) / count.clamp(min=1)
    square = torch.where(mask, raw - mean, 0).square().sum(1, keepdim=True)
    for less in (1, 0):
        deviation = (square / (count - less).clamp(min=1)).sqrt()
        text = "row by row; verl whitens the whole batch"
        yield text, (raw - mean) / (deviation + 1e-8)
    white = masked_whiten(raw, mask)
    yield "divided by the deviation, the mean added again", white + raw[mask].mean()
    for workers in (2, 4, 8):
        if len(raw) % workers == 0:
            parts = [*zip(raw.chunk(workers), mask.chunk(workers), strict=True)]
            if all(int(counts.sum()) > 1 for _, counts in parts):
                own = torch.cat([masked_whiten(x, counts) for x, counts in parts])
                yield f"in {workers} parts, as if by each of {workers} workers", own
