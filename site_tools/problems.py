"""What a check found: where it is, what stands there, what must, how to mend it."""

from collections.abc import Callable
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
        return "\n".join([self.place, self.remarks()])

    @property
    def place(self) -> str:
        """Its file and line, and whence the line comes."""
        place = f"{self.path}:{self.line}"
        return f"{place} ({self.snippet})" if self.snippet else place

    def remarks(self, words: Callable[[str], str] = str) -> str:
        """What is said of it, a row each.

        Args:
            words: Puts a sentence into the reader's language.
        """
        rows = {"found:": self.found, "expected:": self.expected, "fix:": self.fix}
        said = {words(key): words(text) for key, text in rows.items()}
        width = max(len(name) + name.isascii() for name in said)
        return "\n".join(_row(name, text, width) for name, text in said.items())


def _row(name: str, text: str, width: int) -> str:
    if "\n" not in text:
        return f"  {name:<{width}}{text}"
    return f"  {name}\n{indent(text, '    ')}"
