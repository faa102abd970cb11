"""Links within the site: the page and the place on it are there, each place once.

The strict build of the site refuses dead links as well; here they are told with their
line and the nearest page or id.
"""

import difflib
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from bs4 import BeautifulSoup

from site_tools.compile import links, reference
from site_tools.data.corrections import read_corrections
from site_tools.judge.identities import FORMULA_ID
from site_tools.judge.shown import shown_tree
from site_tools.messages import Message, Problem, problem
from site_tools.page.page import Page, read_page
from site_tools.source import files
from site_tools.source.content import line_of, read_content

MOST_IDS = 8  # named where none is like the one that is not there
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
# A link of another page, or a line of its list of wrong answers.
INCOMING = re.compile(
    r"\]\(<?(?P<file>[\w./-]+)\.md#(?P<anchor>[^\s)>]+)"
    r"|^(?P<page>\w+/\w+)#(?P<id>[\w-]+)$",
    re.M,
)
PACKAGE_NAME = re.compile(r"ppo_ref(?:\.\w+)+")
# Where the name of a part of the package is no link.
INERT = ("a", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "pre")


def check_links(page: Page, shown: BeautifulSoup) -> Iterator[Problem]:
    """Links of a rendered page that lead nowhere, ids it has twice, unknown names."""
    own = ids_of(shown, page.texts("answers"))
    yield from _lost(page, own)
    for name, count in Counter(own).items():
        if count > 1:
            lines = _places_of(page, "[#{]", name) or [1]
            yield page.problem(lines[-1], "id_twice", name=name, first=lines[0])
    tags = {str(tag["href"]): tag for tag in page.tree.select("a[href]")}
    for href, tag in tags.items():
        lines = _places_of(page, r"[(<\s]", href) or [page.line_of(tag)]
        yield from _dead(page, href, own, lines)
    for name in _unknown_names(page.root, shown):
        for line in _places_of(page, "`", name) or [1]:
            yield page.problem(line, "name_unknown", name=name)


def ids_of(shown: BeautifulSoup, answers: Sequence[object]) -> list[str]:
    """Every id of a page as readers get it, also of its questions and formulas."""
    asked = links.anchors(answers) if shown.find("h2", id="answer") else []
    written = [str(tag["id"]) for tag in shown.select("[id]")]
    formulas = " ".join(tag.get_text() for tag in shown.select(".arithmatex"))
    return [*asked, *written, *FORMULA_ID.findall(formulas)]


def _unknown_names(root: Path, shown: BeautifulSoup) -> list[str]:
    """Names of the package, as inline code, that it does not have."""
    names = set()
    for code in shown.find_all("code", string=PACKAGE_NAME):
        plain = not code.attrs and not code.find_parent(INERT)
        if plain and PACKAGE_NAME.fullmatch(code.get_text()):
            names.add(code.get_text())
    return sorted(names - _symbols(root).keys())


def _places_of(page: Page, before: str, text: str) -> list[int]:
    """Where an address or an id is written."""
    written = re.compile(rf"(?<={before}){re.escape(text)}(?![\w./#-])")
    return [line_of(page.body, match.start()) for match in written.finditer(page.body)]


class Leading(NamedTuple):
    """A link to an id of a page: the file and line it stands in, where it leads."""

    file: str
    line: int
    page: str
    id: str


def _lost(page: Page, own: list[str]) -> Iterator[Problem]:
    """Links to an id that the page does not have: of other pages, of corrections."""
    for link in (*_from_pages(page), *_from_corrections(page.root)):
        leads_here = posixpath.normpath(link.page) == page.id
        if leads_here and link.file != page.path and link.id not in own:
            values = {"id": link.id, "page": page.path}
            yield problem(link.file, link.line, "link_lost", **values)


