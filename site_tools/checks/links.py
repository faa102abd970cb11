"""Links within the site: the page and the place on it are there, each place once."""

import difflib
import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from site_tools.checks.shape import Row
from site_tools.page import tree
from site_tools.page.fences import scan
from site_tools.page.front_matter import read_front_matter
from site_tools.page.page import LANGUAGES, Page
from site_tools.page.prose import HEADING, body, line_of
from site_tools.page.rendering import render
from site_tools.problems import Problem
from site_tools.site import article, reference
from site_tools.site.lists import fill_lists

HREF = re.compile(r'<a\b[^>]*?\bhref="([^"]+)"')
MOST_IDS = 8  # named where none is like the one that is not there
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


def check_links(page: Page, html: str, root: Path) -> list[Problem]:
    """Links of a page that lead nowhere, and ids that it has more than once.

    Args:
        page: The page.
        html: What it is rendered to.
        root: The project's folder.
    """
    own = article.page_ids(html, page.texts("answers"))
    rows = [*_twice(page, own), *_names(page, html, root)]
    for href in dict.fromkeys(unescape(link) for link in HREF.findall(html)):
        if ELSEWHERE.match(href):
            continue
        fault = _fault(page, href, own, root)
        rows += [(line, *fault) for line in _lines(page, href) if fault]
    return [Problem(page.path, *row) for row in rows]


def _twice(page: Page, own: list[str]) -> Iterator[Row]:
    for name, count in Counter(own).items():
        if count > 1:
            lines = _lines(page, name, behind=r"[#{]") or [1]
            found = f"the id {name} twice"
            if lines[1:]:
                found = f"the id {name} twice, first at line {lines[0]}"
            yield (
                lines[-1],
                found,
                "an id once",
                "rename one of them, in both languages",
            )


def _names(page: Page, html: str, root: Path) -> Iterator[Row]:
    """Names of the package that it does not have."""
    if "<code>ppo_ref." not in html:
        return
    known = _symbols(root)
    for match in article.NAMED.finditer(html):
        if match["name"] and match["name"] not in known:
            line = min(_lines(page, match["name"], behind="`"), default=1)
            fix = "correct it, or write it without ppo_ref"
            yield line, f"`{match['name']}`", "a name that ppo_ref has", fix


def _fault(
    page: Page, href: str, own: list[str], root: Path
) -> tuple[str, str, str] | None:
    path, _, anchor = href.partition("#")
    found = f"a link to {href}"
    folder = f"docs/{page.language}"
    file = posixpath.join(posixpath.dirname(page.path), unquote(path))
    inside = posixpath.relpath(posixpath.normpath(file), folder) if path else ""
    if path.startswith("/") or (path and not _exists(root, page.language, inside)):
        known = tree_of(root, page.language)
        nearest = difflib.get_close_matches(inside, known, n=1, cutoff=0)
        here = posixpath.dirname(page.path.removeprefix(f"{folder}/"))
        link = posixpath.relpath(nearest[0], here or ".") if nearest else "page.md"
        other = LANGUAGES[1 - LANGUAGES.index(page.language)]
        fix = f"link to {link}, or to another page"
        if not path.startswith("/") and _exists(root, other, inside):
            fix = f"write {folder}/{inside} first, or leave the link out"
        return found, f"the file of a page in {folder}, from this page on", fix
    if not anchor or (path and anchor in _headings(root, page.language, inside)):
        return None
    there = anchors(root, page.language, inside) if path else own
    if anchor in there:
        return None
    near = difflib.get_close_matches(anchor, there) or there[:MOST_IDS] or ["id"]
    these = ", ".join(f"#{name}" for name in near)
    fix = f"link to {these}, or give what is meant this id"
    where = f"{folder}/{inside}" if path else "this page"
    return found, f"an id that {where} has", fix


def _lines(page: Page, text: str, behind: str = r"[(<\s]") -> list[int]:
    """Where an address stands; one that a list made from data brings stands nowhere."""
    written = re.compile(rf"(?<={behind}){re.escape(text)}(?![\w./#-])")
    return [line_of(page.body, match.start()) for match in written.finditer(page.body)]


def _exists(root: Path, lang: str, path: str) -> bool:
    file = root / "docs" / lang / path
    written = ".." not in path and path.endswith(".md") and file.is_file()
    return written or path in _reference(root, lang)


def tree_of(root: Path, lang: str) -> list[str]:
    """The pages of a language, those of the package's reference among them."""
    return sorted([*tree.paths(root / "docs" / lang), *_reference(root, lang)])


def _headings(root: Path, lang: str, path: str) -> set[str]:
    """The ids that a page gives its headings, known without rendering it."""
    file = root / "docs" / lang / path
    text = file.read_text("utf-8-sig", errors="replace") if file.is_file() else ""
    prose = body(text, scan(text, path)[0])
    return {match["id"] for match in HEADING.finditer(prose) if match["id"]}


def anchors(root: Path, lang: str, path: str) -> list[str]:
    """The ids of a page, as ``gae/inputs.md``."""
    if path not in _reference(root, lang):
        text = (root / "docs" / lang / path).read_text("utf-8-sig", errors="replace")
        return _ids(text, lang, root)
    url = path.removesuffix(".md").removesuffix("index").rstrip("/") + "/#"
    known = _symbols(root).values()
    names = [at.removeprefix(url) for at in known if at.startswith(url)]
    return [*_ids(_reference(root, lang)[path], lang, root), *names]


@lru_cache(maxsize=64)
def _ids(text: str, lang: str, root: Path) -> list[str]:
    answers = read_front_matter(text, "")[0].get("answers") or ()
    return article.page_ids(fill_lists(render(text, root), root), answers)


# The package is not edited while pages are checked.
@lru_cache(maxsize=4)
def _reference(root: Path, lang: str) -> dict[str, str]:
    return reference.pages(reference.read(root / reference.FOLDER), lang)


@lru_cache(maxsize=2)
def _symbols(root: Path) -> dict[str, str]:
    return article.symbols(reference.read(root / reference.FOLDER))
