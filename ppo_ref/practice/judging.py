"""The judge of a solution: the misconception by name, or a batch that shows it.

A solution is compared with the definition on every batch, and where it differs, with
each known misconception: one that gives the same on every batch is what was committed.
"""

import math
from collections.abc import Callable
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ppo_ref.practice import child
from ppo_ref.practice.hole import Hole, Result
from ppo_ref.practice.running import (
    DIED,
    LATE,
    Answer,
    Outcome,
    Ran,
    outcome_of,
    run,
    seconds_of,
)

TOLERANCE = 1e-4  # relative, and in the unit of the result
STEP = 1e-4  # of the differences that give the right gradient


class Verdict(NamedTuple):
    """A solution, judged.

    Attributes:
        said: The sentence that says it, by its key in ``holes.json``.
        mistake: The misconception, by name; "" if none is known that does the same.
        detail: What the sentence names: an exception, a kind, a shape, arguments.
        wrong: How many batches are wrong.
        batches: How many there are.
        case: The smallest batch that shows it; None if none does.
        got: What the solution gave for it.
        right: What is right for it.
        remarks: What else is worth to be said, by keys.
        times: How many times as long as ``ppo_ref`` it took; None if not measured.
    """

    said: str
    mistake: str = ""
    detail: str = ""
    wrong: int = 0
    batches: int = 0
    case: Any = None
    got: Answer = Answer()
    right: Answer = Answer()
    remarks: tuple[str, ...] = ()
    times: float | None = None

    @property
    def is_right(self) -> bool:
        """True if nothing is wrong."""
        return self.said == "right"


def judge(solution: Path, hole: Hole) -> Verdict:
    """Run a solution on the batches of its hole, and say what it is."""
    return weigh(hole, run(solution, hole, batches(hole)))


def judge_here(function: Callable[..., Any], hole: Hole) -> Verdict:
    """Say what a function is, as ``judge`` does, without a process of its own.

    Example:
        >>> from ppo_ref.practice.holes.masked_mean import HOLE
        >>> verdict = judge_here(lambda x, mask: x.mean(), HOLE)
        >>> verdict.said, verdict.mistake
        ('mistake', 'padding_counts')
    """
    results = (
        child.call(function, case._asdict(), hole.gradient, "")
        for case in batches(hole)
    )
    return weigh(hole, Ran(outcomes=tuple(map(outcome_of, results))))


def batches(hole: Hole) -> list[Any]:
    """The batches of a hole, then the same with other padding, then with nan there."""
    cases = hole.cases()
    padded = [hole.with_other_padding(case) for case in cases]
    spoilt = [hole.with_other_padding(case, math.nan) for case in cases]
    return [*cases, *padded, *spoilt]


def weigh(hole: Hole, ran: Ran) -> Verdict:
    """Say what a solution is by what it gave on these batches."""
    if ran.failed:
        said = ran.failed if ran.failed in {LATE, DIED} else "not_loaded"
        return Verdict(said, detail=ran.failed)
    cases = hole.cases()
    rights = [_right(hole, case) for case in cases]
    # With nan in the padding a solution may also refuse.
    for outcome, right in zip(ran.outcomes, rights * 2, strict=False):
        if fault := _fault(outcome, right):
            said, detail = fault
            return Verdict(said, detail=detail)
    answers = [outcome.answer for outcome in ran.outcomes]
    got, padded, spoilt = (
        answers[begin : begin + len(cases)]
        for begin in range(0, len(answers), len(cases))
    )
    wrong = [
        index
        for index, (mine, right) in enumerate(zip(got, rights, strict=True))
        if not _agree(mine, right)
    ]
    if not wrong:
        times = None
        if hole.ours and ran.seconds is not None:
            times = ran.seconds / seconds_of(hole.ours, hole.large())
        remarks = () if all(map(_is_finite, spoilt)) else ("nan",)
        return Verdict("right", batches=len(cases), remarks=remarks, times=times)
    mistake = _mistake(hole, cases, got, rights)
    changes = not all(
        _agree(_within(hole, case, mine), _within(hole, case, other))
        for case, mine, other in zip(cases, got, padded, strict=True)
    )
    if mistake:
        said = "mistake"
    elif _is_padding_alone(hole, cases, got, rights):
        said = "padding_left"
    else:
        said = "unknown"
    return Verdict(
        said,
        mistake=mistake,
        wrong=len(wrong),
        batches=len(cases),
        case=cases[wrong[0]],
        got=got[wrong[0]],
        right=rights[wrong[0]],
        remarks=("padding_changes",) if changes and said == "unknown" else (),
    )


