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


def without_account(page: str, title: str, lang: str) -> dict[str, str]:
    """The same report as text, to be filled in and passed on to who has an account."""
    w = words(lang)
    return {
        "question": w["no_account"],
        "advice": w["without_account"],
        "report": w["report_form"].format(page=page, title=title),
    }


def stubs(moves: Redirects, pages: Mapping[str, Target], lang: str) -> dict[str, str]:
    """The files that stand where pages were, by their path in the site."""
    made = {}
    for old, new in moves.items():
        if not old.anchor and new.page in pages:
            url, to = address(old.page), pages[new.page]
            html = fill("page.stub", lang, _moved(url, to, new.anchor, lang), to.title)
            made[f"{url}index.html"] = html
    return made


def moved_parts(
    moves: Redirects, pages: Mapping[str, Target], lang: str
) -> dict[str, str]:
    """What to put before each page from which anchors moved, by the page's path.

    It is unseen unless a reader was sent to that anchor.
    """
    made: dict[str, str] = {}
    for old, new in moves.items():
        if old.anchor and old.page in pages and new.page in pages:
            to = pages[new.page]
            href = _moved(pages[old.page].url, to, new.anchor, lang)
            html = fill("page.moved", lang, old.anchor, href, to.title)
            made[old.page] = made.get(old.page, "") + html
    return made


def _moved(url: str, to: Target, anchor: str, lang: str) -> str:
    return link(lang, url, lang, to.url) + (f"#{anchor}" if anchor else "")


def name_landmarks(html: str) -> str:
    """A page whose groups in the navigation are named by their titles."""
    return GROUP.sub(r'aria-labelledby="\1_title"\2 id="\1_title" for=', html)
