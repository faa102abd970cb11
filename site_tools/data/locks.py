"""Lock files: what a page said in both languages when somebody called them equal.

A file of docs/locks is one page, a line a section, sorted by section, so that two
changes of different sections merge without a conflict:

    answer zh:9cf6e368c090 en:b5af38dfde76
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from site_tools.problems import Problem

LINE = re.compile(r"(?P<section>\S+) zh:(?P<zh>[0-9a-f]{12}) en:(?P<en>[0-9a-f]{12})")
FORM = "section zh:<12 hex digits> en:<12 hex digits>, each section once"


class Pair(NamedTuple):
    """The hashes of one section in both languages."""

    zh: str
    en: str


Lock = Mapping[str, Pair]


def lock_path(page: str) -> str:
    """Where the lock of a page lies.

    Example:
        >>> lock_path("gae/inputs")
        'docs/locks/gae/inputs.txt'
    """
    return f"docs/locks/{page}.txt"


def digest(words: str) -> str:
    """First 12 hex digits of the sha256 of the words of a section.

    Example:
        >>> digest("")
        'e3b0c44298fc'
    """
    return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def lock_of(zh: Mapping[str, str], en: Mapping[str, str]) -> Lock:
    """The lock of a page whose words are these in the two languages."""
    return {
        section: Pair(digest(zh.get(section, "")), digest(en.get(section, "")))
        for section in sorted({*zh, *en})
    }


def write(lock: Lock) -> str:
    """The text of a lock file.

    Example:
        >>> write({"why": Pair("9cf6e368c090", "b5af38dfde76")})
        'why zh:9cf6e368c090 en:b5af38dfde76\\n'
    """
    return "".join(
        f"{section} zh:{pair.zh} en:{pair.en}\n"
        for section, pair in sorted(lock.items())
    )


def parse(text: str, page: str) -> Lock:
    """Read the lock file of a page.

    Raises:
        ValueError: whose argument is the ``Problem`` with the first bad line.
    """
    lock: dict[str, Pair] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = LINE.fullmatch(line)
        if match is None or match["section"] in lock:
            fix = f"compare the languages, then write it anew: make agree PAGE={page}"
            raise ValueError(Problem(lock_path(page), number, line, FORM, fix))
        lock[match["section"]] = Pair(match["zh"], match["en"])
    return lock
