"""What is said of a dump: a line per stage, and one for all."""

import textwrap
from typing import NamedTuple

_WIDTH, _COLUMN = 52, 11
OK, DIFFERS, OPEN = "ok", "differs", "-"


class Verdict(NamedTuple):
    """One stage: ``ok``, ``differs`` or ``-`` where the dump does not tell."""

    stage: str
    state: str
    text: str
    short: str = ""

    def __str__(self) -> str:
        line = f"{self.stage:<{_COLUMN}}{self.state}: {self.text}"
        if self.state == OPEN:
            line = f"{self.stage:<{_COLUMN}}{self.state} {self.text}"
        line = line.replace("] ", "]\N{NO-BREAK SPACE}").replace(
            ", ", ",\N{NO-BREAK SPACE}"
        )
        wrapped = textwrap.fill(
            line, _WIDTH, subsequent_indent=" " * _COLUMN, break_on_hyphens=False
        )
        return wrapped.replace("\N{NO-BREAK SPACE}", " ")


class Report(NamedTuple):
    """All stages, in the order in which data flows."""

    verdicts: list[Verdict]

    @property
    def ok(self) -> bool:
        return all(verdict.state != DIFFERS for verdict in self.verdicts)

    def __str__(self) -> str:
        lines = [*map(str, self.verdicts), textwrap.fill(summary(self), _WIDTH)]
        return "\n".join(lines)


def summary(report: Report) -> str:
    """The verdict in one line.

    Args:
        report: Of all stages.

    Returns:
        What differs, and first whether the slices are right.

    Example:
        >>> right = Verdict("values", "ok", "equal")
        >>> wrong = Verdict("whitening", "differs", "over all slots explains it")
        >>> summary(Report([right, wrong]))
        'alignment ok; whitening differs'
        >>> summary(Report([right]))
        'all ok'
    """
    wrong = [verdict for verdict in report.verdicts if verdict.state == DIFFERS]
    if not wrong:
        return "all ok"
    said = [verdict.short or f"{verdict.stage} differs" for verdict in wrong]
    shifted = {"score", "values", "ratio"} & {verdict.stage for verdict in wrong}
    return "; ".join([*([] if shifted else ["alignment ok"]), *said])
