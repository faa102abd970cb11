"""Where links lead: to the other language, to the source, on from where a page was.

``docs/redirects.yml`` says where pages and anchors went that others link to, and
``docs/short.yml`` what the short addresses lead to.
"""

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from site_tools.compile.templates import fill, words
from site_tools.data.rows import plain_yaml
from site_tools.messages import Refusal

REDIRECTS, SHORT = "docs/redirects.yml", "docs/short.yml"
GITHUB = "https://github.com/"
# The branch that has the notebooks as the site has them; pages.yml pushes it.
NOTEBOOK_BRANCH = "notebooks"
# What opens a notebook of a public repository on GitHub, given a file of a branch.
OPENS_NOTEBOOKS = {
    "Colab": "https://colab.research.google.com/github/{}",
    "Kaggle": "https://kaggle.com/kernels/welcome?src=https://github.com/{}",
}
PLACE = re.compile(r"\w+(?:/\w+)*(?:#[\w.-]+)?")
DIALOGUE = re.compile(r"(\d{3})·(\d+)")


class LanguageSite(NamedTuple):
    """One language: what its readers call it, and its folder under the root."""

    name: str
    folder: str


SITES = {"zh": LanguageSite("中文", ""), "en": LanguageSite("English", "en/")}


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


def notebook_file(page: str) -> str:
    """The file of a page's notebook, beside the page: ``gae/inputs/inputs.ipynb``."""
    return f"{address(page)}{posixpath.basename(page)}.ipynb"


class Notebook(NamedTuple):
    """Where the notebook of a page is, and what opens it."""

    file: str  # beside the page
    address: str  # its whole address, or ""
    opened: list[Link]


def find_notebook(page: str, lang: str, home: str, repository: str) -> Notebook:
    """The notebook of a page, where ``home``, the site of its language, has it.

    Both addresses may be "": without a repository on GitHub nothing opens it.
    """
    file = notebook_file(page)
    found = Notebook(posixpath.basename(file), home and home + file, [])
    if repository.startswith(GITHUB):
        branch = f"{repository.removeprefix(GITHUB)}/blob/{NOTEBOOK_BRANCH}/"
        place = branch + SITES[lang].folder + file
        for name, opens in OPENS_NOTEBOOKS.items():
            found.opened.append(Link(name, opens.format(place)))
    return found


def within(target: str, page: str) -> str | None:
    """Where a link of a page leads within its language; None, if it leads elsewhere."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    to = page
    if parts.path:
        file = posixpath.join(posixpath.dirname(page), parts.path)
        to = posixpath.normpath(file).removesuffix(".md")
    anchor = f"#{parts.fragment}" if parts.fragment else ""
    return address(to) + anchor


def anchors(answers: Sequence[object]) -> list[str]:
    """The ids of the dialogues' questions that a page answers: q-004-2 of 004·2."""
    found = (DIALOGUE.fullmatch(str(name)) for name in answers)
    return [f"q-{match[1]}-{match[2]}" for match in found if match]


def relative(href: str, url: str) -> str:
    """The way from a page to an address that begins at the root of its language."""
    path, mark, anchor = href.partition("#")
    return f"{posixpath.relpath(path, posixpath.join('/', url))}/{mark}{anchor}"


def other_language(lang: str, url: str, translated: bool) -> Link:
    there = other(lang)
    return Link(
        SITES[there].name, link(lang, url, there, url if translated else ""), there
    )


def alternates(root: str, url: str, langs: Collection[str]) -> dict[str, str]:
    """The absolute addresses of a page, for search engines, by language.

    ``x-default``, for readers of any other one, is the English page where there is one.
    """
    found = {code: root + SITES[code].folder + url for code in SITES if code in langs}
    return found | {"x-default": found.get("en") or found["zh"]}


def edit_links(
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
    for old, new in moves.items():
        onward = _end_of(new, moves)
        faults = {
            "redirect_circle": onward in moves,
            "redirect_chain": new in moves,
            "redirect_no_page": new.partition("#")[0] not in pages,
            "redirect_still_there": old in pages,
        }
        values = {"file": file, "old": old, "new": new}
        for key in (key for key, holds in faults.items() if holds):
            raise Refusal(key, **values, onward=onward)
    return moves


def _end_of(place: str, moves: Mapping[str, str]) -> str:
    """Where a place leads in the end; one that leads back is still among the moves."""
    for _ in moves:
        place = moves.get(place, place)
    return place


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
    return {old: follow_redirect(new, moves) for old, new in places.items()}


def follow_redirect(place: str, moves: Mapping[str, str]) -> str:
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
    return {follow_redirect(place, moves): number for number, place in places.items()}


def all_moves(root: Path) -> dict[str, str]:
    """Where each page, part and short address leads now."""
    moves, places = (
        plain_yaml(file.read_text("utf-8"), name) or {} if file.exists() else {}
        for name, file in ((name, root / name) for name in (REDIRECTS, SHORT))
    )
    return moves | {old: follow_redirect(new, moves) for old, new in places.items()}


def check_anchors(
    moves: Mapping[str, str],
    anchors: Mapping[str, Collection[str]],
    file: str = REDIRECTS,
) -> None:
    for old, new in moves.items():
        page, _, anchor = new.partition("#")
        if anchor and anchor not in anchors.get(page, [anchor]):
            raise Refusal("redirect_no_anchor", file=file, old=old, new=new)


def moved_parts(
    moves: Mapping[str, str], titles: Mapping[str, str], lang: str, page: str
) -> list[tuple[str, str, str]]:
    """The parts that stood on a page: the id of each, its address now, its title.

    ``titles`` are those of the pages that are written in the language.
    """
    found = []
    for old, new in moves.items():
        here, _, anchor = old.partition("#")
        target = new.partition("#")[0]
        if anchor and here == page and target in titles:
            found.append((anchor, _way(page, new, lang), titles[target]))
    return found


def redirect_stubs(
    moves: Mapping[str, str],
    targets: Mapping[str, Target],
    lang: str,
    home: str = "",
    name: str = "",
) -> dict[str, str]:
    """The files that stand where pages were, by their paths.

    A target may be a part of a page; ``home`` and ``name`` are those of the site.
    """
    files: dict[str, str] = {}
    for old, new in moves.items():
        to = targets.get(new.partition("#")[0])
        if to and "#" not in old:
            card = targets.get(new, to)
            html = fill("page.stub", lang, _way(old, new, lang), card, home, name)
            files[f"{address(old)}index.html"] = html
    return files


def _way(page: str, place: str, lang: str) -> str:
    target, mark, anchor = place.partition("#")
    return link(lang, address(page), lang, address(target)) + mark + anchor
