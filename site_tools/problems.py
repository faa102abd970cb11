"""What a check found: where it is, what stands there, what must, how to mend it."""

from dataclasses import dataclass
from textwrap import indent


@dataclass(frozen=True)
class Problem:
    """A violation at one line of a page.

    Args:
        path: Page, relative to the project, as in ``docs/zh/gae/inputs.md``.
        line: Line of the page, from 1.
        found: What stands there.
        expected: What must hold.
        fix: What to write instead.
        snippet: ``snippets/...py:line`` where the line is included from there.
    """

    path: str
    line: int
    found: str
    expected: str
    fix: str
    snippet: str | None = None

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}"
        if self.snippet:
            place += f" ({self.snippet})"
        rows = [("found", self.found), ("expected", self.expected), ("fix", self.fix)]
        return "\n".join([place, *(_row(name, text) for name, text in rows)])


def _row(name: str, text: str) -> str:
    if "\n" not in text:
        return f"  {name + ':':<10}{text}"
    return f"  {name}:\n{indent(text, '    ')}"
