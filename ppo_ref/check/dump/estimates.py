"""Returns and whitened advantages of a critic, from rewards and values again."""

import math

import torch
from torch import Tensor
from torch.nn.functional import pad

from ppo_ref.advantages import gae
from ppo_ref.alignment import last_token
from ppo_ref.check.asserts.faults import TOLERANCE, counted, first, shown
from ppo_ref.check.dump.baselines import judge_baseline
from ppo_ref.check.dump.reading import Fields
from ppo_ref.check.dump.trainers import OPENRLHF
from ppo_ref.check.dump.verdicts import FAIL, LOOK, OK, OPEN, Said
from ppo_ref.kl import kl_k1, kl_k2, kl_k3
from ppo_ref.masking import masked_whiten

_ROWS = 8  # of which gamma and lambda are solved
_PARTS = (2, 3, 4, 6, 8, 16)  # workers that may each have whitened their rows
_FEWEST_ROWS = 4  # of which two settings and a fault can be told


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
    if dump.values is None:
        gae_lambda = 1.0  # it mixes values, and there are none
    if dump.row_kl is not None:
        of_kl = _judge_with_kl(dump)
        if of_kl[0] != LOOK:
            return of_kl
        return _judge_row_sums(dump, gamma, gae_lambda)
    discount, mix = _settings(dump, gamma, gae_lambda)
    follow = expected_returns(dump, dump.given, discount, mix)
    near = tolerance(dump)
    wrong = mask & ~((returns - follow).abs() <= near)
    # What stands behind a full row is not in the dump: it may have been bootstrapped.
    # Without values there is nothing to bootstrap with.
    ends = last_token(mask) & mask[:, -1:] & (dump.values is not None)
    behind = wrong & ends
    wrong &= ~ends
    judged = counted(dump.tokens - int(behind.sum()), "token")
    if wrong.any() and dump.scores_by_row and dump.row_returns is None:
        return _judge_with_kl(dump)
    if wrong.any() and dump.values is None:
        text = "rewards alone do not give the returns, and there are no values"
        return LOOK, f"{text}: of a critic, add them"
    if wrong.any():
        text = (
            f"{shown('returns', returns, wrong)}, from the next token follows "
            f"{float(follow[first(wrong)]):.4f} (gamma {discount:g}, lambda {mix:g}); "
            f"{int(wrong.sum())} of {judged} do not follow"
        )
        text += _sure_cause(dump, discount, mix)
        # With one that has no next, any gamma and lambda agree.
        inner = mask & ~last_token(mask)
        most = int((wrong & inner).sum()) < int(inner.sum()) / 2
        if not most and (gamma is None or gae_lambda is None):
            return (
                LOOK,
                f"{text}; no gamma and lambda explain most: pass --gamma, --lam",
            )
        return FAIL, text
    advantages = (returns - values).abs()
    if not (mask & (advantages > near)).any():
        return OPEN, "advantages are all 0: any recursion gives these returns"
    if not (mask & ~last_token(mask)).any():
        return OPEN, "no token has a next one, from which its return would follow"
    given = "rewards and values"
    if dump.values is None:
        given = "rewards alone (no critic)"
    text = f"returns follow from {given} by gamma {discount:g}"
    if dump.values is not None:
        text += f", lambda {mix:g}"
    if (gamma is None and discount != 1) or (gae_lambda is None and mix != 1):
        text += " (found: are these your settings?)"
    if dump.tolerance("returns", "values", "rewards") > TOLERANCE[torch.float32]:
        text += f", within {near:.1g} (16 bits)"
    text += f", on {judged}"
    if dump.values is not None:
        text += _behind_full_rows(mask, behind)
    return OK, text


