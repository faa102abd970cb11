"""Links within the site: the page and the place on it are there, each place once.

The strict build of the site refuses dead links as well; here they are told with their
line and the nearest page or id.
"""

import difflib
import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from site_tools.compile import article, reference
from site_tools.compile.lists import fill_lists
from site_tools.data.dialogues import read_corrections
from site_tools.page import files
from site_tools.page.page import Page
from site_tools.page.prose import HEADING, line_of, read_content
from site_tools.page.rendered import render
from site_tools.say import Message, Problem, problem

MOST_IDS = 8  # named where none is like the one that is not there
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
# A link of another page, or a line of its list of wrong answers.
INCOMING = re.compile(
    r"\]\(<?(?P<file>[\w./-]+)\.md#(?P<anchor>[^\s)>]+)"
    r"|^(?P<page>\w+/\w+)#(?P<id>[\w-]+)$",
    re.M,
)


def check_links(page: Page, html: str, root: Path) -> list[Problem]:
    """Links of a rendered page that lead nowhere, ids it has twice, unknown names."""
    own = article.page_ids(html, page.texts("answers"))
    problems = [*_incoming(page, own, root)]
    for name in [name for name, count in Counter(own).items() if count > 1]:
        lines = _lines(page, "[#{]", name) or [1]
        twice = page.problem(lines[-1], "id_twice", name=name, first=lines[0])
        problems.append(twice)
    tags = {str(tag["href"]): tag for tag in page.tree.find_all("a", href=True)}
    for href, tag in tags.items():
        if not ELSEWHERE.match(href) and (fault := _fault(page, href, own, root)):
            key, values = fault
            for line in _lines(page, r"[(<\s]", href) or [page.line_of(tag)]:
                problems.append(page.problem(line, key, href=href, **values))
    names = {match["name"] for match in reference.NAMED.finditer(html)} - {None}
    for name in sorted(names - _symbols(root).keys()):
        for line in _lines(page, "`", name) or [1]:
            problems.append(page.problem(line, "name_unknown", name=name))
    return problems


def _lines(page: Page, before: str, text: str) -> list[int]:
    """Where an address or an id is written."""
    written = re.compile(rf"(?<={before}){re.escape(text)}(?![\w./#-])")
    return [line_of(page.body, match.start()) for match in written.finditer(page.body)]


def _incoming(page: Page, own: list[str], root: Path) -> Iterator[Problem]:
    """What leads to an id that the page does not have: other pages, the corrections."""
    folder, name = root / "docs" / page.language, posixpath.basename(page.id)
    links: list[tuple[str, int, str, str]] = []  # file, line, page, id
    for path in sorted(files.paths(folder)):
        text = (folder / path).read_text("utf-8-sig", errors="replace")
        leads_here = f"{name}.md#" in text or f"{page.id}#" in text
        for match in INCOMING.finditer(text) if leads_here else ():
            linked = posixpath.join(posixpath.dirname(path), match["file"] or "")
            target, line = match["page"] or linked, line_of(text, match.start())
            anchor = unquote(match["anchor"] or match["id"])
            links.append((f"docs/{page.language}/{path}", line, target, anchor))
    for row in read_corrections(root):
        for proof in row.held:
            target, _, anchor = proof.at.partition("#")
            links.append((row.file, proof.line, target, anchor))
    for file, line, target, anchor in links:
        here = posixpath.normpath(target) == page.id and file != page.path
        if here and anchor not in own:
            yield problem(file, line, "link_lost", id=anchor, page=page.path)


def _fault(
    page: Page, href: str, own: list[str], root: Path
) -> tuple[str, dict[str, Any]] | None:
    """What is wrong with an address within the site, and the nearest that is not."""
    path, _, anchor = href.partition("#")
    folder, lang = f"docs/{page.language}", page.language
    file = posixpath.join(posixpath.dirname(page.path), unquote(path))
    inside = posixpath.relpath(posixpath.normpath(file), folder) if path else ""
    if path.startswith("/") or (path and not _exists(root, lang, inside)):
        known = sorted([*files.paths(root / folder), *_reference(root, lang)])
        nearest = difflib.get_close_matches(inside, known, n=1, cutoff=0)
        here = posixpath.dirname(page.path.removeprefix(f"{folder}/"))
        near = posixpath.relpath(nearest[0], here or ".") if nearest else "page.md"
        return "link_dead", {"folder": folder, "near": near}
    # The headings of a page are known without rendering it.
    if not anchor or (path and anchor in _headings(root / folder / inside)):
        return None
    there = _anchors(root, lang, inside) if path else own
    if anchor in there:
        return None
    alike = difflib.get_close_matches(anchor, there) or there[:MOST_IDS] or ["id"]
    where = f"{folder}/{inside}" if path else Message("link_this_page")
    ids = ", ".join(f"#{name}" for name in alike)
    return "link_dead_anchor", {"where": where, "ids": ids, "anchor": anchor}


def _headings(file: Path) -> set[str]:
    text = file.read_text("utf-8-sig", errors="replace") if file.is_file() else ""
    headings = HEADING.finditer(read_content(text).body)
    return {match["id"] for match in headings if match["id"]}


def _exists(root: Path, lang: str, path: str) -> bool:
    file = root / "docs" / lang / path
    written = ".." not in path and path.endswith(".md") and file.is_file()
    return written or path in _reference(root, lang)


def _anchors(root: Path, lang: str, path: str) -> list[str]:
    """The ids of a page, as ``gae/inputs.md``."""
    if path not in _reference(root, lang):
        text = (root / "docs" / lang / path).read_text("utf-8-sig", errors="replace")
        return _ids(text, root)
    url = path.removesuffix(".md").removesuffix("index").rstrip("/") + "/#"
    named = [
        at.removeprefix(url) for at in _symbols(root).values() if at.startswith(url)
    ]
    return [*_ids(_reference(root, lang)[path], root), *named]


@lru_cache(maxsize=256)
def _ids(text: str, root: Path) -> list[str]:
    answers = read_content(text).meta.get("answers") or ()
    return article.page_ids(fill_lists(render(text, root), root), answers)


# The package is not edited while pages are checked.
@lru_cache(maxsize=4)
def _reference(root: Path, lang: str) -> dict[str, str]:
    return reference.pages(reference.read(root / reference.FOLDER), lang)


@lru_cache(maxsize=2)
def _symbols(root: Path) -> dict[str, str]:
    return reference.symbols(reference.read(root / reference.FOLDER))