def _right(hole: Hole, case: Any) -> Answer:
    """The definition, and its gradient by small differences."""
    values = _tuple(hole.right(case))
    if not hole.gradient:
        return Answer(values, None)
    argument = getattr(case, hole.gradient).double()
    gradient = torch.zeros_like(argument)
    if not hole.is_detached:
        for place in range(argument.numel()):
            totals = []
            for step in (STEP, -STEP):
                moved = argument.clone()
                moved.view(-1)[place] += step
                result = hole.right(case._replace(**{hole.gradient: moved}))
                totals.append(sum(float(part.sum()) for part in _tuple(result)))
            gradient.view(-1)[place] = (totals[0] - totals[1]) / (2 * STEP)
    return Answer(values, gradient)


def _committed(function: Callable[[Any], Result], hole: Hole, case: Any) -> Answer:
    """The answer of a misconception for a batch."""
    if not hole.gradient:
        return Answer(_tuple(function(case)), None)
    argument = getattr(case, hole.gradient).clone().requires_grad_()
    values = _tuple(function(case._replace(**{hole.gradient: argument})))
    total = sum((part.sum() for part in values), torch.zeros(()))
    gradient = torch.zeros_like(argument)
    if total.requires_grad:
        (gradient,) = torch.autograd.grad(total, argument)
    return Answer(tuple(part.detach() for part in values), gradient)


def _fault(outcome: Outcome, right: Answer) -> tuple[str, str] | None:
    """The sentence, and its detail, if an outcome cannot be compared."""
    if "NotImplementedError" in outcome.failed:
        return "unfilled", ""
    if outcome.failed:
        return "raised", outcome.failed
    if outcome.changed:
        return "changed", ", ".join(outcome.changed)
    if outcome.kind or len(outcome.answer.values) != len(right.values):
        return "kind", outcome.kind or f"{len(outcome.answer.values)} tensors"
    for mine, asked in zip(outcome.answer.values, right.values, strict=True):
        if mine.shape != asked.shape:
            return "shape", f"{list(mine.shape)}, {list(asked.shape)}"
    gradients = outcome.answer.gradient, right.gradient
    came, due = (None if each is None else each.shape for each in gradients)
    return None if came == due else ("kind", "a gradient of another shape")


def _mistake(
    hole: Hole, cases: list[Any], got: list[Answer], rights: list[Answer]
) -> str:
    """The first misconception that gives the same on every batch, or "".

    It is looked for once more without the padding, where numbers may have been left,
    and then without the batches where nan came back: a guard may be all that differs.
    """
    finite = [_is_finite(answer) for answer in got]
    every = [True] * len(cases)
    for narrow, kept in ((_whole, every), (_within, every), (_within, finite)):
        for name, function in hole.mistakes.items():
            shown = False
            for index in compress(range(len(cases)), kept):
                case = cases[index]
                committed = narrow(hole, case, _committed(function, hole, case))
                if not _agree(narrow(hole, case, got[index]), committed):
                    break
                shown |= not _agree(narrow(hole, case, rights[index]), committed)
            else:
                if shown:
                    return name
    return ""


def _is_padding_alone(
    hole: Hole, cases: list[Any], got: list[Answer], rights: list[Answer]
) -> bool:
    return hole.per_token and all(
        _agree(_within(hole, case, mine), _within(hole, case, right))
        for case, mine, right in zip(cases, got, rights, strict=True)
    )


def _whole(hole: Hole, case: Any, answer: Answer) -> Answer:
    return answer


def _within(hole: Hole, case: Any, answer: Answer) -> Answer:
    """The answer at the tokens that count, where there is one for each token."""
    if not hole.per_token:
        return answer
    values = tuple(value[case.mask] for value in answer.values)
    return Answer(values, answer.gradient)


def agree(one: Tensor, other: Tensor) -> bool:
    """True if two tensors hold the same numbers, nan at the same places included."""
    near = {"atol": TOLERANCE, "rtol": TOLERANCE}
    return torch.allclose(one.double(), other.double(), **near, equal_nan=True)


def _agree(one: Answer, other: Answer) -> bool:
    pairs = list(zip(one.values, other.values, strict=True))
    if one.gradient is not None and other.gradient is not None:
        pairs.append((one.gradient, other.gradient))
    return all(agree(*pair) for pair in pairs)


def _is_finite(answer: Answer) -> bool:
    return all(bool(value.isfinite().all()) for value in answer.values)


def _tuple(result: Result) -> tuple[Tensor, ...]:
    return result if isinstance(result, tuple) else (result,)
