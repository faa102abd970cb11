"""Verdicts on a dump: a line per stage, and one for all."""

from typing import NamedTuple

from ppo_ref.check.asserts.faults import lines

_COLUMN = 11
OK, LOOK, FAIL, OPEN = "ok", "look", "FAIL", "-"
Said = tuple[str, str]  # one of these four, and why
# The stages that compute them again, or the returns that were whitened to them.
ADVANTAGES = ("gae", "advantages", "returns")


class Verdict(NamedTuple):
    """One stage.

    ``ok``: compared, and equal. ``FAIL``: compared, and wrong. ``look``: they differ,
    or nothing explains them, and the dump does not say whose fault that is. ``-``: not
    compared, and why.
    """

    stage: str
    state: str
    text: str

    def __str__(self) -> str:
        state = self.state if self.state == OPEN else f"{self.state}:"
        return lines(f"{self.stage:<{_COLUMN}}{state} {self.text}", _COLUMN)


class Report(NamedTuple):
    """All stages, in the order in which data flows; what was read, on top."""

    verdicts: list[Verdict]
    seen: str = ""

    def __str__(self) -> str:
        seen = [lines(self.seen)] if self.seen else []
        return "\n".join([*seen, *map(str, self.verdicts), lines(self.summary)])

    @property
    def ok(self) -> bool:
        return not self.stages(FAIL)

    @property
    def exit_code(self) -> int:
        """3 if a stage is wrong, 1 if one is to be looked at, else 0.

        It is 1 as well where the advantages were not computed again.
        """
        if not self.ok:
            return 3
        compared = set(ADVANTAGES) & set(self.stages(OK))
        return 1 if self.stages(LOOK) or not compared else 0

    def stages(self, state: str) -> list[str]:
        """The stages of which this is said."""
        return [verdict.stage for verdict in self.verdicts if verdict.state == state]

    @property
    def summary(self) -> str:
        """The stages that are wrong, in one line, and those that were not compared."""
        said = []
        if not self.ok:
            said.append(f"wrong: {', '.join(self.stages(FAIL))}")
        if self.stages(LOOK):
            said.append(f"look at: {', '.join(self.stages(LOOK))}")
        if not said and not self.exit_code:
            said.append("nothing wrong found")
        if not said:
            said.append("the advantages were not compared")
        said.append(f"{len(self.stages(OK))} ok")
        if self.stages(OPEN):
            said.append(f"not compared (-): {', '.join(self.stages(OPEN))}")
        return "; ".join(said)
