"""What is said to people: each message has a key, and a text in each language.

The texts lie in ``messages/en.yml`` and ``messages/zh.yml``, under the same keys and
with the same ``{values}``. Code names the key and gives the values; whoever shows the
message chooses the language.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).with_name("messages")
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


def translate(value: object, language: str) -> Any:
    """A message, or an error that carries one, in a language; all else as it is."""
    if isinstance(value, Refusal):
        value = value.message
    return value.text(language) if isinstance(value, Message) else value


@cache
def catalogue(language: str) -> dict[str, Any]:
    """Every entry of a language by its key."""
    text = (FOLDER / f"{language}.yml").read_text("utf-8")
    entries: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return entries
