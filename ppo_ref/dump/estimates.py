"""Returns, advantages and whitening of a critic: which choices explain the numbers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import pad

from ppo_ref.alignment import last_token, slot_after_end
from ppo_ref.asserts.faults import TOLERANCE
from ppo_ref.dump.reading import Fields
from ppo_ref.dump.verdicts import FAIL, OK, OPEN, Verdict, counted, first, place
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
        search = Recursion(self.tolerance, *(x[:_SEARCHED] for x in tensors))
        choices = dict.fromkeys(search._choices(gamma, gae_lambda))
        return min(choices, key=lambda pair: int(search.wrong(*pair).sum()))

    def _choices(
        self, g: float | None, lam: float | None
    ) -> Iterator[tuple[float, float]]:
        """What is asked, or else 1, then what solves the equation: for gamma and its
        product with lambda it is linear.
        """
        yield 1.0 if g is None else g, 1.0 if lam is None else lam
        (value, further), gained = self.after, self.returns - self.rewards
        inner = self.mask & ~last_token(self.mask)
        rows = torch.arange(len(inner))[:, None]
        found: list[tuple[float, float]] = []
        for where in (inner, *(inner & (rows == row) for row in range(_ROWS))):
            if g is None and lam is None:
                a, b = _solved(gained, [value, further], where)
                found.append((a, b / a if a else 0.0))
            if lam is None:
                fixed = 1.0 if g is None else g
                (b,) = _solved(gained - fixed * value, [further], where)
                found.append((fixed, b / fixed if fixed else 0.0))
            if g is None:
                fixed = 1.0 if lam is None else lam
                (a,) = _solved(gained, [value + fixed * further], where)
                found.append((a, fixed))
        for digits in (2, 3, 4, 6):
            for pair in found:
                if all(-1e-3 < x < 1.001 for x in pair):
                    a, b = (min(max(round(x, digits), 0.0), 1.0) for x in pair)
                    yield a, b


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
    dump: Fields, asked: tuple[float | None, float | None], eos_token_id: int | None
) -> tuple[list[Verdict], tuple[float, float] | None]:
    """Verdicts on the recursion and on full rows, and gamma and lambda if they hold."""
    critic = dump.values is not None
    missing = dump.lacks("returns", "given")
    if "values" in dump.unfit:
        missing = dump.lacks("values")
    if missing:
        return [Verdict("gae", OPEN, missing)], None
    steps = recursion(dump)
    best = steps.choice(*asked)
    if steps.wrong(*best).any() and asked != (None, None):
        best = min(best, steps.choice(), key=lambda pair: int(steps.wrong(*pair).sum()))
    wrong, cut = steps.wrong(*best), last_token(steps.mask) & steps.mask[:, -1:]
    behind = wrong & cut
    wrong &= ~cut
    judged = counted(dump.tokens - int(behind.sum()), "token")
    if not wrong.any():
        inner = int((steps.mask & ~last_token(steps.mask)).sum())
        free = sum(x is None for x in asked) if best != (1.0, 1.0) else 0
        if not _flipped(steps).wrong(*best)[~cut].any():
            text = "advantages are all 0: any recursion gives these returns"
            return [Verdict("gae", OPEN, text)], None
        if inner <= free:
            tokens = counted(inner, "token")
            text = f"{tokens} with a next one, too few to solve for both"
            return [Verdict("gae", OPEN, text)], None
    if wrong.any() and not critic:
        text = "rewards alone do not give the returns, and there are no values"
        return [Verdict("gae", OPEN, f"{text}: of a critic, add them")], None
    if wrong.any():
        row, token = first(wrong)
        expected = steps.expected(*best)
        few = dump.rows(wrong.any(1).nonzero().flatten()[:_SEARCHED])
        text = (
            f"{place('returns', wrong)} is {float(steps.returns[row, token]):.4f}, "
            f"from the next token follows {float(expected[row, token]):.4f} (gamma "
            f"{best[0]:g}, lambda {best[1]:g}); {int(wrong.sum())} of {judged} do not "
            f"follow: {_cause(few, recursion(few))}"
        )
        return [Verdict("gae", FAIL, text)], None
    of = "rewards and values" if critic else "rewards alone (no critic)"
    text = f"returns follow from {of} on {judged}"
    return [Verdict("gae", OK, text), _of_full(dump, steps, behind, eos_token_id)], best


def judge_whitening(dump: Fields, known: bool) -> Verdict:
    """Over what the advantages were whitened, and with which sign.

    Unless returns are right, ``known``, the advantages before it are not known.
    """
    mask = dump.response_mask
    missing = dump.lacks("advantages", "returns")
    if missing or dump.tokens < 2:
        return Verdict("whitening", OPEN, missing or "fewer than 2 tokens")
    assert dump.advantages is not None and dump.returns is not None
    advantages, values = dump.advantages, _values(dump)
    raw, slots = torch.where(mask, dump.returns - values, 0), dump.returns - values
    right = masked_whiten(raw, mask)
    deviation = float(raw[mask].std())
    largest = max(float(x[mask].abs().max()) for x in (values, dump.returns))
    rounding = max(1.0, largest / max(deviation, 1e-8)) if deviation else 1.0

    def differ(other: Tensor) -> Tensor:
        size = torch.maximum(advantages.abs(), other.abs()).clamp(min=1)
        return mask & ((advantages - other).abs() > dump.tolerance * rounding * size)

    others = _other_whitenings(mask, raw, slots)  # made one by one, until one tells
    tokens = counted(dump.tokens, "token")
    # Divided by the deviation of n instead of n - 1 tokens, as OpenRLHF does.
    population = right * math.sqrt(dump.tokens / (dump.tokens - 1))
    if not differ(right).any() or not differ(population).any():
        if not any(differ(other).any() for _, other in others):
            text = "every advantage is the same: whitened or not, they are these"
            return Verdict("whitening", OPEN, text)
        return Verdict("whitening", OK, f"over the {tokens} that count")
    wrong = differ(right)
    row, token = first(wrong)
    text = (
        f"{place('advantages', wrong)} is {float(advantages[row, token]):.4f}, "
        f"whitened over the {tokens} that count {float(right[row, token]):.4f}: "
    )
    cause = next((words for words, x in others if not differ(x).any()), None)
    if cause is None and dump.attended is not None:
        sampled = mask & dump.attended
        many = sampled.sum() > 1
        if many and not (differ(masked_whiten(raw, sampled)) & sampled).any():
            cause = "whitened over the tokens that were sampled, not over this mask"
    if not known:
        return Verdict("whitening", OPEN, f"{text}the returns do not hold, see gae")
    if cause is None and dump.values is None:
        return Verdict("whitening", OPEN, text + "another baseline?")
    return Verdict("whitening", FAIL, text + (cause or "nothing tried explains it"))


def _values(dump: Fields) -> Tensor:
    assert dump.returns is not None
    return torch.zeros_like(dump.returns) if dump.values is None else dump.values


def _solved(target: Tensor, columns: list[Tensor], where: Tensor) -> list[float]:
    """Least squares over the slots of ``where``; zeros if there is none."""
    if not where.any():
        return [0.0] * len(columns)
    matrix = torch.stack([column[where] for column in columns], 1)
    # gelsd holds where one column is 0, as values of a fresh head are.
    solution = torch.linalg.lstsq(matrix, target[where][:, None], driver="gelsd")
    return [float(x) for x in solution.solution.flatten()]


def _flipped(steps: Recursion) -> Recursion:
    """The same with every advantage of the other sign."""
    return replace(steps, returns=2 * steps.values - steps.returns)


def _cause(dump: Fields, steps: Recursion) -> str:
    """What would explain the returns: the first guess that fits."""
    mask, after_end = steps.mask, slot_after_end(steps.mask)
    if dump.advantages is not None:
        added = (steps.returns - steps.values - dump.advantages).abs()
        if not (mask & (added > TOLERANCE[torch.float32])).any():
            text = "they are the whitened advantage + V; whiten after the"
            return f"{text} returns are made"
    ended = torch.where(after_end, steps.rewards, steps.returns)
    guesses = {
        "the sign of the advantage is flipped": _flipped(steps),
        "the slot after EOS went in, as in verl 0.3 and TRL; mask it": replace(
            steps, mask=mask | after_end, returns=ended
        ),
        "slots that do not count went in; hand the recursion response_mask": replace(
            steps, mask=torch.ones_like(mask)
        ),
        "values one slot late went in": replace(steps, values=steps.values.roll(-1, 1)),
        "values one slot early went in": replace(steps, values=steps.values.roll(1, 1)),
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


def _of_full(
    dump: Fields, steps: Recursion, behind: Tensor, eos_token_id: int | None
) -> Verdict:
    """What the returns say of rows that fill their slots, which may have been cut."""
    full = steps.mask[:, -1]
    if not full.any():
        return Verdict("truncation", OPEN, "no row is full, so none shows a cut")
    rows = f"{int(full.sum())} of {counted(len(full), 'row')} full"
    if behind.any():
        row, token = first(behind)
        value = float((steps.returns - steps.rewards)[row, token])
        text = f"{rows}; V behind {[row, token]} was taken as {value:.4f}: "
        text += "bootstrapped, which verl never does, or wrong there"
        return Verdict("truncation", OPEN, text)
    text = f"{rows}, V behind taken as 0: right if they ended there, biased if cut"
    if eos_token_id is not None and dump.responses is not None:
        cut = int((full & (dump.responses[:, -1] != eos_token_id)).sum())
        text += f"; {cut} of them lack EOS"
    return Verdict("truncation", OPEN, text)


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
    mean = raw.sum(1, keepdim=True) / count.clamp(min=1)
    square = torch.where(mask, raw - mean, 0).square().sum(1, keepdim=True)
    for less in (1, 0):
        deviation = (square / (count - less).clamp(min=1)).sqrt()
        text = "whitened row by row; verl whitens the whole batch"
        yield text, (raw - mean) / (deviation + 1e-8)
    yield "divided by the deviation, the mean added again", white + raw[mask].mean()
    for workers in (2, 4, 8):
        if len(raw) % workers == 0:
            parts = [*zip(raw.chunk(workers), mask.chunk(workers), strict=True)]
            if all(int(counts.sum()) > 1 for _, counts in parts):
                own = torch.cat([masked_whiten(x, counts) for x, counts in parts])
                yield f"whitened in {workers} parts, by each of {workers} workers", own
