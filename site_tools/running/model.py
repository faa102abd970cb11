"""A page that is to run, what its blocks did, and how they failed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

SECONDS_PER_BLOCK = 20.0


@dataclass(frozen=True)
class Source:
    """A block as the child needs it: its code, and how it is to run."""

    text: str
    session: bool = False
    continues: bool = False
    raises: bool = False
    copied: str | None = None  # where a reader who copies it gets another text
    apart: bool = False  # from the one namespace of the page


@dataclass(frozen=True)
class Failure:
    """An exception: its type and text, and the line of each block it went through."""

    type: str
    message: str
    lines: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Result:
    """What a block printed and drew, by name, and the exception that ended it."""

    printed: str
    failure: Failure | None = None
    plots: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Run:
    """Per block what it did and what its copied text did, per expression a number."""

    results: tuple[Result, ...]
    values: tuple[int | float | Failure, ...]
    copies: tuple[Result, ...]


UNSEEDED = "Unseeded"
NOT_RUN = Failure("NotRun", "a block above did not end", ())
ENDED = Failure("ProcessEnded", "the process that runs the page has ended", ())


@dataclass(frozen=True)
class PageToRun:
    """What the process that runs a page is told.

    Args:
        sources: The blocks of the page.
        expressions: The expressions bound to figures, evaluated after all blocks.
        seed: Seed of the random number generators, set before a block runs alone; it
            differs between the languages, and from that of the run in order, so that
            a block that draws numbers without a seed of its own is found.
        seconds: Longest time for one block or expression.
        once: Whether no block runs alone, as in a notebook, whose blocks may draw.
        cuda: Whether blocks may use a GPU.
    """

    sources: Sequence[Source]
    expressions: Sequence[str]
    seed: int
    seconds: float = SECONDS_PER_BLOCK
    once: bool = False
    cuda: bool = False


def read(line: bytes) -> PageToRun:
    """The page that a request names."""
    said = json.loads(line)
    sources = tuple(Source(**source) for source in said.pop("sources"))
    return PageToRun(sources, **said)
