"""Where links lead: to the other language, to the source, on from where a page was."""

import posixpath
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple
from urllib.parse import quote, urlencode

from site_tools.data.redirects import Redirects
from site_tools.site.templates import fill, words

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
    """Words, where they lead, and in which language that is."""

    words: str
    href: str
    lang: str = ""


class Target(NamedTuple):
    """A page: its address within the site of its language, and its title."""

    url: str
    title: str


def other(lang: str) -> str:
    """The language that a page is not in."""
    return next(code for code in SITES if code != lang)


def link(lang: str, url: str, to: str, target: str) -> str:
    """The relative address of the page ``target`` of the language ``to``.

    Addresses are within the site of a language, ``""`` is its home.

    Example:
        >>> link("en", "about/status/", "zh", "gae/inputs/")
        '../../../gae/inputs/'
    """
    start = posixpath.dirname(f"/{SITES[lang].folder}{url}")
    path = SITES[to].folder + target
    href = posixpath.relpath(f"/{path}", start)
    return f"{href}/" if not path or path.endswith("/") else href


def address(page: str) -> str:
    """The address of a page below the root of its language, by its id.

    Example:
        >>> address("gae/inputs"), address("gae/index"), address("index")
        ('gae/inputs/', 'gae/', '')
    """
    folder, name = posixpath.split(page)
    path = folder if name == "index" else page
    return f"{path}/" if path else ""


def relative(html: str, url: str) -> str:
    """Make links that begin at the root of the language work at any address.

    Example:
        >>> relative('<a href="/gae/inputs/#why">', "debug/wrong_answers/")
        '<a href="../../gae/inputs/#why">'
    """
    here = posixpath.join("/", url)
    return ROOTED.sub(
        lambda at: f"{at[1]}{posixpath.relpath('/' + at[2], here)}/", html
    )


def twin(lang: str, url: str, translated: bool) -> Link:
    """The link from a page to its twin, or to the other home if it has none."""
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

    A source is ``zh``, ``en`` or ``code``, and its path. While the repository has no
    address there are no links.
    """
    if not repository:
        return []
    root, w = repository.rstrip("/"), words(lang)
    form = {"template": f"sentence_{lang}.yml", "title": title, "page": page}
    asked = urlencode(form | {"language": lang}, quote_via=quote, safe="")
    return [
        *(
            Link(w[f"edit_{kind}"], f"{root}/edit/main/{path}")
            for kind, path in sources
        ),
        Link(w["report"], f"{root}/issues/new?{asked}"),
    ]


def led_on(
    moves: Redirects, pages: Mapping[str, Target], lang: str
) -> tuple[dict[str, str], dict[str, str]]:
    """The files that stand where pages were, and what pages begin with, by their paths.

    What a page begins with is unseen unless a reader was sent to an anchor that moved.
    """
    files: dict[str, str] = {}
    beginnings: dict[str, str] = {}
    for old, new in moves.items():
        here, to = pages.get(old.page), pages.get(new.page)
        if to is None or (old.anchor and here is None):
            continue  # not written in this language
        url = here.url if here else address(old.page)
        anchor = f"#{new.anchor}" if new.anchor else ""
        href = link(lang, url, lang, to.url) + anchor
        if old.anchor:
            html = fill("page.moved", lang, old.anchor, href, to.title)
            beginnings[old.page] = beginnings.get(old.page, "") + html
        else:
            files[f"{url}index.html"] = fill("page.stub", lang, href, to.title)
    return files, beginnings


def name_landmarks(html: str) -> str:
    """A page whose groups in the navigation are named by their titles."""
    return GROUP.sub(r'aria-labelledby="\1_title"\2 id="\1_title" for=', html)
