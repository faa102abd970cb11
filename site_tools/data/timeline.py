"""What changed in verl between two of its releases, and what a user notices.

A file of YAML, ``docs/timeline.yml``, the oldest change first:

    - release: verl 0.5.0        # the first that has it
      before: verl 0.4.1         # the last that has not
      facts: gae_mask            # has places of both releases, which differ
      zh: GAE 跳过不算数的格
      en: GAE skips the slots that do not count
      zh_why: 多轮工具调用的优势变了
      en_why: the advantages of multi-turn runs change
      page: gae/inputs           # the page that explains it
"""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from site_tools.data import records
from site_tools.data.facts import Concept

FILE = "timeline.yml"
RELEASE = (r"verl \d\S*", "a release like verl 0.5.0")
FORMS = {
    "release": RELEASE,
    "before": RELEASE,
    "facts": records.ANY,
    "zh": records.ANY,
    "en": records.ANY,
    "zh_why": records.ANY,
    "en_why": records.ANY,
    "page": records.PAGE,
}
WORDS = ("zh", "en", "zh_why", "en_why")


class Change(NamedTuple):
    """One change, dated by the two releases around it."""

    release: str
    before: str
    facts: str
    zh: str
    en: str
    zh_why: str
    en_why: str
    page: str


def parse(text: str, concepts: Mapping[str, Concept]) -> tuple[Change, ...]:
    """Read ``docs/timeline.yml``.

    Args:
        text: The file.
        concepts: The facts files, by name without suffix.

    Raises:
        ValueError: naming the change, the field, and what to write instead.
    """
    items = records.load(text, FILE)
    if not isinstance(items, list):
        raise ValueError(f"{FILE}: must be a list of changes '- release: verl 0.5.0'")
    changes = [_change(n, item, concepts) for n, item in enumerate(items, 1)]
    for earlier, later in pairwise(changes):
        if version(later.release) < version(earlier.release):
            raise ValueError(
                f"{FILE}: {later.release} ({later.facts}) must stand before "
                f"{earlier.release} ({earlier.facts}); the oldest change comes first"
            )
    return tuple(changes)


def version(release: str) -> tuple[int, ...]:
    """The numbers of a release, to sort by.

    Example:
        >>> version("verl 0.3.0.post1") < version("verl 0.10.0")
        True
    """
    return tuple(map(int, re.findall(r"\d+", release)))


def _change(number: int, item: Any, concepts: Mapping[str, Concept]) -> Change:
    where = f"{FILE}, change {number}"
    if isinstance(item, dict) and item.get("facts"):
        where += f" ({item['facts']})"
    records.check(where, item, FORMS)
    records.check_words(where, item, WORDS)
    change = Change(**item)
    if change.facts not in concepts:
        raise ValueError(f"{where}: there is no docs/facts/{change.facts}.yml")
    if version(change.before) >= version(change.release):
        raise ValueError(
            f"{where}: before must be older than {change.release}, got {change.before}"
        )
    _check_pair(where, change, concepts[change.facts])
    return change


def _check_pair(where: str, change: Change, concept: Concept) -> None:
    """Both releases have places, and no two of them are the same lines."""
    hashes = {}
    for release in (change.before, change.release):
        places = [e for e in concept.entries if e.release == release]
        if not places:
            raise ValueError(
                f"{where}: {concept.name} has no entry of {release}; "
                "add the place that shows what it does"
            )
        hashes[release] = {place.hash for place in places}
    if hashes[change.before] == hashes[change.release]:
        raise ValueError(
            f"{where}: {concept.name} has the same lines of {change.before} and "
            f"{change.release}; add to one of them the place that changed"
        )
