"""``docs/redirects.yml``: where pages and anchors went that others link to."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

import yaml

from site_tools.data.rows import load, pairs
from site_tools.say import Refusal

FILE = "docs/redirects.yml"
PLACE = re.compile(r"(?P<page>\w+(?:/\w+)*)(?:#(?P<anchor>[\w.-]+))?")


class Place(NamedTuple):
    """A page by its path without suffix, and an anchor on it or ``""``."""

    page: str
    anchor: str

    def __str__(self) -> str:
        return f"{self.page}#{self.anchor}" if self.anchor else self.page


Redirects = dict[Place, Place]


def parse(text: str, pages: Collection[str]) -> Redirects:
    """Read the file, and hold it to the paths without suffix of all pages."""
    node = load(text, FILE)
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise Refusal("redirect_rows", place=f"{FILE}:1")
    rows = pairs(node, FILE)
    moves = {_place(old): _place(new.value) for old, new in rows.items()}
    for old, new in moves.items():
        faults = {
            "redirect_chain": new in moves,
            "redirect_no_page": new.page not in pages,
            "redirect_still_there": not old.anchor and old.page in pages,
        }
        for key in (key for key, holds in faults.items() if holds):
            raise Refusal(key, file=FILE, old=old, new=new, onward=moves.get(new, ""))
    return moves


def _place(text: object) -> Place:
    match = PLACE.fullmatch(str(text))
    if match is None:
        raise Refusal("redirect_place", file=FILE, text=text)
    return Place(match["page"], match["anchor"] or "")


def check_anchors(moves: Redirects, anchors: Mapping[str, Collection[str]]) -> None:
    """Hold redirects to the ids on each page that is written in a language."""
    for old, new in moves.items():
        if new.anchor and new.anchor not in anchors.get(new.page, [new.anchor]):
            raise Refusal("redirect_no_anchor", file=FILE, old=old, new=new)
