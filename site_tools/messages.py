"""Messages to people: each has a key, and a text in each language.

The texts lie in ``messages/en.yml`` and ``messages/zh.yml``, under the same keys and
with the same ``{values}``. Code names the key and gives the values; whoever shows the
message chooses the language.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

CATALOGUES = Path(__file__).with_name("messages")
LANGUAGES = ("zh", "en")


@dataclass(frozen=True)
class Message:
    """A key and its values; a value may be a message itself."""

    key: str
    values: Mapping[str, object] = field(default_factory=dict, hash=False)
    part: str = ""

    def text(self, language: str, part: str = "") -> str:
        """The message in a language; of one that has parts, ``found`` or another."""
        entry, part = catalogue(language)[self.key], part or self.part or "found"
        template = entry[part] if isinstance(entry, dict) else entry
        return str(template).format_map(
            {name: translate(value, language) for name, value in self.values.items()}
        )

    def __str__(self) -> str:
        return self.text("en")


class Refusal(ValueError):
    """An error whose text is a message, so that it can be told in either language."""

    def __init__(self, key: str, /, **values: object) -> None:
        self.message = Message(key, values)
        super().__init__(str(self.message))

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it again where a process of a pool hands it back."""
        return partial(Refusal, self.message.key, **self.message.values), ()


def translate(value: object, language: str) -> Any:
    """A message, or an error that carries one, in a language; all else as it is."""
    if isinstance(value, Refusal):
        value = value.message
    return value.text(language) if isinstance(value, Message) else value


@cache
def catalogue(language: str) -> dict[str, Any]:
    """Every entry of a language by its key."""
    text = (CATALOGUES / f"{language}.yml").read_text("utf-8")
    entries: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return entries


# What a check found: where it is, what stands there, what must, how to mend it.

PROBLEM_PARTS = ("found", "expected", "fix")


@dataclass(frozen=True)
class Problem:
    """A violation at one line of a page, with what must hold there and the remedy."""

    path: str  # relative to the project, as in docs/zh/gae/inputs.md
    line: int
    message: Message
    snippet: str | None = None  # snippets/...py:line, where the line comes from

    def __str__(self) -> str:
        return self.text("en")

    def text(self, language: str) -> str:
        return f"{self.place}\n{self.remarks(language)}"

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
        """The remarks on it in a language, a row each."""
        labels = catalogue(language)["problem_labels"]
        width = max(len(label) + label.isascii() for label in labels.values())
        rows = []
        for part in PROBLEM_PARTS:
            text, label = self.message.text(language, part), labels[part]
            lines = "\n" + indent(text, "    ")
            rows.append(
                f"  {label}{lines}" if "\n" in text else f"  {label:<{width}}{text}"
            )
        return "\n".join(rows)


# As rules tell them, one after another.
Problems = Iterator[Problem]


def nearest(text: str, known: Iterable[str], otherwise: str = "") -> str:
    """The one of some words that is most like a text."""
    near = get_close_matches(text, list(known), n=1, cutoff=0)
    return near[0] if near else otherwise


def problem(
    path: str, line: int, key: str, /, *, snippet: str | None = None, **values: object
) -> Problem:
    """A problem by the key of its entry in the catalogue, and the values in it."""
    return Problem(path, line, Message(key, values), snippet)


def problem_from(refusal: Refusal, path: str, line: int) -> Problem:
    """A refusal whose entry has parts, as a problem at its line or else this one."""
    values = dict[str, Any](refusal.message.values)
    own, snippet = int(values.get("line", line)), values.get("snippet")
    return Problem(path, own, refusal.message, snippet)
