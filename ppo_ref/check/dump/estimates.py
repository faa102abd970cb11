"""Returns and whitened advantages of a critic, from rewards and values again."""

import math

import torch
from torch import Tensor
from torch.nn.functional import pad

from ppo_ref.alignment import last_token
from ppo_ref.check.asserts.faults import TOLERANCE, counted, first, shown
from ppo_ref.check.dump.reading import Fields
from ppo_ref.check.dump.verdicts import FAIL, OK, OPEN, Said
from ppo_ref.masking import masked_whiten


def judge_returns(
    dump: Fields, gamma: float | None = None, gae_lambda: float | None = None
) -> Said:
    """Compare each return with the one that follows from the next token.

    What is left out of gamma and lambda is 1, as in verl. A token is judged by its
    neighbour alone, so that a fault shows where it is.
    """
    missing = dump.lacks("returns", "given")
    if "values" in dump.unfit:
        missing = dump.lacks("values")
    if missing:
        return OPEN, missing
    assert dump.given is not None and dump.returns is not None
    mask = dump.response_mask
    returns = dump.returns
    values = values_of(dump)
    discount = 1.0 if gamma is None else gamma
    mix = 1.0 if gae_lambda is None or dump.values is None else gae_lambda
    follow = expected_returns(dump, dump.given, discount, mix)
    near = tolerance(dump)
    wrong = mask & ~((returns - follow).abs() <= near)
    # What stands behind a full row is not in the dump: it may have been bootstrapped.
    ends = last_token(mask) & mask[:, -1:]
    behind = wrong & ends
    wrong &= ~ends
    judged = counted(dump.tokens - int(behind.sum()), "token")
    if wrong.any() and dump.values is None:
        text = "rewards alone do not give the returns, and there are no values"
        return OPEN, f"{text}: of a critic, add them"
    if wrong.any():
        text = (
            f"{shown('returns', returns, wrong)}, from the next token follows "
            f"{float(follow[first(wrong)]):.4f} (gamma {discount:g}, lambda {mix:g}); "
            f"{int(wrong.sum())} of {judged} do not follow"
        )
        if gamma is None or gae_lambda is None:
            return OPEN, f"{text}: pass your --gamma and --lam"
        return FAIL, text + _sure_cause(dump, discount, mix)
    advantages = (returns - values).abs()
    if not (mask & (advantages > near)).any():
        return OPEN, "advantages are all 0: any recursion gives these returns"
    if not (mask & ~last_token(mask)).any():
        return OPEN, "no token has a next one, from which its return would follow"
    given = "rewards and values"
    if dump.values is None:
        given = "rewards alone (no critic)"
    text = f"returns follow from {given} by gamma {discount:g}, lambda {mix:g}"
    return OK, f"{text}, on {judged}{_behind_full_rows(mask, behind)}"


def judge_whitening(dump: Fields, known: bool) -> Said:
    """Compare the advantages with returns less values, whitened.

    Unless returns are right, ``known``, the advantages before it are not known.
    """
    mask = dump.response_mask
    missing = dump.lacks("advantages", "returns")
    if not missing and dump.tokens < 2:
        missing = "fewer than 2 tokens"
    if missing:
        return OPEN, missing
    assert dump.advantages is not None and dump.returns is not None
    advantages = dump.advantages
    values = values_of(dump)
    slots = dump.returns - values
    raw = torch.where(mask, slots, 0)
    right = masked_whiten(raw, mask)
    deviation = float(raw[mask].std())
    if not right[mask].any():
        return OPEN, "every advantage is the same: whitened or not, they are these"
    # A deviation far below the values lifts their rounding.
    largest = _largest(mask, values, dump.returns)
    lifted = largest / max(deviation, 1e-8)
    rounding = dump.tolerance * max(1.0, lifted)

    def wrong(other: Tensor) -> Tensor:
        size = torch.maximum(advantages.abs(), other.abs()).clamp(min=1)
        apart = (advantages - other).abs()
        # A nan is on neither side of a tolerance: it is wrong.
        return mask & ~(apart <= rounding * size)

    tokens = f"over the {counted(dump.tokens, 'token')} that count"
    # Divided by the deviation of n instead of n - 1 tokens, as OpenRLHF does.
    population = right * math.sqrt(dump.tokens / (dump.tokens - 1))
    off = wrong(right)
    if not off.any() or not wrong(population).any():
        return OK, tokens
    text = (
        f"{shown('advantages', advantages, off)}, whitened {tokens} "
        f"{float(right[first(off)]):.4f}"
    )
    if not known:
        return OPEN, f"{text}: the returns are not known to hold, see gae"
    if not wrong(raw).any():
        return FAIL, f"{text}: they are returns less values, not whitened"
    for numbers in (slots, raw):
        over_all = (numbers - numbers.mean()) / (numbers.std() + 1e-8)
        if not wrong(over_all).any():
            return FAIL, f"{text}: over all slots, padding too; pass response_mask"
    if dump.values is None:
        return OPEN, f"{text}: another baseline?"
    return FAIL, text


