"""A page to run, and what its blocks did, as lines of JSON.

The process that runs a block may be in the hands of that block. From a line of JSON
nothing comes but text and numbers, where a pickle would run what was written into it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from site_tools.messages import Message, Refusal

SECONDS_PER_BLOCK = 20.0
LARGEST = 8 << 20  # bytes of a line; a plot has some tens of thousands
# Signs that a terminal would obey are shown instead.
TERMINAL_SIGNS = {
    n: f"\\x{n:02x}" for n in (*range(32), *range(127, 160)) if n not in (9, 10)
}


@dataclass(frozen=True)
class Source:
    """A block as the process needs it that runs it."""

    text: str
    continues: bool = False  # the blocks above it
    raises: bool = False
    copied: str = ""  # where a reader who copies it gets another text

    @property
    def runs_in_order(self) -> bool:
        """True if it runs among the others too: one that raises leaves no name."""
        return self.continues or not self.raises

    def begins_with(self, other: "Source") -> bool:
        """True if what is copied begins with all of another, which leaves its names."""
        beginning = (other.copied or other.text).rstrip("\n") + "\n"
        lasting = not (self.raises or other.raises)
        return lasting and self.copied.startswith(beginning)


@dataclass(frozen=True)
class PageToRun:
    """Blocks, and the expressions of figures.

    The seed of the random numbers of a block that runs alone differs between the
    languages, and from that of the blocks in order, so that a block that draws numbers
    without a seed of its own is found. An expression is evaluated in order, and once
    more behind the copy of the block that ``after`` has in its place, if any.
    """

    sources: Sequence[Source]
    expressions: Sequence[str] = ()
    after: Sequence[int | None] = ()
    seed: int = 0
    seconds: float = SECONDS_PER_BLOCK  # longest time for a block or an expression
    once: bool = False  # no block runs alone, as in a notebook, whose blocks may draw
    cuda: bool = False  # blocks may use a GPU

    def chains(self) -> list[list[int]]:
        """The blocks that run alone, by process, each once all above it have run.

        What is copied from one begins with what is copied from those before it.
        """
        chains: list[list[int]] = []
        for number, source in enumerate(self.sources):
            for chain in reversed(chains):
                if source.begins_with(self.sources[chain[-1]]):
                    chain.append(number)
                    break
            else:
                chains.append([number])
        return chains

    def behind(self, number: int) -> list[str]:
        """The expressions that are evaluated behind the copy of this block."""
        places = zip(self.expressions, self.after, strict=False)
        return [expression for expression, after in places if after == number]

    def failing(self) -> list[int]:
        """The blocks that run last, in fresh names: one that raises leaves none."""
        if self.once:
            return []
        sources = enumerate(self.sources)
        return [number for number, source in sources if not source.runs_in_order]


@dataclass(frozen=True)
class Request:
    """One way to run a page: what is copied from each block alone, or all in order."""

    page: PageToRun
    alone: bool

    @property
    def elsewhere(self) -> bool:
        """True if it runs in the other setting, with another clock and so on.

        Of a notebook, which runs once, the second language does.
        """
        return self.alone or (self.page.once and self.page.seed > 0)

    @property
    def trains(self) -> bool:
        """True if its blocks seem to make an optimizer, which is slow to begin with."""
        words = ("optim", "train")
        return any(word in s.text for s in self.page.sources for word in words)

    def processes(self) -> Sequence["Process"]:
        """The work of each process, one after the other."""
        if self.alone:
            return [Process(self.page, chain) for chain in self.page.chains()]
        return [Process(self.page, None, self.elsewhere)]

    @classmethod
    def of(cls, line: bytes) -> "Request":
        """The request that :func:`encode` made a line of."""
        fields = json.loads(line)
        page = fields["page"]
        sources = [Source(**source) for source in page.pop("sources")]
        return cls(PageToRun(sources, **page), fields["alone"])


@dataclass(frozen=True)
class Process:
    """The work of one process: a chain of blocks by number, or None: all in order."""

    page: PageToRun
    chain: Sequence[int] | None
    elsewhere: bool = True  # in the other setting

    def kinds(self) -> list[Any]:
        """The kind of each result, in order; the last says how the process ended."""
        kinds: list[Any] = []
        if self.chain is not None:
            for number in self.chain:
                kinds.append(Result)
                kinds += [int | float] * len(self.page.behind(number))
            return [*kinds, End]
        if self.page.once:
            kinds.append(None)  # says that all is prepared
        for source in self.page.sources:
            kinds.append(Result if source.runs_in_order else None)
        kinds += [int | float] * len(self.page.expressions)
        kinds += [Result] * len(self.page.failing())
        return [*kinds, End]


@dataclass(frozen=True)
class Failure:
    """Why a block, or an expression, did not end well."""

    type: str  # of the exception, or the limit that was reached
    message: str | Message
    lines: tuple[tuple[int, int], ...] = ()  # each block that it went through, its line
    compared: str = ""  # by a bare assertion: the left side and its value
    once: bool = False  # in one setting, and not in the other

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


@dataclass(frozen=True)
class Result:
    """The output of a block, its plots (name and SVG), and why it ended early.

    ``draws`` has the generators of random numbers that somebody drew from or seeded,
    each with a hash of where it now is.
    """

    printed: str
    failure: Failure | None = None
    plots: tuple[tuple[str, str], ...] = ()
    draws: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class End:
    """The last result of a process: all has run."""

    drew: bool  # random numbers; else nothing depends on the seed


Value = int | float | Failure


@dataclass(frozen=True)
class Run:
    """The outcome of a page: each block in its place, each expression, each copy."""

    results: tuple[Result, ...]
    values: Mapping[str, Value]
    copies: tuple[Result, ...]
    elsewhere: Mapping[str, Value] = field(default_factory=dict)  # some of the values
    drew: bool = True  # maybe random numbers; else another seed gives the same


NOT_RUN = Failure("NotRun", Message("block_not_run"))
ENDED = Failure("ProcessEnded", Message("block_ended_process"))
LOST = Failure("ProcessEnded", Message("block_process_lost"))


def encode(what: Request | Result | Value | End | None) -> bytes:
    """A request, or what came of it, as a line of JSON."""
    return json.dumps(what, default=vars).encode() + b"\n"


def decode(line: bytes, kind: Any) -> Any:
    """The result of this kind, or the failure, that :func:`encode` made a line of."""
    try:
        outcome = _decoded(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refusal("result_form", line=repr(line[:80])) from None
    if not isinstance(outcome, kind | Failure):
        raise Refusal("result_form", line=repr(line[:80]))
    return outcome


def _decoded(data: Any) -> Result | Value | End | None:
    if data is None or type(data) in (int, float):
        return data  # type: ignore[no-any-return]
    if "drew" in data:
        return End(data["drew"] is not False)
    if "printed" not in data:
        return _decoded_failure(data)
    failure = data["failure"] and _decoded_failure(data["failure"])
    plots = tuple((_shown_text(name), _shown_text(svg)) for name, svg in data["plots"])
    draws = {_shown_text(name): _shown_text(at) for name, at in data["draws"].items()}
    return Result(_shown_text(data["printed"]), failure, plots, draws)


def _decoded_failure(data: Any) -> Failure:
    message = data["message"]
    if isinstance(message, dict):
        values = {
            name: _shown_text(str(text)) for name, text in message["values"].items()
        }
        message = Message(message["key"], values)
        str(message)  # KeyError if there is no such message
    lines = tuple((int(block), int(line)) for block, line in data["lines"])
    if any(block < 0 or line < 1 for block, line in lines):
        raise ValueError
    shown = message if isinstance(message, Message) else _shown_text(message)
    compared = _shown_text(data.get("compared", ""))
    return Failure(_shown_text(data["type"]), shown, lines, compared)


def _shown_text(data: str) -> str:
    return str.translate(data, TERMINAL_SIGNS)
