"""The ids of a page: each stands there once, none is missing that others lead to."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from bs4 import BeautifulSoup

from site_tools.compile import links
from site_tools.data.corrections import read_corrections
from site_tools.judge.identities import FORMULA_ID
from site_tools.messages import Problems, problem
from site_tools.page.page import Page
from site_tools.source.content import line_of
from site_tools.source.files import paths, text_of

# A link of another page, or a line of its list of wrong answers.
INCOMING = re.compile(
    r"\]\(<?(?P<file>[\w./-]+)\.md#(?P<anchor>[^\s)>]+)"
    r"|^(?P<page>\w+/\w+)#(?P<id>[\w-]+)$",
    re.M,
)


def ids_of(page: Page, shown: BeautifulSoup) -> list[str]:
    """Every id of a page as readers get it, also of its questions and formulas."""
    ids: list[str] = []
    if shown.find("h2", id="answer"):
        ids += links.anchors(page.texts("answers"))
    for tag in shown.select("[id]"):
        ids.append(str(tag["id"]))
    for formula in shown.select(".arithmatex"):
        ids += FORMULA_ID.findall(formula.get_text())
    return ids


def places_of(page: Page, before: str, text: str) -> list[int]:
    """The lines on which an address or an id is written, behind one of some signs."""
    written = re.compile(rf"(?<={before}){re.escape(text)}(?![\w./#-])")
    lines = []
    for match in written.finditer(page.body):
        lines.append(line_of(page.body, match.start()))
    return lines


def check_ids(page: Page, ids: Sequence[str]) -> Problems:
    """Ids that a page has twice, and those that are missing for others."""
    for name, count in Counter(ids).items():
        if count > 1:
            lines = places_of(page, "[#{]", name) or [1]
            yield page.problem(lines[-1], "id_twice", name=name, first=lines[0])
    for link in (*_from_pages(page), *_from_corrections(page.root)):
        leads_here = posixpath.normpath(link.page) == page.id
        if leads_here and link.file != page.path and link.id not in ids:
            values = {"id": link.id, "page": page.path}
            yield problem(link.file, link.line, "link_lost", **values)


class Leading(NamedTuple):
    """A link to an id of a page: the file and line it stands in, where it leads."""

    file: str
    line: int
    page: str
    id: str


def _from_pages(page: Page) -> Iterator[Leading]:
    """The links of the pages that perhaps lead to this one."""
    folder = page.root / "docs" / page.language
    name = posixpath.basename(page.id)
    for path in sorted(paths(folder)):
        text = text_of(folder / path)
        if f"{name}.md#" not in text and f"{page.id}#" not in text:
            continue
        for match in INCOMING.finditer(text):
            target = match["page"]
            if target is None:
                target = posixpath.join(posixpath.dirname(path), match["file"])
            anchor = unquote(match["anchor"] or match["id"])
            line = line_of(text, match.start())
            yield Leading(f"docs/{page.language}/{path}", line, target, anchor)


def _from_corrections(root: Path) -> Iterator[Leading]:
    for row in read_corrections(root):
        for proof in row.held:
            target, _, anchor = proof.at.partition("#")
            yield Leading(row.file, proof.line, target, anchor)
