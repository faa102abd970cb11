"""The findings of the doctor as lines of text."""

from collections.abc import Sequence
from textwrap import wrap

from ppo_ref.check.doctor.figures import FIGURES, names_of
from ppo_ref.check.doctor.judging import NO_FIGURES, Finding, goes_back
from ppo_ref.check.doctor.reading import Log

WIDTH = 80


def report(log: Log, found: Sequence[Finding]) -> str:
    """The findings as lines of text, and the figures that were not judged."""
    lines = []
    margin = " " * 8
    for one in found:
        if one.level != "fine":
            lines.append(f"{one.level:7} {one.key}  {one.course}  [{one.row}]")
            lines += wrap(
                one.says, WIDTH, initial_indent=margin, subsequent_indent=margin
            )
    fine = ", ".join(finding.key for finding in found if finding.level == "fine")
    said = f"fine    {fine or '-'}"
    lines += wrap(said, WIDTH, subsequent_indent=margin, break_on_hyphens=False)
    others = not_judged(log)
    if others:
        names = f"not judged, {len(others)}: {', '.join(others)}"
        lines += wrap(names, WIDTH, subsequent_indent=margin, break_on_hyphens=False)
    steps = max(map(len, log.values()))
    lines.append(f"{steps} step{'' if steps == 1 else 's'}{few(steps)}")
    if goes_back(log):
        lines.append("The counter of steps goes back: several runs are judged as one")
    lines.append("In brackets: the section of the page debug/symptoms")
    return "\n".join(lines)


def not_judged(log: Log) -> list[str]:
    """The names that belong to no figure."""
    judged = {name for figure in FIGURES for name in names_of(figure, log)}
    return [name for name in log if name not in judged | NO_FIGURES]


def few(steps: int) -> str:
    """A reminder of what a short log cannot show, or nothing."""
    if steps < 10:
        return ": too few to tell a trend from noise, for which 20 are needed"
    if steps < 20:
        return ": too few to say that a score does not rise, for which 20 are needed"
    return ""
