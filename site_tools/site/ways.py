"""Where links lead: to the other language, to the source, on from where a page was.

``docs/redirects.yml`` says where pages and anchors went that others link to.
"""

import posixpath
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple
from urllib.parse import quote, urlencode

import yaml

from site_tools.data.rows import load, pairs
from site_tools.say import Refusal
from site_tools.site.templates import fill, words

REDIRECTS = "docs/redirects.yml"
PLACE = re.compile(r"(?P<page>\w+(?:/\w+)*)(?:#(?P<anchor>[\w.-]+))?")
ROOTED = re.compile(r'(<a\b[^>]*?\bhref=")/([^"#]*)')
# The theme names a group of pages by the label that opens it. Where the group has a
# page of its own that label is an arrow without a word; the title inside has one.
GROUP = re.compile(
    r'aria-labelledby="(\w+)_label"([^>]*>\s*<label class="md-nav__title") for='
)


class Site(NamedTuple):
    """One language: what its readers call it, and its folder under the root."""

    name: str
    folder: str


SITES = {"zh": Site("中文", ""), "en": Site("English", "en/")}


class Link(NamedTuple):
    words: str
    href: str
    lang: str = ""


def other(lang: str) -> str:
    return next(code for code in SITES if code != lang)


def link(lang: str, url: str, to: str, target: str) -> str:
    """The relative address of the page ``target`` of the language ``to``.

    Addresses are within the site of a language, ``""`` is its home.
    """
    start = posixpath.dirname(f"/{SITES[lang].folder}{url}")
    path = SITES[to].folder + target
    href = posixpath.relpath(f"/{path}", start)
    return f"{href}/" if not path or path.endswith("/") else href


def address(page: str) -> str:
    folder, name = posixpath.split(page)
    path = folder if name == "index" else page
    return f"{path}/" if path else ""


def relative(html: str, url: str) -> str:
    """Make links that begin at the root of the language work at any address."""
    here = posixpath.join("/", url)
    return ROOTED.sub(
        lambda at: f"{at[1]}{posixpath.relpath('/' + at[2], here)}/", html
    )


def twin(lang: str, url: str, translated: bool) -> Link:
    there = other(lang)
    return Link(SITES[there].name, link(lang, url, there, url * translated), there)


def alternates(root: str, url: str, langs: Collection[str]) -> dict[str, str]:
    """The absolute addresses of a page, for search engines, by language.

    ``x-default``, for readers of any other one, is the English page where there is one.
    """
    found = {code: root + SITES[code].folder + url for code in SITES if code in langs}
    return found | {"x-default": found.get("en") or found["zh"]}


def edits(
    repository: str,
    sources: Collection[tuple[str, str]],
    page: str,
    title: str,
    lang: str,
) -> list[Link]:
    """A link to edit each source of a page, and one to report what is wrong with it.

    A source is ``zh``, ``en`` or ``code``, and its path.
    """
    if not repository:
        return []
    root, w = repository.rstrip("/"), words(lang)
    form = {"template": f"sentence_{lang}.yml", "title": title, "page": page}
    asked = urlencode(form | {"language": lang}, quote_via=quote, safe="")
    edits = [Link(w[f"edit_{kind}"], f"{root}/edit/main/{at}") for kind, at in sources]
    return [*edits, Link(w["report"], f"{root}/issues/new?{asked}")]


class Place(NamedTuple):
    """A page by its path without suffix, and an anchor on it or ``""``."""

    page: str
    anchor: str

    def __str__(self) -> str:
        return f"{self.page}#{self.anchor}" if self.anchor else self.page


Redirects = dict[Place, Place]


def redirects(text: str, pages: Collection[str]) -> Redirects:
    """Read ``docs/redirects.yml``, held to the paths without suffix of all pages."""
    node = load(text, REDIRECTS)
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise Refusal("redirect_rows", place=f"{REDIRECTS}:1")
    rows = pairs(node, REDIRECTS)
    moves = {_place(old): _place(new.value) for old, new in rows.items()}
    for old, new in moves.items():
        faults = {
            "redirect_chain": new in moves,
            "redirect_no_page": new.page not in pages,
            "redirect_still_there": not old.anchor and old.page in pages,
        }
        values = {"file": REDIRECTS, "old": old, "new": new}
        for key in (key for key, holds in faults.items() if holds):
            raise Refusal(key, **values, onward=moves.get(new, ""))
    return moves


def _place(text: object) -> Place:
    match = PLACE.fullmatch(str(text))
    if match is None:
        raise Refusal("redirect_place", file=REDIRECTS, text=text)
    return Place(match["page"], match["anchor"] or "")


def check_anchors(moves: Redirects, anchors: Mapping[str, Collection[str]]) -> None:
    for old, new in moves.items():
        if new.anchor and new.anchor not in anchors.get(new.page, [new.anchor]):
            raise Refusal("redirect_no_anchor", file=REDIRECTS, old=old, new=new)


def led_on(
    moves: Redirects, pages: Mapping[str, tuple[str, str]], lang: str
) -> tuple[dict[str, str], dict[str, str]]:
    """The files that stand where pages were, and what pages begin with, by their paths.

    ``pages`` have their address and their title. What a page begins with is unseen
    unless a reader was sent to an anchor that moved.
    """
    files: dict[str, str] = {}
    beginnings: dict[str, str] = {}
    for old, new in moves.items():
        here, to = pages.get(old.page), pages.get(new.page)
        if to is None or (old.anchor and here is None):
            continue  # not written in this language
        url = here[0] if here else address(old.page)
        anchor = f"#{new.anchor}" if new.anchor else ""
        href = link(lang, url, lang, to[0]) + anchor
        if old.anchor:
            html = fill("page.moved", lang, old.anchor, href, to[1])
            beginnings[old.page] = beginnings.get(old.page, "") + html
        else:
            files[f"{url}index.html"] = fill("page.stub", lang, href, to[1])
    return files, beginnings


def name_landmarks(html: str) -> str:
    return GROUP.sub(r'aria-labelledby="\1_title"\2 id="\1_title" for=', html)
