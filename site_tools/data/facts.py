"""Framework facts: the line of a release that says it, held by a hash of that line.

A file of docs/facts is one concept: a YAML list, each entry one place in one
release; a config default has ``key`` and ``default`` instead of ``quote``.

    - release: verl 0.9.1                     # or owner/name@sha, in no wheel
      path: verl/workers/utils/padding.py
      lines: 138                              # or 136-138
      hash: 9cf6e368c090                      # line_hash of those lines
      quote: "values[seq_offset - resp_len - 1 : seq_offset - 1]"
"""

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from typing import Any, NamedTuple

import yaml

FORMS = {
    "release": (r"\S+ \d\S*|\S+/\S+@[0-9a-f]{7,}", "name version or owner/name@sha"),
    "path": (r"[^/\s]\S*", "a path inside the release, without leading /"),
    "lines": (r"[1-9]\d*(-[1-9]\d*)?", "a line number, or first-last like 93-95"),
    "hash": (r"[0-9a-f]{12}", "12 hex digits"),
    "quote": (r".{1,80}", "a piece of one line, at most 80 characters"),
    "key": (r"[\w.]+", "a dotted config key"),
    "default": (r".+", "the value the config file gives"),
}


class Entry(NamedTuple):
    """One place in one release; ``default`` is the YAML text of the value."""

    release: str
    path: str
    lines: str
    hash: str
    quote: str = ""
    key: str = ""
    default: str = ""

    @property
    def place(self) -> str:
        """Release, path and lines, as readers see them."""
        return f"{self.release} · {self.path}:{self.lines}"

    @property
    def checked(self) -> bool:
        """Whether a wheel has it, so that a test reads it again."""
        return "@" not in self.release


class Concept(NamedTuple):
    """All entries of one facts file, in its order."""

    name: str
    entries: tuple[Entry, ...]


def parse(text: str, name: str) -> Concept:
    """Read a facts file.

    Raises:
        ValueError: naming the file, the entry and the field that is wrong.
    """
    try:
        # BaseLoader leaves scalars as text: a hash may be all digits
        items = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise ValueError(f'{name}: must be YAML, quote: "in marks"; {error}') from error
    if not isinstance(items, list) or not all(isinstance(i, dict) for i in items):
        raise ValueError(f"{name}: must be a list of entries '- release: ...'")
    entries = [_entry(f"{name}, entry {n}", item) for n, item in enumerate(items, 1)]
    return Concept(name, tuple(entries))


def line_hash(lines: Iterable[str]) -> str:
    r"""First 12 hex digits of the sha256 of the lines joined by ``\n``.

    Example:
        >>> line_hash(["  gamma: 1.0"])
        '3dd56c2e29fa'
    """
    return sha256("\n".join(lines).encode()).hexdigest()[:12]


def verify(entry: Entry, text: str) -> str | None:
    """What is wrong with an entry, read against its file, and what to write instead."""
    misstated = entry.key and _misstated(entry, text)
    problems = _misplaced(entry, text.split("\n")), misstated
    found = "; ".join(filter(None, problems))
    return f"{entry.place}: {found}" if found else None


def render(concept: Concept, release: str) -> str:
    """A ``<p class="fact">`` per entry; ``fact unchecked`` if it is in no wheel.

    Raises:
        ValueError: if the concept has no entry of that release.
    """
    entries = [entry for entry in concept.entries if entry.release == release]
    if not entries:
        known = ", ".join(dict.fromkeys(entry.release for entry in concept.entries))
        raise ValueError(f"{concept.name}: release must be in {known}, got {release}")
    return "\n".join(map(_paragraph, entries))


def _entry(where: str, item: dict[str, Any]) -> Entry:
    where = f"{where} ({item.get('release', 'no release')})"
    wanted = {"release", "path", "lines", "hash"}
    wanted |= {"key", "default"} if "key" in item else {"quote"}
    for field in sorted(item.keys() ^ wanted):
        state = "is missing" if field in wanted else "does not belong here"
        raise ValueError(f"{where}: {field} {state}; write {', '.join(sorted(wanted))}")
    for field, value in item.items():
        form, meaning = FORMS[field]
        if not isinstance(value, str) or not re.fullmatch(form, value):
            raise ValueError(f"{where}: {field} must be {meaning}, got {value!r}")
    return Entry(**item)


def _misplaced(entry: Entry, lines: list[str]) -> str:
    first, _, last = entry.lines.partition("-")
    size = max(1, int(last or first) - int(first) + 1)
    hashes = {n + 1: line_hash(lines[n : n + size]) for n in range(len(lines))}
    spans = {n: f"{n}-{n + size - 1}" if size > 1 else str(n) for n in hashes}
    landmark = entry.quote or entry.key.rpartition(".")[2] + ":"
    if (entry.lines, entry.hash) in ((spans[n], hashes[n]) for n in hashes):
        quoted = any(landmark in line for line in lines[int(first) - 1 :][:size])
        return "" if quoted else f"{landmark!r} is not on these lines"
    found = [n for n, each in hashes.items() if each == entry.hash]
    found = found or [n for n in hashes if landmark in lines[n - 1]]
    if not found:
        return f"other lines stand there, and {landmark!r} is nowhere in the file"
    choices = " or ".join(f"lines: {spans[n]} hash: {hashes[n]}" for n in found)
    return f"other lines stand there; write {choices}"


def _misstated(entry: Entry, text: str) -> str:
    config = yaml.safe_load(text)
    for part in entry.key.split("."):
        if not isinstance(config, dict) or part not in config:
            return f"{entry.key} is not in the file"
        config = config[part]
    found = json.dumps(config)
    same = found == json.dumps(yaml.safe_load(entry.default))
    return "" if same else f"{entry.key} is {found} there; write default: {found}"


def _paragraph(entry: Entry) -> str:
    code = f"{entry.key}: {entry.default}" if entry.key else entry.quote
    kind = "fact" if entry.checked else "fact unchecked"
    return f'<p class="{kind}">{escape(entry.place)} <code>{escape(code)}</code></p>'
