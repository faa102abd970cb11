"""Ledgers of what was made, and from what; and files written whole or not at all.

Two ledgers are kept: of the pages that passed, and of the stored training runs. A
ledger is a text file with a line for each thing, sorted, so that two changes of
different lines merge without a conflict:

    gae/inputs page:0a6ecf04 torch:2.13.0 {"date": "2026-11-24"}

Behind the name of the thing stands what it was made from: it is fresh while that is
the same. Behind this, as JSON, stands what else is known of it, if anything is.
"""

import fcntl
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EEXIST
from hashlib import sha256
from pathlib import Path
from typing import Any

from site_tools.messages import Refusal

LEDGER_LINE = re.compile(
    r"(?P<what>\S+)(?P<made_from>(?: [\w-]+:[^\s:]+)+)(?: (?P<known>\{.*\}))?"
)
HASH_DIGITS = 16


@dataclass(frozen=True)
class Made:
    """A thing that was made: from what, and what else is known of it, as JSON."""

    made_from: Mapping[str, str]
    known: Any = None


Ledger = dict[str, Made]


class Damaged(Refusal):
    """A line of a ledger that cannot be read."""


def fresh(entry: Made | None, made_from: Mapping[str, str]) -> bool:
    """True if a ledger knows a thing, and as made from exactly this."""
    return entry is not None and dict(entry.made_from) == dict(made_from)


def digest(content: str | bytes, digits: int = HASH_DIGITS) -> str:
    """The first hex digits of the SHA-256 of a text or of bytes."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    return sha256(content).hexdigest()[:digits]


def parse_ledger(text: str, file: str) -> Ledger:
    """A ledger from its text, line by line as :func:`ledger_text` writes it."""
    ledger: Ledger = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = LEDGER_LINE.fullmatch(line)
        entry = _entry(match) if match and match["what"] not in ledger else None
        if match is None or entry is None:
            told = {"file": file, "line": number, "text": line[:80]}
            raise Damaged("ledger_damaged", **told)
        ledger[match["what"]] = entry
    return ledger


def _entry(match: re.Match[str]) -> Made | None:
    made_from = dict(pair.split(":") for pair in match["made_from"].split())
    if not match["known"]:
        return Made(made_from)
    try:
        return Made(made_from, json.loads(match["known"]))
    except (ValueError, RecursionError):
        return None


def ledger_text(ledger: Mapping[str, Made]) -> str:
    """The text of a ledger, the same for equal ledgers."""
    lines = []
    for what, entry in sorted(ledger.items()):
        parts = [what]
        for name, value in entry.made_from.items():
            parts.append(f"{name}:{value}")
        if entry.known is not None:
            parts.append(json.dumps(entry.known, sort_keys=True))
        lines.append(" ".join(parts) + "\n")
    return "".join(lines)


def read_ledger(file: Path) -> Ledger:
    """The ledger in a file; empty where there is none."""
    try:
        return parse_ledger(file.read_text("utf-8", errors="replace"), file.name)
    except FileNotFoundError:
        return {}


def write(file: Path, ledger: Mapping[str, Made]) -> None:
    """Put a ledger into a file at once; a file that says the same is left alone."""
    content = ledger_text(ledger).encode()
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
            ledger = read_ledger(file)
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


def store_all(files: Mapping[Path, bytes | None]) -> None:
    """Write files whole, and remove those with None: all of them, or none.

    Whatever ends it, what was done is undone.
    """
    before = dict[Path, bytes | None]()
    for file in files:
        before[file] = file.read_bytes() if file.is_file() else None
    done = list[Path]()
    try:
        for file, content in files.items():
            done.append(file)
            _put(file, content)
    except BaseException:
        for file in reversed(done):
            _put(file, before[file])
        raise


def _put(file: Path, content: bytes | None) -> None:
    """Write a file, or see to it that there is none."""
    if content is None:
        file.unlink(missing_ok=True)
    elif not (file.is_file() and file.read_bytes() == content):
        store(file, content)
