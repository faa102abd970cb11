"""The conversation with a contributor, in Chinese or English."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO, TypeVar

from site_tools.messages import Message, Problem, Refusal
from site_tools.run.results import TERMINAL_SIGNS

Done = TypeVar("Done")
YES = ("y", "yes", "是", "好", "对")


@dataclass(frozen=True)
class Talk:
    """Says messages and asks questions, each by its key in the catalogues.

    ``agreed`` answers every question with yes beforehand, ``out`` is the terminal
    unless given, ``answer`` gives a typed line, or None where nobody is there.
    """

    language: str = "en"
    agreed: bool = False
    out: TextIO | None = None
    answer: Callable[[], str | None] | None = None

    def text(self, key: str, part: str = "", /, **values: object) -> str:
        """A message, or a part of one that has several, in the language spoken."""
        return self.of(Message(key, values), part)

    def of(self, message: Message, part: str = "") -> str:
        return message.text(self.language, part)

    def say(self, key: str, /, **values: object) -> None:
        self.show(self.text(key, **values))

    def show(self, text: str) -> None:
        """Print a text, if there is any, without signs that a terminal would obey."""
        if text:
            shown = text.removesuffix("\n").translate(TERMINAL_SIGNS)
            print(shown, file=self.out or sys.stdout, flush=True)

    def ask(self, key: str, /, **values: object) -> bool:
        """True where the contributor says yes; False where nobody is there."""
        if self.agreed:
            print(f"{self.text(key, **values)} [y/N] y", file=self.out)
            return True
        typed = self.typed(key, " [y/N]", **values)
        if typed is None:
            self.say("nobody_to_ask")
        return (typed or "").strip().lower() in YES

    def typed(self, key: str, end: str = "", /, **values: object) -> str | None:
        """The line typed to a question; None where nobody is there."""
        print(f"{self.text(key, **values)}{end} ", end="", flush=True, file=self.out)
        return (self.answer or _typed)()

    def progress(self, items: Sequence[Done]) -> Iterator[Done]:
        """The items; many get a bar in a terminal while they are worked on."""
        out = self.out or sys.stdout
        width = 40
        for done, item in enumerate(items, 1):
            yield item
            full = width * done // len(items)
            more = full != width * (done - 1) // len(items)
            if more and len(items) > width and out.isatty():
                bar = "#" * full + "." * (width - full)
                end = "\n" if done == len(items) else ""
                print(f"\r[{bar}] {done}/{len(items)}", end=end, flush=True, file=out)


def reason(error: ValueError) -> Message:
    """Why a command ends: it refuses, or a page or a file of data cannot be read."""
    if isinstance(error, Refusal):
        return error.message
    what = error.args[0] if error.args else ""
    text = what.in_line if isinstance(what, Problem) else error
    return Message("as_it_is", {"text": text})


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        setting = environment.get(name)
        if setting:
            return "zh" if setting.startswith("zh") else "en"
    return "en"


def _typed() -> str | None:
    if not sys.stdin.isatty():
        return None
    try:
        return input()
    except EOFError:
        return None
