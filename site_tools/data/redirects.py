"""``docs/redirects.yml``: where pages and anchors went that others link to."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

import yaml

from site_tools.page.front_matter import StrictLoader
from site_tools.page.yaml_limits import limit

PLACE = re.compile(r"(?P<page>\w+(?:/\w+)*)(?:#(?P<anchor>[\w.-]+))?")


class Place(NamedTuple):
    """A page by its path without suffix, and an anchor on it or ``""``."""

    page: str
    anchor: str

    def __str__(self) -> str:
        return f"{self.page}#{self.anchor}" if self.anchor else self.page


Redirects = dict[Place, Place]


def parse(text: str, pages: Collection[str]) -> Redirects:
    """Read the file, and hold it to the pages that there are.

    Args:
        text: A mapping from old places to new ones.
        pages: Paths without suffix of the pages of every language.

    Raises:
        ValueError: naming the place, what must hold and the remedy.

    Example:
        >>> moves = parse("gae/old: gae/new", {"gae/new"})
        >>> [(str(old), str(new)) for old, new in moves.items()]
        [('gae/old', 'gae/new')]
    """
    try:
        limit(text)
        rows = yaml.load(text, Loader=StrictLoader) or {}
    except yaml.YAMLError as error:
        raise ValueError(f"redirects.yml: must be YAML, got {error}") from None
    if not isinstance(rows, dict):
        raise ValueError("redirects.yml: must hold lines of the form old: new")
    moves = {_place(old): _place(new) for old, new in rows.items()}
    for old, new in moves.items():
        if fault := _fault(old, new, moves, pages):
            raise ValueError(f"redirects.yml: {old}: {fault}")
    return moves


def _place(text: object) -> Place:
    match = PLACE.fullmatch(str(text))
    if match is None:
        raise ValueError(
            f"redirects.yml: a place must be folder/page or folder/page#anchor, "
            f"got {text}"
        )
    return Place(match["page"], match["anchor"] or "")


def _fault(
    old: Place, new: Place, moves: Redirects, pages: Collection[str]
) -> str | None:
    if new in moves:
        return f"{new} is itself redirected; lead to where that goes, {moves[new]}"
    if new.page not in pages:
        return f"must lead to a page that exists, got {new.page}"
    if old.anchor and old.page not in pages:
        return f"no page {old.page} that it could stand on; redirect the page"
    if not old.anchor and old.page in pages:
        return "the page still exists; take the line away, or the page"
    return None


def check_anchors(moves: Redirects, anchors: Mapping[str, Collection[str]]) -> None:
    """Hold redirects to the anchors that the pages of one language have.

    Args:
        moves: What :func:`parse` gives.
        anchors: The ids on each page, by its path; a page that is missing is not
            written in this language.

    Raises:
        ValueError: if a target is missing, or an old anchor is still there.
    """
    for old, new in moves.items():
        if new.anchor and new.anchor not in anchors.get(new.page, [new.anchor]):
            raise ValueError(
                f"redirects.yml: {old}: {new.page} must have the anchor {new.anchor}, "
                "which it has not; name one of its ids"
            )
        if old.anchor in anchors.get(old.page, ()):
            raise ValueError(
                f"redirects.yml: {old}: the anchor is still there; take the line away"
            )
