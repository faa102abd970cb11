"""A fact, read again in another release."""

import difflib
from enum import StrEnum
from typing import NamedTuple

from site_tools.data.facts import Entry
from site_tools.data.places import line_hash, misstated

SIMILAR = (
    0.6  # how much of the lines must be left for them to be the same lines, changed
)


class State(StrEnum):
    """What became of a fact."""

    SAME = "same"
    MOVED = "moved"
    CHANGED = "changed"
    GONE = "gone"


class Reading(NamedTuple):
    """A fact in another release.

    Args:
        entry: The fact, as it is written.
        state: What became of it.
        lines: Where it stands there, as in ``93-95``; empty if it is gone.
        detail: What is different: lines with ``-`` and ``+``, or a sentence.
        fileless: Whether the whole file is gone.
    """

    entry: Entry
    state: State
    lines: str = ""
    detail: str = ""
    fileless: bool = False


def reread(entry: Entry, then: str | None, now: str | None) -> Reading:
    """Look for the lines of a fact.

    Args:
        entry: The fact.
        then: The file in its own release, if that is here: what changed is shown.
        now: The file in the other release; None if there is none.
    """
    if now is None:
        return Reading(entry, State.GONE, fileless=True)
    first, last = span(entry.lines)
    size, lines = last - first + 1, now.split("\n")
    windows = [lines[n : n + size] for n in range(len(lines) - size + 1)]
    found = [n for n, each in enumerate(windows, 1) if line_hash(each) == entry.hash]
    if found:
        return _found(entry, min(found, key=lambda n: abs(n - first)), now)
    old = then.split("\n")[first - 1 : last] if then else []
    at = _most_similar(entry, old, windows, first)
    if at is None:
        return Reading(entry, State.GONE)
    new, where = windows[at - 1], written(at, size)
    return Reading(entry, State.CHANGED, where, difference(old, new))


def span(lines: str) -> tuple[int, int]:
    """First and last line.

    Example:
        >>> span("93-95"), span("7")
        ((93, 95), (7, 7))
    """
    first, _, last = lines.partition("-")
    return int(first), int(last or first)


def written(first: int, size: int) -> str:
    """Lines as a fact has them."""
    return str(first) if size == 1 else f"{first}-{first + size - 1}"


def _found(entry: Entry, at: int, now: str) -> Reading:
    first, last = span(entry.lines)
    lines = written(at, last - first + 1)
    # The same line may set the key of another section.
    if entry.key and (wrong := misstated(entry, now)):
        return Reading(entry, State.CHANGED, lines, wrong)
    return Reading(entry, State.SAME if at == first else State.MOVED, lines)


def _most_similar(
    entry: Entry, old: list[str], windows: list[list[str]], first: int
) -> int | None:
    """Where the lines now begin, in other words; None if nothing is like them."""
    landmark = entry.quote or entry.key.rpartition(".")[2] + ":"
    held = [n for n, each in enumerate(windows, 1) if any(landmark in e for e in each)]
    if not old:
        return min(held, key=lambda n: abs(n - first), default=None)
    # A quotation that is still there says more than likeness does.
    judged = [
        (_likeness(old, windows[n - 1]), -abs(n - first), n)
        for n in held or range(1, len(windows) + 1)
    ]
    best, _, at = max(judged, default=(0.0, 0, 0))
    return at if held or best >= SIMILAR else None


def _likeness(old: list[str], new: list[str]) -> float:
    a, b = "\n".join(old), "\n".join(new)
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    if matcher.real_quick_ratio() < SIMILAR or matcher.quick_ratio() < SIMILAR:
        return 0.0
    return matcher.ratio()


def difference(old: list[str], new: list[str]) -> str:
    """Lines that went with ``-``, lines that came with ``+``.

    Example:
        >>> print(difference(["a", "b"], ["a", "c"]))
         a
        -b
        +c
    """
    rows = difflib.ndiff(old, new)
    return "\n".join(r[0] + r[2:] for r in rows if not r.startswith("?"))
