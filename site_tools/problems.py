"""What a check found: where it is, what stands there, what must, how to mend it."""

from dataclasses import dataclass, replace
from textwrap import indent

from site_tools.say import Message, catalogue

PARTS = ("found", "expected", "fix")


@dataclass(frozen=True)
class Problem:
    """A violation at one line of a page, with what must hold there and the remedy."""

    path: str  # relative to the project, as in docs/zh/gae/inputs.md
    line: int
    message: Message
    snippet: str | None = None  # snippets/...py:line, where the line comes from

    def __str__(self) -> str:
        return f"{self.place}\n{self.remarks()}"

    @property
    def place(self) -> str:
        """Its file and line, and whence the line comes."""
        place = f"{self.path}:{self.line}"
        return f"{place} ({self.snippet})" if self.snippet else place

    @property
    def found(self) -> str:
        return self.message.text("en", "found")

    @property
    def expected(self) -> str:
        return self.message.text("en", "expected")

    @property
    def fix(self) -> str:
        return self.message.text("en", "fix")

    @property
    def in_line(self) -> Message:
        """Its place, what was found and the remedy, as one message."""
        found, fix = (replace(self.message, part=part) for part in ("found", "fix"))
        return Message("file_wrong", {"place": self.place, "found": found, "fix": fix})

    def remarks(self, language: str = "en") -> str:
        """What is said of it in a language, a row each."""
        labels = catalogue(language)["problem_labels"]
        width = max(len(label) + label.isascii() for label in labels.values())
        rows = []
        for part in PARTS:
            text, label = self.message.text(language, part), labels[part]
            lines = "\n" + indent(text, "    ")
            rows.append(
                f"  {label}{lines}" if "\n" in text else f"  {label:<{width}}{text}"
            )
        return "\n".join(rows)


def problem(
    path: str, line: int, key: str, /, *, snippet: str | None = None, **values: object
) -> Problem:
    """A problem by the key of its entry in the catalogue, and the values in it."""
    return Problem(path, line, Message(key, values), snippet)
