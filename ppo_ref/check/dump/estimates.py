"""Returns, advantages and whitening of a critic: which choices explain the numbers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import torch
from torch import Tensor
from torch.nn.functional import pad

from ppo_ref.alignment import last_token, slot_after_end
from ppo_ref.check.asserts.faults import TOLERANCE, first, shown
from ppo_ref.check.dump.reading import Fields
from ppo_ref.check.dump.verdicts import FAIL, OK, OPEN, Said, counted
from ppo_ref.masking import masked_whiten

_ROWS = 8  # that are solved one by one, so that one wrong row hides nothing
_SEARCHED = 32  # on which choices are compared


@dataclass(frozen=True)
class Recursion:
    """How the return of a token follows from the next one that counts.

        R_t = r_t + gamma * (V_{t+1} + lambda * (R_{t+1} - V_{t+1}))

    Each token is judged by its neighbour: a fault shows where it is.
    """

    tolerance: float
    mask: Tensor
    rewards: Tensor
    values: Tensor
    returns: Tensor

    @cached_property
    def after(self) -> tuple[Tensor, Tensor]:
        """V and R - V in the next slot that counts, 0 behind the last."""
        width = self.mask.shape[1]
        slots = torch.where(self.mask, torch.arange(width), width)
        following = slots.flip(1).cummin(1).values.flip(1)
        following = pad(following[:, 1:], (0, 1), value=width)
        value, later = (
            pad(x, (0, 1)).gather(1, following) for x in (self.values, self.returns)
        )
        return value, later - value

    @property
    def ends(self) -> Tensor:
        """The last tokens of full rows: their next value is not in the dump."""
        return last_token(self.mask) & self.mask[:, -1:]

    @property
    def flipped(self) -> "Recursion":
        """The same with every advantage of the other sign."""
        return replace(self, returns=2 * self.values - self.returns)

    def expected(self, gamma: float, gae_lambda: float) -> Tensor:
        """The returns that follow from the next ones."""
        value, further = self.after
        return self.rewards + gamma * (value + gae_lambda * further)

    def wrong(self, gamma: float, gae_lambda: float) -> Tensor:
        """The tokens whose return does not follow from the next."""
        error = (self.returns - self.expected(gamma, gae_lambda)).abs()
        return self.mask & (error > self.tolerance)

    def choice(
        self, gamma: float | None = None, gae_lambda: float | None = None
    ) -> tuple[float, float]:
        """The gamma and lambda that explain most tokens, the plainest of them first."""
        tensors = self.mask, self.rewards, self.values, self.returns
        few = Recursion(self.tolerance, *(x[:_SEARCHED] for x in tensors))
        inner = few.mask & ~last_token(few.mask)
        rows = torch.arange(len(inner))[:, None]
        places = [inner, *(inner & (rows == row) for row in range(_ROWS))]
        g, lam = plain = tuple(1.0 if x is None else x for x in (gamma, gae_lambda))
        ways = dict.fromkeys([(gamma, gae_lambda), (g, gae_lambda), (gamma, lam)])
        solved = [few._solved(x, *way) for x in places for way in ways if None in way]
        near = [pair for pair in solved if all(-1e-3 < x < 1.001 for x in pair)]
        choices = [plain] + [
            tuple(min(max(round(x, digits), 0.0), 1.0) for x in pair)
            for digits, pair in product((2, 3, 4, 6), near)
        ]
        gamma, gae_lambda = min(
            dict.fromkeys(choices), key=lambda pair: int(few.wrong(*pair).sum())
        )
        return gamma, gae_lambda

    def _solved(
        self, where: Tensor, gamma: float | None, gae_lambda: float | None
    ) -> tuple[float, float]:
        """Both by least squares, linear in gamma and in its product with lambda."""
        (value, further), gained = self.after, self.returns - self.rewards
        if gamma is None and gae_lambda is not None:
            (gamma,) = _least_squares(gained, [value + gae_lambda * further], where)
            return gamma, gae_lambda
        if gamma is None:
            gamma, both = _least_squares(gained, [value, further], where)
        else:
            (both,) = _least_squares(gained - gamma * value, [further], where)
        return gamma, both / gamma if gamma else 0.0


def recursion(dump: Fields) -> Recursion:
    """The recursion of a dump; the values are 0 where there is no critic."""
    assert dump.given is not None and dump.returns is not None
    given = dump.given, _values(dump), dump.returns
    largest = max(float(x[dump.response_mask].abs().max()) for x in given)
    # One step rounds less than a sum over a response, for which the tolerance is.
    tolerance = max(0.1 * dump.tolerance, 1e-6) * largest
    rewards, values, returns = (torch.where(x.isfinite(), x, 0) for x in given)
    return Recursion(tolerance, dump.response_mask, rewards, values, returns)


def judge_returns(
    dump: Fields, asked: tuple[float | None, float | None]
) -> tuple[Said, tuple[float, float] | None]:
    """Whether returns follow from each other, and by which gamma and lambda."""
    missing = dump.lacks(
        *(["values"] if "values" in dump.unfit else ["returns", "given"])
    )
    if missing:
        return (OPEN, missing), None
    steps = recursion(dump)
    best = steps.choice(*asked)
    if steps.wrong(*best).any() and asked != (None, None):
        best = min(best, steps.choice(), key=lambda pair: int(steps.wrong(*pair).sum()))
    wrong = steps.wrong(*best)
    judged = counted(dump.tokens - int((wrong & steps.ends).sum()), "token")
    wrong &= ~steps.ends
    if wrong.any() and dump.values is None:
        text = "rewards alone do not give the returns, and there are no values"
        return (OPEN, f"{text}: of a critic, add them"), None
    if wrong.any():
        expected = float(steps.expected(*best)[first(wrong)])
        few = dump.rows(wrong.any(1).nonzero().flatten()[:_SEARCHED])
        text = (
            f"{shown('returns', steps.returns, wrong)}, from the next token follows "
            f"{expected:.4f} (gamma {best[0]:g}, lambda {best[1]:g}); "
            f"{int(wrong.sum())} of {judged} do not follow: "
        )
        return (FAIL, text + _cause(few, recursion(few))), None
    if not (steps.flipped.wrong(*best) & ~steps.ends).any():
        return (OPEN, "advantages are all 0: any recursion gives these returns"), None
    inner = int((steps.mask & ~last_token(steps.mask)).sum())
    if best != (1.0, 1.0) and inner <= asked.count(None):
        text = f"{counted(inner, 'token')} with a next one, too few to solve for both"
        return (OPEN, text), None
    of = "rewards alone (no critic)" if dump.values is None else "rewards and values"
    return (OK, f"returns follow from {of} on {judged}"), best


def judge_full_rows(
    dump: Fields, choice: tuple[float, float], eos_token_id: int | None
) -> Said:
    """What right returns say of rows that fill their slots, which may have been cut."""
    steps, full = recursion(dump), dump.response_mask[:, -1]
    if not full.any():
        return OPEN, "no row is full, so none shows a cut"
    rows = f"{int(full.sum())} of {counted(len(full), 'row')} full"
    behind = steps.wrong(*choice)
    if behind.any():
        row, token = first(behind)
        value = float((steps.returns - steps.rewards)[row, token])
        text = f"{rows}; V behind [{row}, {token}] was taken as {value:.4f}: "
        return OPEN, text + "bootstrapped, which verl never does, or wrong there"
    text = f"{rows}, V behind taken as 0: right if they ended there, biased if cut"
    if eos_token_id is not None and dump.responses is not None:
        cut = int((full & (dump.responses[:, -1] != eos_token_id)).sum())
        text += f"; {cut} of them lack EOS"
    return OPEN, text


def judge_whitening(dump: Fields, known: bool) -> Said:
    """Over what the advantages were whitened, and with which sign.

    Unless returns are right, ``known``, the advantages before it are not known.
    """
    mask = dump.response_mask
    missing = dump.lacks("advantages", "returns")
    if missing or dump.tokens < 2:
        return OPEN, missing or "fewer than 2 tokens"
    assert dump.advantages is not None and dump.returns is not None
    advantages, slots = dump.advantages, dump.returns - _values(dump)
    raw = torch.where(mask, slots, 0)
    right = masked_whiten(raw, mask)
    deviation = float(raw[mask].std())
    largest = max(float(x[mask].abs().max()) for x in (_values(dump), dump.returns))
    rounding = max(1.0, largest / max(deviation, 1e-8)) if deviation else 1.0

    def differ(other: Tensor, where: Tensor = mask) -> bool:
        return bool((wrong(other) & where).any())

    def wrong(other: Tensor) -> Tensor:
        size = torch.maximum(advantages.abs(), other.abs()).clamp(min=1)
        return mask & ((advantages - other).abs() > dump.tolerance * rounding * size)

    others = _other_whitenings(mask, raw, slots)  # made one by one, until one tells
    tokens = f"over the {counted(dump.tokens, 'token')} that count"
    # Divided by the deviation of n instead of n - 1 tokens, as OpenRLHF does.
    population = right * math.sqrt(dump.tokens / (dump.tokens - 1))
    if not differ(right) or not differ(population):
        if any(differ(other) for _, other in others):
            return OK, tokens
        return OPEN, "every advantage is the same: whitened or not, they are these"
    text = (
        f"{shown('advantages', advantages, wrong(right))}, whitened {tokens} "
        f"{float(right[first(wrong(right))]):.4f}: "
    )
    cause = next((words for words, other in others if not differ(other)), None)
    if cause is None and dump.attended is not None:
        sampled = mask & dump.attended
        many = sampled.sum() > 1
        if many and not differ(masked_whiten(raw, sampled), sampled):
            cause = "whitened over the tokens that were sampled, not over this mask"
    if not known:
        return OPEN, f"{text}the returns do not hold, see gae"
    if cause is None and dump.values is None:
        return OPEN, text + "another baseline?"
    return FAIL, text + (cause or "nothing tried explains it")


def _values(dump: Fields) -> Tensor:
    assert dump.returns is not None
    return torch.zeros_like(dump.returns) if dump.values is None else dump.values


def _least_squares(target: Tensor, columns: list[Tensor], where: Tensor) -> list[float]:
    """The factor of each column over the slots of ``where``; zeros if there is none."""
    if not where.any():
        return [0.0] * len(columns)
    matrix = torch.stack([column[where] for column in columns], 1)
    # gelsd holds where one column is 0, as values of a fresh head are.
    solution = torch.linalg.lstsq(matrix, target[where][:, None], driver="gelsd")
    return [float(x) for x in solution.solution.flatten()]


def _cause(dump: Fields, steps: Recursion) -> str:
    """What would explain the returns: the first guess that fits."""
    mask, after_end = steps.mask, slot_after_end(steps.mask)
    if dump.advantages is not None:
        added = (steps.returns - steps.values - dump.advantages).abs()
        if not (mask & (added > TOLERANCE[torch.float32])).any():
            return (
                "they are the whitened advantage + V; whiten after the returns are made"
            )
    ended = torch.where(after_end, steps.rewards, steps.returns)
    late, early = (steps.values.roll(by, 1) for by in (-1, 1))
    guesses: dict[str, Recursion] = {
        "the sign of the advantage is flipped": steps.flipped,
        "the slot after EOS went in, as in verl 0.3 and TRL; mask it": replace(
            steps, mask=mask | after_end, returns=ended
        ),
        "slots that do not count went in; hand the recursion response_mask": replace(
            steps, mask=torch.ones_like(mask)
        ),
        "values one slot late went in": replace(steps, values=late),
        "values one slot early went in": replace(steps, values=early),
    }
    if dump.scores is not None:
        text = "token_level_scores went in, so the KL never arrived"
        guesses[text] = replace(steps, rewards=dump.scores)
    inner = mask & ~last_token(mask)
    inner[:, 0] = False
    for words, guess in guesses.items():
        where = inner if words.startswith("values") else mask  # its ends are not dumped
        if where.any() and not (guess.wrong(*guess.choice()) & where).any():
            return words
    return "other rewards or values went in, or it is not GAE"


def _other_whitenings(
    mask: Tensor, raw: Tensor, slots: Tensor
) -> Iterator[tuple[str, Tensor]]:
    """Ways to whiten that are not verl's."""
    white = masked_whiten(raw, mask)
    yield "the sign is flipped", -white
    yield "not whitened; verl whitens over the tokens that count", raw
    for numbers in (slots, raw):
        scaled = (numbers - numbers.mean()) / (numbers.std() + 1e-8)
        yield "whitened over all slots, padding too; pass response_mask", scaled
    count = mask.sum(1, keepdim=True)
    excess = torch.where(mask, raw - raw.sum(1, keepdim=True) / count.clamp(min=1), 0)
    for less in (1, 0):
        variance = excess.square().sum(1, keepdim=True) / (count - less).clamp(min=1)
        text = "whitened row by row; verl whitens the whole batch"
        yield text, excess / (variance.sqrt() + 1e-8)
    yield "divided by the deviation, the mean added again", white + raw[mask].mean()
    for workers in (2, 4, 8):
        if len(raw) % workers == 0:
            parts = [*zip(raw.chunk(workers), mask.chunk(workers), strict=True)]
            if all(int(counts.sum()) > 1 for _, counts in parts):
                own = torch.cat([masked_whiten(x, counts) for x, counts in parts])
                yield f"whitened in {workers} parts, by each of {workers} workers", own