def _from_pages(page: Page) -> Iterator[Leading]:
    folder, name = page.root / "docs" / page.language, posixpath.basename(page.id)
    for path in sorted(files.paths(folder)):
        text = files.text_of(folder / path)
        if f"{name}.md#" not in text and f"{page.id}#" not in text:
            continue
        for match in INCOMING.finditer(text):
            linked = posixpath.join(posixpath.dirname(path), match["file"] or "")
            file, line = f"docs/{page.language}/{path}", line_of(text, match.start())
            anchor = unquote(match["anchor"] or match["id"])
            yield Leading(file, line, match["page"] or linked, anchor)


def _from_corrections(root: Path) -> Iterator[Leading]:
    for row in read_corrections(root):
        for proof in row.held:
            target, _, anchor = proof.at.partition("#")
            yield Leading(row.file, proof.line, target, anchor)


def _dead(page: Page, href: str, own: list[str], lines: list[int]) -> Iterator[Problem]:
    """The problem of an address within the site, and the nearest that has none."""
    if ELSEWHERE.match(href):
        return
    path, _, anchor = href.partition("#")
    folder = f"docs/{page.language}"
    inside = ""
    if path:
        file = posixpath.join(posixpath.dirname(page.path), unquote(path))
        inside = posixpath.relpath(posixpath.normpath(file), folder)
    if path.startswith("/") or (path and not _exists(page, inside)):
        near = _nearest_page(page, inside)
        for line in lines:
            values = {"href": href, "folder": folder, "near": near}
            yield page.problem(line, "link_dead", **values)
        return
    # The headings of a page are known without rendering it.
    if not anchor or (path and anchor in _headings(page.root / folder / inside)):
        return
    there = _anchors(page, inside) if path else own
    if anchor in there:
        return
    alike = difflib.get_close_matches(anchor, there) or there[:MOST_IDS] or ["id"]
    where: Any = f"{folder}/{inside}" if path else Message("link_this_page")
    ids = ", ".join(f"#{name}" for name in alike)
    values = {"href": href, "where": where, "ids": ids, "anchor": anchor}
    for line in lines:
        yield page.problem(line, "link_dead_anchor", **values)


def _nearest_page(page: Page, path: str) -> str:
    """The page whose path is most like this one, as a link to it."""
    folder = f"docs/{page.language}"
    written = files.paths(page.root / folder)
    known = sorted([*written, *_reference(page.root, page.language)])
    nearest = difflib.get_close_matches(path, known, n=1, cutoff=0)
    here = posixpath.dirname(page.path.removeprefix(f"{folder}/")) or "."
    return posixpath.relpath(nearest[0], here) if nearest else "page.md"


def _headings(file: Path) -> set[str]:
    text = files.text_of(file) if file.is_file() else ""
    return {heading.id for heading in read_content(text).headings if heading.id}


def _exists(page: Page, path: str) -> bool:
    file = page.root / "docs" / page.language / path
    written = ".." not in path and path.endswith(".md") and file.is_file()
    return written or path in _reference(page.root, page.language)


def _anchors(page: Page, path: str) -> list[str]:
    """The ids of another page, as ``gae/inputs.md``."""
    root, made = page.root, _reference(page.root, page.language)
    own = f"docs/{page.language}/{path}"
    if path not in made:
        return _ids_in(root, own, files.text_of(root / own))
    url = path.removesuffix(".md").removesuffix("index").rstrip("/") + "/#"
    places = _symbols(root).values()
    named = [at.removeprefix(url) for at in places if at.startswith(url)]
    return [*_ids_in(root, own, made[path]), *named]


@lru_cache(maxsize=256)
def _ids_in(root: Path, path: str, text: str) -> list[str]:
    page = read_page(root, path, text)
    return ids_of(shown_tree(page), page.texts("answers"))


# The package is not edited while pages are checked.
@lru_cache(maxsize=4)
def _reference(root: Path, lang: str) -> dict[str, str]:
    return reference.pages(reference.read(root / reference.FOLDER), lang)


@lru_cache(maxsize=2)
def _symbols(root: Path) -> dict[str, str]:
    return reference.symbols(reference.read(root / reference.FOLDER))
