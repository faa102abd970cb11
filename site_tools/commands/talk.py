"""The conversation with a contributor, in Chinese or English."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TextIO

from site_tools.messages.translation import translate
from site_tools.running.results import SIGNS

LANGUAGES = ("zh", "en")


class Refusal(Exception):
    """Why a command does not do what was asked; nothing was written."""


@dataclass(frozen=True)
class Talk:
    """Says and asks; whatever passes through it is put into one language.

    Args:
        language: ``zh`` or ``en``.
        agreed: Whether every question is answered with yes beforehand.
        out: Where it is said, the terminal unless given.
        answer: Gives a line that the contributor types, or None where nobody is there.
    """

    language: str = "en"
    agreed: bool = False
    out: TextIO | None = None
    answer: Callable[[], str | None] | None = None

    def tell(self, text: object = "") -> None:
        """Say a line, or several."""
        self.show(self.words(str(text)))

    def show(self, text: str) -> None:
        """Print a text as it stands, but for what a terminal would obey."""
        shown = text.translate(SIGNS)
        print(shown, file=self.out or sys.stdout, flush=True)

    def words(self, text: str) -> str:
        """The text in the contributor's language."""
        return translate(text, self.language)

    def ask(self, question: str) -> bool:
        """Whether the contributor says yes; no where nobody is there to say it."""
        if self.agreed:
            print(f"{self.words(question)} [y/N] y", file=self.out)
            return True
        said = self.decide(question)
        if said is None:
            print(self.words("no (nobody to ask; --yes agrees)"), file=self.out)
        return bool(said)

    def decide(self, question: str) -> bool | None:
        """What the contributor says to what nobody may agree to beforehand.

        Returns:
            None where nobody is there, or whoever was said yes without reading.
        """
        if self.agreed:
            return None
        print(f"{self.words(question)} [y/N] ", end="", flush=True, file=self.out)
        said = (self.answer or _typed)()
        if said is None:
            return None
        return said.strip().lower() in ("y", "yes", "是", "好", "对")


def _typed() -> str | None:
    if not sys.stdin.isatty():
        return None
    try:
        return input()
    except EOFError:
        return None


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """The language that a terminal is set to.

    Example:
        >>> language_of({"LANG": "zh_CN.UTF-8"}), language_of({"LC_ALL": "C"})
        ('zh', 'en')
    """
    names = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
    said = next((environment[name] for name in names if environment.get(name)), "")
    return "zh" if said.startswith("zh") else "en"
