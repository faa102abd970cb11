"""Verdicts on a dump: a line per stage, and one for all."""

from typing import NamedTuple

from ppo_ref.check.asserts.faults import lines

_COLUMN = 11
OK, FAIL, OPEN = "ok", "FAIL", "-"
Said = tuple[str, str]  # one of these three, and why


class Verdict(NamedTuple):
    """One stage: ``ok``, ``FAIL``, or ``-`` where the dump does not tell."""

    stage: str
    state: str
    text: str

    def __str__(self) -> str:
        state = self.state if self.state == OPEN else f"{self.state}:"
        return lines(f"{self.stage:<{_COLUMN}}{state} {self.text}", _COLUMN)


class Report(NamedTuple):
    """All stages, in the order in which data flows."""

    verdicts: list[Verdict]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.verdicts), lines(self.summary)])

    @property
    def ok(self) -> bool:
        return not self.stages(FAIL)

    def stages(self, state: str) -> list[str]:
        """The stages of which this is said."""
        return [verdict.stage for verdict in self.verdicts if verdict.state == state]

    @property
    def summary(self) -> str:
        """The stages that are wrong, in one line, and how many cannot be told."""
        found = "nothing wrong found"
        if not self.ok:
            found = f"wrong: {', '.join(self.stages(FAIL))}"
        right, untold = len(self.stages(OK)), len(self.stages(OPEN))
        return f"{found}; {right} ok, {untold} cannot be told (-)"
