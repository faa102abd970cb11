"""What a check found: where it is, what stands there, what must, how to mend it."""

from dataclasses import dataclass, field, replace
from textwrap import indent

from site_tools.say import Message, catalogue


@dataclass(frozen=True)
class Problem:
    """A violation at one line of a page, with what must hold there and the remedy."""

    path: str  # relative to the project, as in docs/zh/gae/inputs.md
    line: int
    found: str
    expected: str
    fix: str
    snippet: str | None = None  # snippets/...py:line, where the line comes from
    message: Message | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return "\n".join([self.place, self.remarks()])

    @property
    def place(self) -> str:
        """Its file and line, and whence the line comes."""
        place = f"{self.path}:{self.line}"
        return f"{place} ({self.snippet})" if self.snippet else place

    def parts(self, language: str = "en") -> dict[str, str]:
        """What is said of it in a language: ``found``, ``expected`` and ``fix``."""
        names = ("found", "expected", "fix")
        if self.message is None:
            return {name: getattr(self, name) for name in names}
        return {name: self.message.text(language, name) for name in names}

    @property
    def in_line(self) -> Message:
        """Its place, what was found and the remedy, as one message."""
        values: dict[str, object] = {"place": self.place}
        for part in ("found", "fix"):
            message = self.message and replace(self.message, part=part)
            values[part] = message or getattr(self, part)
        return Message("file_wrong", values)

    def remarks(self, language: str = "en") -> str:
        """What is said of it in a language, a row each."""
        labels = catalogue(language)["problem_labels"]
        width = max(len(label) + label.isascii() for label in labels.values())
        rows = self.parts(language).items()
        return "\n".join(_row(labels[name], text, width) for name, text in rows)


def problem(
    path: str, line: int, key: str, /, *, snippet: str | None = None, **values: object
) -> Problem:
    """A problem by the key of its entry in the catalogue, and the values in it."""
    message = Message(key, values)
    found, expected, fix = (
        message.text("en", part) for part in ("found", "expected", "fix")
    )
    return Problem(path, line, found, expected, fix, snippet, message)


def _row(name: str, text: str, width: int) -> str:
    if "\n" not in text:
        return f"  {name:<{width}}{text}"
    return f"  {name}\n{indent(text, '    ')}"
