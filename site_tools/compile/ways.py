"""Where links lead: to the other language, to the source, on from where a page was.

``docs/redirects.yml`` says where pages and anchors went that others link to, and
``docs/short.yml`` what the short addresses lead to.
"""

import posixpath
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

from site_tools.compile.templates import fill, words
from site_tools.data.rows import plain_yaml
from site_tools.messages import Refusal

REDIRECTS, SHORT = "docs/redirects.yml", "docs/short.yml"
PLACE = re.compile(r"\w+(?:/\w+)*(?:#[\w.-]+)?")
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


class Target(NamedTuple):
    """A page or a part of one, as a share card has it."""

    url: str
    title: str
    about: str = ""


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


def redirects(
    text: str, pages: Collection[str], file: str = REDIRECTS
) -> dict[str, str]:
    """Read ``docs/redirects.yml``, held to the paths without suffix of all pages.

    A place is the path of a page, and maybe an anchor on it, as in ``gae/inputs#why``.
    """
    moves = plain_yaml(text, file) or {}
    if not isinstance(moves, dict):
        raise Refusal("redirect_rows", place=f"{file}:1")
    for old, new in moves.items():
        for place in (old, new):
            if not PLACE.fullmatch(str(place)):
                raise Refusal("redirect_place", file=file, text=place)
        faults = {
            "redirect_chain": new in moves,
            "redirect_no_page": new.partition("#")[0] not in pages,
            "redirect_still_there": old in pages,
        }
        values = {"file": file, "old": old, "new": new}
        for key in (key for key, holds in faults.items() if holds):
            raise Refusal(key, **values, onward=moves.get(new, ""))
    return moves


def short(
    text: str, pages: Collection[str], moves: Mapping[str, str]
) -> dict[str, str]:
    """Read ``docs/short.yml``: ``q/1: gae/inputs``, and so on without a gap.

    A line is never changed. Where its page has moved, the redirects say whereto.
    """
    places = redirects(text, {*pages, *moves}, SHORT)
    due = [f"q/{number}" for number in range(1, len(places) + 1)]
    for old, expected in zip(places, due, strict=True):
        if old != expected:
            raise Refusal("short_order", file=SHORT, due=expected, got=old)
    return {old: onward(new, moves) for old, new in places.items()}


def onward(place: str, moves: Mapping[str, str]) -> str:
    """Where a place is now: its page may have moved, or its part alone."""
    page, mark, anchor = place.partition("#")
    return moves.get(place) or moves.get(page, page) + mark + anchor


def addresses(root: Path) -> dict[str, str]:
    """The short address of each place that has one, as ``q/17``."""
    files = [root / file for file in (SHORT, REDIRECTS)]
    return _addresses(*(f.read_text("utf-8") if f.exists() else "" for f in files))


@lru_cache(maxsize=1)  # every page asks for its own
def _addresses(short: str, redirects: str) -> dict[str, str]:
    moves = plain_yaml(redirects, REDIRECTS) or {}
    places = plain_yaml(short, SHORT) or {}
    return {onward(place, moves): number for number, place in places.items()}


def check_anchors(
    moves: Mapping[str, str],
    anchors: Mapping[str, Collection[str]],
    file: str = REDIRECTS,
) -> None:
    for old, new in moves.items():
        page, _, anchor = new.partition("#")
        if anchor and anchor not in anchors.get(page, [anchor]):
            raise Refusal("redirect_no_anchor", file=file, old=old, new=new)


def led_on(
    moves: Mapping[str, str],
    targets: Mapping[str, Target],
    lang: str,
    home: str = "",
    name: str = "",
) -> tuple[dict[str, str], dict[str, str]]:
    """The files that stand where pages were, and what pages begin with, by their paths.

    A target may be a part of a page; ``home`` and ``name`` are those of the site. What
    a page begins with is unseen unless a reader was sent to an anchor that moved.
    """
    files: dict[str, str] = {}
    beginnings: dict[str, str] = {}
    for old, new in moves.items():
        (page, _, moved), (target, mark, anchor) = (
            p.partition("#") for p in (old, new)
        )
        if target not in targets or (moved and page not in targets):
            continue  # not written in this language
        to = targets[target]
        url = targets[page].url if page in targets else address(page)
        href = link(lang, url, lang, to.url) + mark + anchor
        if moved:
            html = fill("page.moved", lang, moved, href, to.title)
            beginnings[page] = beginnings.get(page, "") + html
        else:
            card = targets.get(new, to)
            files[f"{url}index.html"] = fill("page.stub", lang, href, card, home, name)
    return files, beginnings


def name_landmarks(html: str) -> str:
    return GROUP.sub(r'aria-labelledby="\1_title"\2 id="\1_title" for=', html)
