"""Links within the site: the page is there, and the place on it.

The strict build of the site refuses dead links as well; here they are told with their
line and the nearest page or id. So are names of ``ppo_ref``, which become links, and of
PyTorch.
"""

import difflib
import importlib
import posixpath
import re
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from bs4 import BeautifulSoup

from site_tools.compile import reference
from site_tools.judge.ids import check_ids, ids_of, places_of
from site_tools.judge.shown import shown_tree
from site_tools.messages import Message, Problems, nearest
from site_tools.page.page import Page, read_page
from site_tools.source.content import read_content
from site_tools.source.files import paths, text_of

MOST_IDS = 8  # named where none is like the one that is not there
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
# A name of a package, maybe called; and what PyTorch's parts are called for short.
PACKAGE_NAME = re.compile(
    r"(?P<name>(?:ppo_ref|torch|nn|F)(?:\.[A-Za-z_]\w*)+)(?:\(.*)?"
)
SHORT_NAMES = {"nn": "torch.nn", "F": "torch.nn.functional"}
# Where the name of a part of the package is no link.
INERT = ("a", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "pre")


def check_links(page: Page, shown: BeautifulSoup) -> Problems:
    """Links of a rendered page that lead nowhere, ids it has twice, unknown names."""
    own = ids_of(page, shown)
    yield from check_ids(page, own)
    tags = {str(tag["href"]): tag for tag in page.tree.select("a[href]")}
    for href, tag in tags.items():
        lines = places_of(page, r"[(<\s]", href) or [page.line_of(tag)]
        yield from _dead(page, href, own, lines)
    for name in _package_names(shown):
        near = _nearest_name(name, page.root)
        if near != name:
            for line in places_of(page, "`", name) or [1]:
                yield page.problem(line, "name_unknown", name=name, near=near)


def _package_names(shown: BeautifulSoup) -> list[str]:
    """Names of ``ppo_ref``, which become links, and of PyTorch, as inline code."""
    names = set()
    for code in shown.find_all("code"):
        match = PACKAGE_NAME.fullmatch(code.get_text())
        quoted = code.find_parent(class_="quote")
        if match and not quoted and not code.attrs and not code.find_parent(INERT):
            names.add(match["name"])
    return sorted(names)


def _nearest_name(name: str, root: Path) -> str:
    """The name that a package has and that is most like this one; itself, if it has."""
    first, _, rest = name.partition(".")
    if first == "ppo_ref":
        known = _symbols(root)
        return name if name in known else nearest(name, known)
    whole = SHORT_NAMES.get(first, first)
    near = _nearest_in(whole, rest)
    return name if near == f"{whole}.{rest}" else near


@lru_cache(maxsize=256)
def _nearest_in(owner: str, rest: str) -> str:
    """The same of what is imported: each word of a name is looked up in those before.

    PyTorch is imported only where a page names something of it.
    """
    found: Any = importlib.import_module(owner)
    said = owner
    for word in rest.split("."):
        near = f"{said}.{nearest(word, dir(found))}"
        said = f"{said}.{word}"
        try:
            here = hasattr(found, word)
            found = getattr(found, word) if here else importlib.import_module(said)
        except Exception:  # ImportError, or whatever else a part of it raises
            return near
    return said


def _dead(page: Page, href: str, own: list[str], lines: list[int]) -> Problems:
    """The problem of an address within the site, and the nearest that has none."""
    if ELSEWHERE.match(href):
        return
    pages = Pages(page.root, page.language)
    here = posixpath.dirname(page.id)
    path, _, anchor = href.partition("#")
    file = posixpath.normpath(posixpath.join(here, unquote(path)))
    if path.startswith("/") or (path and not pages.have(file)):
        near = posixpath.relpath(pages.nearest(file), here or ".")
        values = {"href": href, "folder": pages.folder, "near": near}
        for line in lines:
            yield page.problem(line, "link_dead", **values)
        return
    if not anchor or (path and anchor in pages.headings(file)):
        return
    where: Any = Message("link_this_page")
    ids = own
    if path:
        where = f"{pages.folder}/{file}"
        ids = pages.ids(file)
    if anchor in ids:
        return
    alike = difflib.get_close_matches(anchor, ids) or ids[:MOST_IDS] or ["id"]
    named = ", ".join(f"#{name}" for name in alike)
    values = {"href": href, "where": where, "ids": named, "anchor": anchor}
    for line in lines:
        yield page.problem(line, "link_dead_anchor", **values)


class Pages:
    """The pages of a language that a link may lead to, as ``gae/inputs.md``."""

    def __init__(self, root: Path, lang: str) -> None:
        self.folder = f"docs/{lang}"
        self._root = root
        self._made = _reference(root, lang)

    def have(self, path: str) -> bool:
        """True if this is one of them."""
        file = self._root / self.folder / path
        written = path.endswith(".md") and ".." not in path and file.is_file()
        return written or path in self._made

    def nearest(self, path: str) -> str:
        """The page whose path is most like this one."""
        known = [*paths(self._root / self.folder), *self._made]
        return nearest(path, sorted(known))

    def headings(self, path: str) -> set[str]:
        """The ids of the headings of a page, which are known without rendering it."""
        if path in self._made:
            return set()
        content = read_content(text_of(self._root / self.folder / path))
        return {heading.id for heading in content.headings if heading.id}

    def ids(self, path: str) -> list[str]:
        """All ids of a page."""
        root, file = self._root, f"{self.folder}/{path}"
        if path not in self._made:
            return _ids_in(root, file, text_of(root / file))
        ids = list(_ids_in(root, file, self._made[path]))
        url = path.removesuffix(".md").removesuffix("index").rstrip("/") + "/#"
        for place in _symbols(root).values():
            if place.startswith(url):
                ids.append(place.removeprefix(url))
        return ids


@lru_cache(maxsize=256)
def _ids_in(root: Path, path: str, text: str) -> list[str]:
    page = read_page(root, path, text)
    return ids_of(page, shown_tree(page))


# The package is not edited while pages are checked.
@lru_cache(maxsize=4)
def _reference(root: Path, lang: str) -> dict[str, str]:
    return reference.pages(reference.read(root / reference.FOLDER), lang)


@lru_cache(maxsize=2)
def _symbols(root: Path) -> dict[str, str]:
    return reference.symbols(reference.read(root / reference.FOLDER))