def judge_whitening(dump: Fields, known: bool, *, centred: bool = False) -> Said:
    """Compare the advantages with returns minus values, whitened.

    Unless returns are right, ``known``, the advantages before it are not known.
    ``centred`` says that returns have had the baseline of their group taken off.
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
    rounding = dump.tolerance("advantages", "returns") * max(1.0, lifted)
    coarse = dump.tolerance("advantages", "returns", "values") * max(1.0, lifted)

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
        return OK, f"advantages are returns minus values, whitened {tokens}"
    text = (
        f"{shown('advantages', advantages, off)}, whitened {tokens} "
        f"{float(right[first(off)]):.4f}"
    )
    size = torch.maximum(advantages.abs(), right.abs()).clamp(min=1)
    # Values may have been rounded behind the advantages: other causes come first.
    is_near = not (mask & ((advantages - right).abs() > coarse * size)).any()
    nearly = (
        f"returns minus values, whitened {tokens}, within {coarse:.1g} (values are in"
    )
    if is_near and not known:
        return OK, f"{nearly} 16 bits)"
    if not known:
        return LOOK, f"{text}: the returns are not known to hold, see gae"
    if dump.trainer is OPENRLHF and not wrong(raw - raw[mask].mean()).any():
        less = f"less their mean {tokens}, not divided by their deviation"
        return OK, f"advantages are returns minus values, {less} (no_std_norm)"
    if not wrong(raw).any():
        return FAIL, f"{text}: they are returns minus values, not whitened"
    for numbers in (slots, raw):
        over_all = (numbers - numbers.mean()) / (numbers.std() + 1e-8)
        if not wrong(over_all).any():
            return FAIL, f"{text}: over all slots, padding too; pass response_mask"
    for parts in _PARTS:
        for contiguous in (True, False):
            own = _whitened_in_parts(raw, mask, parts, contiguous)
            if own is None or not own.any():
                continue
            # Of n or of n - 1 tokens, in a part.
            near = max(rounding, 2 * parts / dump.tokens)
            apart = (advantages - own).abs() > near * own.abs().clamp(min=1)
            if not (mask & apart).any():
                return FAIL, f"{text}: in {parts} parts, by each of {parts} workers"
    if is_near:
        return OK, f"{nearly} 16 bits)"
    if dump.values is None:
        # OpenRLHF takes every baseline off the score, before the returns.
        taken = centred or dump.trainer is OPENRLHF
        state, why = judge_baseline(dump, raw, [right, population], taken=taken)
        return state, f"{text}: {why}"
    return FAIL, text


def _whitened_in_parts(
    raw: Tensor, mask: Tensor, parts: int, contiguous: bool
) -> Tensor | None:
    """Whitened within each part of the rows; None if they do not divide so."""
    rows = torch.arange(len(raw))
    if len(raw) % parts:
        return None
    part_of = rows // (len(raw) // parts) if contiguous else rows % parts
    found = torch.zeros_like(raw)
    for part in range(parts):
        where = mask & (part_of == part)[:, None]
        if int(where.sum()) < 2:
            return None
        found = torch.where(where, masked_whiten(raw, where), found)
    return found


def _settings(
    dump: Fields, gamma: float | None, gae_lambda: float | None
) -> tuple[float, float]:
    """Gamma and lambda as told; of those that were not, what explains most returns.

    1 is tried first. The others are solved of the first rows, one by one, so that a
    fault in one of them hides nothing.
    """
    given, returns = dump.given, dump.returns
    assert given is not None and returns is not None
    told = (gamma, gae_lambda)
    plain = tuple(1.0 if x is None else x for x in told)
    choices = [(plain[0], 1.0 if dump.values is None else plain[1])]
    if None in told:
        choices += _solved(dump, gamma, gae_lambda)
    inner = dump.response_mask & ~last_token(dump.response_mask)

    def unexplained(choice: tuple[float, float]) -> int:
        follow = expected_returns(dump, given, *choice)
        return int((inner & ~((returns - follow).abs() <= tolerance(dump))).sum())

    return min(choices, key=unexplained)


def _solved(
    dump: Fields, gamma: float | None, gae_lambda: float | None
) -> list[tuple[float, float]]:
    """Gamma and lambda by row, of least squares: both factors come in linearly."""
    assert dump.given is not None and dump.returns is not None
    none = torch.zeros_like(dump.returns)
    value = expected_returns(dump, none, 1.0, 0.0)
    further = expected_returns(dump, none, 1.0, 1.0) - value
    gained = _finite(dump.returns) - _finite(dump.given)
    # Behind a gap a fault is likeliest, so what lies before one does not say.
    inner = dump.response_mask & pad(dump.response_mask, (0, 1))[:, 1:]
    found = []
    for row in range(min(_ROWS, len(inner))):
        x, y, z = (of[row][inner[row]] for of in (value, further, gained))
        discount, both = gamma or 0.0, 0.0
        if dump.values is None:
            (discount,) = _least_squares([y], z)
            both = discount
        elif gamma is None and gae_lambda is None:
            discount, both = _least_squares([x, y], z)
        elif gamma is None and gae_lambda is not None:
            (discount,) = _least_squares([x + gae_lambda * y], z)
            both = discount * gae_lambda
        elif gamma is not None:
            (both,) = _least_squares([y], z - gamma * x)
        mix = both / discount if discount else 0.0
        for digits in (2, 4):
            pair = (round(discount, digits), round(mix, digits))
            if all(0 <= number <= 1 for number in pair):
                found.append((gamma if gamma is not None else pair[0], pair[1]))
    return found


def _least_squares(columns: list[Tensor], target: Tensor) -> list[float]:
    """The factor of each column, 0 where nothing says what it is."""
    if not len(target):
        return [0.0] * len(columns)
    matrix = torch.stack(columns, 1)
    solution = torch.linalg.lstsq(matrix, target[:, None], driver="gelsd").solution
    return [float(x) for x in solution.flatten()]


def _judge_with_kl(dump: Fields) -> Said:
    """Returns whose rewards may have a KL: its coefficient is solved, with the others.

        R_t = -coef * kl_t + gamma * (V_{t+1} + lambda * (R_{t+1} - V_{t+1}))

    holds for each token that has a next one, since the score is on the last.
    """
    assert dump.returns is not None
    text = "scores alone do not give the returns: their rewards may have a KL"
    missing = dump.lacks("old_log_probs", "ref_log_probs")
    if missing:
        return LOOK, f"{text}; {missing}"
    inner = dump.response_mask & ~last_token(dump.response_mask)
    none = torch.zeros_like(dump.returns)
    value = expected_returns(dump, none, 1.0, 0.0)
    further = expected_returns(dump, none, 1.0, 1.0) - value
    target = dump.returns[inner]
    for theirs in ("old_log_probs", "rollout_log_probs"):
        for name, estimate in (("k1", kl_k1), ("k2", kl_k2), ("k3", kl_k3)):
            log_probs, ref = getattr(dump, theirs), dump.ref_log_probs
            if log_probs is None or ref is None:
                continue
            kl = estimate(log_probs=log_probs, ref_log_probs=ref)
            columns = [x[inner] for x in (kl, value, further)]
            coef, gamma, mixed = _least_squares(columns, target)
            follow = coef * columns[0] + gamma * columns[1] + mixed * columns[2]
            if ((target - follow).abs() > tolerance(dump)).any():
                continue
            mix = mixed / gamma if gamma else 0.0
            by = f"gamma {gamma:.4g}, lambda {mix:.4g}"
            given = "values"
            if dump.values is None:
                by, given = f"gamma {mixed:.4g}", "scores"
            by += f" and {-coef:.4g} times {name}"
            tokens = counted(int(inner.sum()), "token")
            follow_by = f"returns follow from {given} by {by} of {theirs} on {tokens}"
            if theirs == "rollout_log_probs":
                return FAIL, f"{follow_by}: the KL must be that of old_log_probs"
            return OK, f"{follow_by} (found)"
    return LOOK, f"{text}, but no coefficient of k1, k2, k3 explains them"


def _judge_row_sums(
    dump: Fields, gamma: float | None, gae_lambda: float | None
) -> Said:
    """Returns whose rewards have a KL that is not in the dump: its sum by row is.

    What each return has beyond those of the next token is the reward of the token; over
    a row they come to info.return.
    """
    assert dump.returns is not None
    mask = dump.response_mask
    why = "the rewards have a KL that OpenRLHF does not keep (experience.kl is None)"
    if dump.row_returns is None or dump.row_returns.shape != mask.shape[:1]:
        return OPEN, f"{why}, nor is info.return there"
    none = torch.zeros_like(dump.returns)

    def sums(x: Tensor) -> Tensor:
        return torch.where(mask, x, 0).sum(1)

    value = expected_returns(dump, none, 1.0, 0.0)
    further = expected_returns(dump, none, 1.0, 1.0) - value
    total = sums(_finite(dump.returns)) - dump.row_returns.double()
    columns = [sums(value), sums(further)]
    near = tolerance(dump) * mask.sum(1)
    if dump.values is None:
        (discount,) = _least_squares(columns[1:], total)
        both = discount
    else:
        discount, both = _least_squares(columns, total)
    is_asked = gamma is not None or (dump.values is not None and gae_lambda is not None)
    if is_asked:
        discount = 1.0 if gamma is None else gamma
        both = discount * (1.0 if gae_lambda is None else gae_lambda)
    off = (total - discount * columns[0] - both * columns[1]).abs() > near
    mix = both / discount if discount else 0.0
    rows = counted(len(mask), "row")
    by = f"and gamma {discount:.4g}, lambda {mix:.4g} give"
    if dump.values is None:
        by = f"and gamma {discount:.4g} give"
        if not is_asked and not (columns[1].abs() > near).any():
            by = "gives"  # no next return from which gamma could be told
    text = f"{why}; their sum by row, info.return, {by}"
    if len(mask) < _FEWEST_ROWS:
        return OPEN, f"{why}; {rows} are too few to solve for gamma and lambda"
    if off.any():
        row = int(off.nonzero()[0])
        return (
            FAIL,
            f"{text} other returns for row {row}; {int(off.sum())} of {rows}",
        )
    return OK, f"{text} the returns of {rows}"


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
    names = ("returns", "values", "scores", "rewards")
    step = max(0.1 * dump.tolerance(*names), 1e-6)
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
    span = mask.cummax(1).values & mask.flip(1).cummax(1).values.flip(1)
    if not torch.equal(span, mask) and dump.given is not None:
        through = gae(
            token_level_rewards=_finite(dump.given),
            values=_finite(values_of(dump)),
            response_mask=span,
            gamma=gamma,
            gae_lambda=gae_lambda,
        ).returns
        if not (mask & ((returns - through).abs() > 10 * tolerance(dump))).any():
            gaps = int((span & ~mask).sum())
            return (
                f": {counted(gaps, 'slot')} between turns went in; hand the recursion "
                "response_mask"
            )
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
