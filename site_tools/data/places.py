"""The place that a fact names, read again in the file of its release."""

import json
from collections.abc import Iterable
from hashlib import sha256

import yaml

from site_tools.data.facts import Entry
from site_tools.page.yaml_limits import limit


def line_hash(lines: Iterable[str]) -> str:
    r"""First 12 hex digits of the sha256 of the lines joined by ``\n``.

    Example:
        >>> line_hash(["  gamma: 1.0"])
        '3dd56c2e29fa'
    """
    return sha256("\n".join(lines).encode()).hexdigest()[:12]


def verify(entry: Entry, text: str) -> str | None:
    """What is wrong with an entry, read against its file, and what to write instead."""
    found = "; ".join(faults(entry, text))
    return f"{entry.place}: {found}" if found else None


def faults(entry: Entry, text: str) -> list[str]:
    """The same as a list, without its place; what to write stands behind a ``;``."""
    default = misstated(entry, text) if entry.key else ""
    return [*filter(None, (_misplaced(entry, text.split("\n")), default))]


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


def misstated(entry: Entry, text: str) -> str:
    """What is wrong with the default that an entry gives, or an empty string."""
    config = yaml.safe_load(text)
    for part in entry.key.split("."):
        if not isinstance(config, dict) or part not in config:
            return f"{entry.key} is not in the file"
        config = config[part]
    found = json.dumps(config)
    limit(entry.default)
    same = found == json.dumps(yaml.safe_load(entry.default))
    return "" if same else f"{entry.key} is {found} there; write default: {found}"
