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
        state = self.state if self.state == OPEN else f"{self.state}:"
        line = f"{self.stage:<{_COLUMN}}{state} {self.text}"
        for glued in ("] ", ", "):
            line = line.replace(glued, f"{glued[0]}\N{NO-BREAK SPACE}")
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
        lines = [*map(str, self.verdicts), textwrap.fill(self.summary, _WIDTH)]
        return "\n".join(lines)

    @property
    def summary(self) -> str:
        """What differs, in one line that first says whether the slices are right."""
        wrong = [verdict for verdict in self.verdicts if verdict.state == DIFFERS]
        if not wrong:
            return "all ok"
        parts = [verdict.short or f"{verdict.stage} differs" for verdict in wrong]
        if not {"score", "values", "ratio"} & {verdict.stage for verdict in wrong}:
            parts.insert(0, "alignment ok")
        return "; ".join(parts)
