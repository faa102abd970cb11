"""What a page asks to run, and what its blocks did, as lines of JSON.

The process that runs a block may be in the hands of that block. From a line of JSON
nothing comes but text and numbers, where a pickle would run what was written into it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from site_tools.say import Message, Refusal

SECONDS_PER_BLOCK = 20.0
LARGEST = 8 << 20  # bytes of a line; a plot has some tens of thousands
# Signs that a terminal would obey are shown instead.
SIGNS = {n: f"\\x{n:02x}" for n in (*range(32), *range(127, 160)) if n not in (9, 10)}


@dataclass(frozen=True)
class Source:
    """A block as the process needs it that runs it."""

    text: str
    continues: bool = False  # the blocks above it
    raises: bool = False
    copied: str = ""  # where a reader who copies it gets another text

    def begins_with(self, other: "Source") -> bool:
        """Whether what is copied begins with all of another, which leaves its names."""
        beginning = (other.copied or other.text).rstrip("\n") + "\n"
        lasting = not (self.raises or other.raises)
        return lasting and self.copied.startswith(beginning)


@dataclass(frozen=True)
class PageToRun:
    """What is asked for: blocks, then the expressions of figures.

    The seed of the random numbers of a block that runs alone differs between the
    languages, and from that of the blocks in order, so that a block that draws numbers
    without a seed of its own is found.
    """

    sources: Sequence[Source]
    expressions: Sequence[str] = ()
    seed: int = 0
    seconds: float = SECONDS_PER_BLOCK  # longest time for a block or an expression
    once: bool = False  # no block runs alone, as in a notebook, whose blocks may draw
    cuda: bool = False  # blocks may use a GPU

    @property
    def size(self) -> int:
        """The number of results: each block alone, each in order, each figure."""
        return 2 * len(self.sources) + len(self.expressions)

    @property
    def alone(self) -> list[list[int]]:
        """The blocks that run alone, by process, each once all above it have run.

        What is copied from one begins with what is copied from those before it.
        """
        runs = list[list[int]]()
        for number, source in enumerate(() if self.once else self.sources):
            begun = [run for run in runs if source.begins_with(self.sources[run[-1]])]
            if begun:
                begun[-1].append(number)
            else:
                runs.append([number])
        return runs

    @classmethod
    def of(cls, line: bytes) -> "PageToRun":
        """The page that :func:`encode` made a line of."""
        fields = json.loads(line)
        sources = [Source(**source) for source in fields.pop("sources")]
        return cls(sources, **fields)


@dataclass(frozen=True)
class Failure:
    """Why a block, or an expression, did not end well."""

    type: str  # of the exception, or the limit that was reached
    message: str | Message
    lines: tuple[tuple[int, int], ...] = ()  # each block that it went through, its line
    compared: str = ""  # by a bare assertion: the left side and its value

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


@dataclass(frozen=True)
class Result:
    """What a block printed and drew (name and SVG), and why it ended early."""

    printed: str
    failure: Failure | None = None
    plots: tuple[tuple[str, str], ...] = ()


Value = int | float | Failure


@dataclass(frozen=True)
class Run:
    """What a page did: each block in its place, each expression, each copied text."""

    results: tuple[Result, ...]
    values: tuple[Value, ...]
    copies: tuple[Result, ...]


NOT_RUN = Failure("NotRun", Message("block_not_run"))
ENDED = Failure("ProcessEnded", Message("block_ended_process"))
LOST = Failure("ProcessEnded", Message("block_process_lost"))


def encode(what: PageToRun | Result | Value | None) -> bytes:
    """What is to run, or what came of it, as a line of JSON."""
    return json.dumps(what, default=vars).encode() + b"\n"


def decode(line: bytes, kind: Any) -> Any:
    """What a line says that :func:`encode` made: something of a kind, or a failure."""
    try:
        outcome = _decoded(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refusal("result_form", line=repr(line[:80])) from None
    if not isinstance(outcome, kind | Failure):
        raise Refusal("result_form", line=repr(line[:80]))
    return outcome


def _decoded(data: Any) -> Result | Value | None:
    if data is None or type(data) in (int, float):
        return data  # type: ignore[no-any-return]
    if "printed" not in data:
        return _failure(data)
    failure = data["failure"] and _failure(data["failure"])
    plots = tuple((_text(name), _text(svg)) for name, svg in data["plots"])
    return Result(_text(data["printed"]), failure, plots)


def _failure(data: Any) -> Failure:
    message = data["message"]
    if isinstance(message, dict):
        values = {name: _text(str(text)) for name, text in message["values"].items()}
        message = Message(message["key"], values)
        str(message)  # KeyError if there is no such message
    lines = tuple((int(block), int(line)) for block, line in data["lines"])
    if any(block < 0 or line < 1 for block, line in lines):
        raise ValueError
    shown = message if isinstance(message, Message) else _text(message)
    compared = _text(data.get("compared", ""))
    return Failure(_text(data["type"]), shown, lines, compared)


def _text(data: str) -> str:
    return str.translate(data, SIGNS)
