"""What was made once, from what, and by what: is it still fresh?

Used for the blocks that passed, the plots of notebooks and the stored training runs. A
ledger is a text file with a line for each thing, sorted, so that two changes of
different lines merge without a conflict:

    docs/en/gae/inputs.md package:0a6ecf04 {"by": {"torch": "2.13.0"}, "content": 3}

Behind the name of the thing stand the hashes of what it was made from; behind these,
as JSON, what made it and what came out, where there is any.
"""

import fcntl
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from errno import EEXIST
from hashlib import sha256
from pathlib import Path
from typing import Any

from site_tools.messages import Refusal

LINE = re.compile(
    r"(?P<what>\S+)(?P<made_from>(?: [\w-]+:[^\s:]+)+)(?: (?P<rest>\{.*\}))?"
)
DIGITS = 16


@dataclass(frozen=True)
class Entry:
    """A thing that was made: hashes of its sources, its makers, and what came out."""

    made_from: Mapping[str, str]
    by: Mapping[str, str] = field(default_factory=dict)
    content: Any = None


Ledger = dict[str, Entry]


class Damaged(Refusal):
    """A line of a ledger that cannot be read."""

    def __init__(self, file: str, line: int, text: str) -> None:
        super().__init__("ledger_damaged", file=file, line=line, text=text[:80])
        self.line, self.text = line, text


def fresh(
    entry: Entry | None, made_from: Mapping[str, str], by: Mapping[str, str] = {}
) -> bool:
    """Whether a thing was made from exactly these sources, and by these makers.

    The ledger's entry may name more makers, and is None if it does not know the thing.
    """
    if entry is None or dict(entry.made_from) != dict(made_from):
        return False
    return all(entry.by.get(name) == value for name, value in by.items())


def digest(content: str | bytes, digits: int = DIGITS) -> str:
    """The first hex digits of the SHA-256 of a text or of bytes."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    return sha256(content).hexdigest()[:digits]


def parse(text: str, file: str) -> Ledger:
    """A ledger from its text, line by line as :func:`dump` writes it."""
    ledger: Ledger = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = LINE.fullmatch(line)
        entry = _entry(match) if match and match["what"] not in ledger else None
        if match is None or entry is None:
            raise Damaged(file, number, line)
        ledger[match["what"]] = entry
    return ledger


def _entry(match: re.Match[str]) -> Entry | None:
    made_from = dict(pair.split(":") for pair in match["made_from"].split())
    try:
        rest = json.loads(match["rest"] or "{}")
    except (ValueError, RecursionError):
        return None
    by = rest.pop("by", {})
    content = rest.pop("content", None)
    named = isinstance(by, dict) and all(isinstance(v, str) for v in by.values())
    return Entry(made_from, by, content) if named and not rest else None


def dump(ledger: Mapping[str, Entry]) -> str:
    """The text of a ledger, the same for equal ledgers."""
    lines = []
    for what, entry in sorted(ledger.items()):
        rest = {"by": dict(entry.by), "content": entry.content}
        filled = {key: value for key, value in rest.items() if value not in (None, {})}
        parts = [what, *(f"{name}:{value}" for name, value in entry.made_from.items())]
        if filled:
            parts.append(json.dumps(filled, sort_keys=True))
        lines.append(" ".join(parts) + "\n")
    return "".join(lines)


def read(file: Path) -> Ledger:
    """The ledger in a file; empty where there is none."""
    try:
        return parse(file.read_text("utf-8", errors="replace"), file.name)
    except FileNotFoundError:
        return {}


def write(file: Path, ledger: Mapping[str, Entry]) -> None:
    """Put a ledger into a file at once; a file that says the same is left alone."""
    content = dump(ledger).encode()
    if not (file.is_file() and file.read_bytes() == content):
        store(file, content)


@contextmanager
def update(file: Path) -> Iterator[Ledger]:
    """Change a ledger that other processes may change at the same time.

    One that cannot be read begins anew: this is for caches.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        try:
            ledger = read(file)
        except Damaged:
            ledger = {}
        yield ledger
        write(file, ledger)
    finally:
        os.close(folder)


def store(target: Path, content: bytes) -> None:
    """Write a file at once: its readers see the old one or the new one, whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".")
    try:
        with open(handle, "wb") as part:
            part.write(content)
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def store_new(files: Mapping[Path, bytes]) -> None:
    """Write files, none of which may be there."""
    for file in files:
        if file.exists():
            raise FileExistsError(EEXIST, os.strerror(EEXIST), str(file))
    for file, content in files.items():
        store(file, content)
