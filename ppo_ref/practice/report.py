"""A verdict as text: what is wrong, the smallest batch that shows it, where to read."""

from collections.abc import Iterator
from pathlib import Path

from torch import Tensor

from ppo_ref.practice.hole import Hole
from ppo_ref.practice.judging import Verdict, agree
from ppo_ref.practice.running import Answer
from ppo_ref.practice.words import mistake, said

DIGITS, WIDTH = 4, 9
COLUMNS = 16  # of a row that are shown


def report(solution: Path, hole: Hole, verdict: Verdict, lang: str) -> str:
    """All lines that are printed of a verdict."""
    return "\n".join(_lines(solution, hole, verdict, lang))


def _lines(solution: Path, hole: Hole, verdict: Verdict, lang: str) -> Iterator[str]:
    facts = {"batches": verdict.batches, "right": verdict.batches - verdict.wrong}
    if verdict.is_right:
        yield f"{solution}: {said('right', lang, **facts)}"
        if verdict.times is not None:
            yield said("times", lang, times=_times(verdict.times))
    elif verdict.wrong:
        yield f"{solution}: {said('wrong', lang, **facts)}"
        yield ""
        if verdict.mistake:
            sentence, page = mistake(hole.name, verdict.mistake, lang)
            yield sentence
            yield said("page", lang, page=page)
        else:
            yield said(verdict.said, lang)
    else:
        sentence = said(verdict.said, lang, detail=verdict.detail, function=hole.name)
        yield f"{solution}: {sentence}"
    for remark in verdict.remarks:
        yield said(remark, lang)
    if verdict.case is not None:
        yield ""
        yield said("smallest", lang)
        yield from _shown(hole, verdict, lang)


def _times(times: float) -> str:
    """How often ours would run meanwhile; below ten with a digit behind the point."""
    return f"{times:.1f}" if times < 10 else f"{times:.0f}"


def _shown(hole: Hole, verdict: Verdict, lang: str) -> Iterator[str]:
    """The batch, what came back and what is right, a block of rows each."""
    blocks = list(verdict.case._asdict().items())
    parts = zip(
        _parts(hole, verdict.got, said("yours", lang), lang),
        _parts(hole, verdict.right, said("should_be", lang), lang),
        strict=True,
    )
    for mine, right in parts:
        if not agree(mine[1], right[1]):
            blocks += mine, right
    width = max(_width(name) for name, _ in blocks)
    for name, value in blocks:
        for index, row in enumerate(_rows(value)):
            head = name if index == 0 else ""
            yield f"  {head}{' ' * (width - _width(head))}  {row}".rstrip()


def _parts(
    hole: Hole, answer: Answer, head: str, lang: str
) -> list[tuple[str, Tensor]]:
    parts = [
        (f"{head} {index}" if len(answer.values) > 1 else head, value)
        for index, value in enumerate(answer.values, start=1)
    ]
    if answer.gradient is not None:
        of = said("gradient", lang, argument=hole.gradient)
        parts.append((f"{head}{of}", answer.gradient))
    return parts


def _rows(value: object) -> list[str]:
    if not isinstance(value, Tensor):
        return [str(value)]
    rows = value.reshape(-1, value.shape[-1]) if value.ndim else value.view(1, 1)
    left_out = " ..." if rows.shape[1] > COLUMNS else ""
    return [
        "".join(f"{_number(x):>{WIDTH}}" for x in row) + left_out
        for row in rows[:, :COLUMNS].tolist()
    ]


def _number(x: float | bool | int) -> str:
    if isinstance(x, float):
        short = f"{x:.{DIGITS}f}".rstrip("0").rstrip(".")
        return "0" if short == "-0" else short
    return str(int(x))


def _width(text: str) -> int:
    """In columns of a terminal, where a Chinese sign takes two."""
    return sum(2 if sign > "\u2e7f" else 1 for sign in text)