def values_of(dump: Fields) -> Tensor:
    """The values of a dump, 0 where there is no critic."""
    assert dump.returns is not None
    if dump.values is None:
        return torch.zeros_like(dump.returns)
    return dump.values


def expected_returns(
    dump: Fields, rewards: Tensor, gamma: float, gae_lambda: float
) -> Tensor:
    """The return of each token that counts, by those of the next one that does.

        R_t = r_t + gamma * (V_{t+1} + lambda * (R_{t+1} - V_{t+1}))

    Behind the last token both are 0.
    """
    assert dump.returns is not None
    mask = dump.response_mask
    width = mask.shape[1]
    slots = torch.where(mask, torch.arange(width), width)
    following = slots.flip(1).cummin(1).values.flip(1)
    following = pad(following[:, 1:], (0, 1), value=width)
    values = _finite(values_of(dump))
    returns = _finite(dump.returns)
    value = pad(values, (0, 1)).gather(1, following)
    later = pad(returns, (0, 1)).gather(1, following)
    return _finite(rewards) + gamma * (value + gae_lambda * (later - value))


def tolerance(dump: Fields) -> float:
    """The rounding of one step, which is less than that of a sum over a response."""
    assert dump.given is not None and dump.returns is not None
    numbers = (dump.given, values_of(dump), dump.returns)
    step = max(0.1 * dump.tolerance, 1e-6)
    return step * _largest(dump.response_mask, *numbers)


def _largest(mask: Tensor, *numbers: Tensor) -> float:
    return max(float(x[mask].abs().max()) for x in numbers)


def _finite(x: Tensor) -> Tensor:
    """The numbers, and 0 for what is none, which is outside the mask."""
    return torch.where(x.isfinite(), x, 0)


def _sure_cause(dump: Fields, gamma: float, gae_lambda: float) -> str:
    """The cause, where an exact comparison says it; or nothing."""
    assert dump.returns is not None
    mask = dump.response_mask
    returns = dump.returns
    if dump.advantages is not None:
        apart = (returns - values_of(dump) - dump.advantages).abs()
        wrong = mask & (apart > TOLERANCE[torch.float32])
        if not wrong.any():
            return ": they are the whitened advantages + V"
    if dump.scores is not None:
        follow = expected_returns(dump, dump.scores, gamma, gae_lambda)
        wrong = mask & ((returns - follow).abs() > tolerance(dump))
        if not wrong.any():
            return ": they follow from token_level_scores, so the KL never arrived"
    return ""


def _behind_full_rows(mask: Tensor, bootstrapped: Tensor) -> str:
    """A note on rows that fill their slots, and so may have been cut."""
    full = int(mask[:, -1].sum())
    if not full:
        return ""
    rows = f"; {full} of {counted(len(mask), 'row')} full"
    if bootstrapped.any():
        return f"{rows}, V behind {int(bootstrapped.sum())} of them not 0: bootstrapped"
    return f"{rows}, V behind taken as 0: biased if cut"
