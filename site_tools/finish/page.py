"""One built page, finished: what Markdown cannot say is put into it.

The passes stand here in their order, and nowhere else: first what becomes of the text
itself, then what is around it, then what the whole page needs.
"""

import gc
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString

from site_tools.compile import links, navigation, reference
from site_tools.compile.downloads import package_address
from site_tools.compile.navigation import Answer, Answered
from site_tools.compile.site import COMPILED
from site_tools.compile.templates import fill
from site_tools.data.dialogues import Asked
from site_tools.data.names import Name, read_names
from site_tools.data.topics import TOPICS, is_question
from site_tools.finish import (
    boxes,
    exercises,
    folds,
    formulas,
    head,
    pictures,
    reading,
    search_index,
)
from site_tools.finish.article import (
    Article,
    Moved,
    having,
    parsed,
    tags,
    take_content,
    written,
)
from site_tools.finish.formulas import Formula, find
from site_tools.finish.search_index import IndexEntry
from site_tools.judge.allowed import html_faults
from site_tools.messages import Refusal
from site_tools.page.page import read_page
from site_tools.page.pictures import is_notebook
from site_tools.page.twins import twins_of
from site_tools.run.passed import VerdictLine
from site_tools.source.content import read_content
from site_tools.source.files import split_aliases

GLOSSARY = "reference/glossary"
JUPYTER = "/jupyter"
FOREIGN = ["script", "style", "clipboard-copy"]


class Finished(NamedTuple):
    """The parts of one page that the rest of the site is made from."""

    path: str  # of its file, within the site of its language
    id: str = ""
    title: str = ""
    about: str = ""
    ids: tuple[str, ...] = ()
    formulas: tuple[Formula, ...] = ()
    entries: tuple[IndexEntry, ...] = ()


@dataclass(frozen=True)
class Site:
    """One language of the site: what all of its pages are finished with."""

    root: Path  # of the project
    lang: str
    folder: Path  # in which it has been built
    address: str = ""  # where it will be published
    repository: str = ""  # of the project
    first: str = ""  # styles that stand in every page; none while it is written
    verdict: Callable[[str], VerdictLine | None] | None = None

    @property
    def katex(self) -> Path:
        return self.root / ".cache" / "katex"


class SiteData(NamedTuple):
    """Data that is read once for all pages."""

    symbols: dict[str, str]
    asked: dict[str, Asked]
    taught: list[Answer]
    threads: list[Answered]
    names: tuple[Name, ...]
    moves: dict[str, str]
    titles: dict[str, str]


@lru_cache(maxsize=2)
def known(root: Path, lang: str) -> SiteData:
    taught = (navigation.COURSE, *TOPICS, navigation.LAB)
    package = reference.read(root / reference.FOLDER)
    titles = navigation.titles(root, lang)
    titles |= {
        path.removesuffix(".md"): str(read_content(text).meta["title"])
        for path, text in reference.pages(package, lang).items()
    }
    return SiteData(
        reference.symbols(package),
        navigation.asked(root),
        navigation.answers(root, lang, taught),
        navigation.answered(root, lang),
        read_names(root) if GLOSSARY in titles else (),
        links.all_moves(root),
        titles,
    )


def finish_pages(site: Site, paths: Sequence[str]) -> list[Finished]:
    """Finish these pages in their place; their formulas are typeset at once.

    All their trees are needed to the end: looking for what is garbage among them is
    a sixth of the work, and is put off.
    """
    gc.disable()
    try:
        return _finish_files(site, paths)
    finally:
        gc.enable()


def _finish_files(site: Site, paths: Sequence[str]) -> list[Finished]:
    pages = {}
    for path in paths:
        pages[path] = parsed((site.folder / path).read_text("utf-8"))
    done = finish_trees(site, pages)
    for path, soup in pages.items():
        (site.folder / path).write_text(written(soup), "utf-8")
    return done


def finish_trees(site: Site, pages: Mapping[str, BeautifulSoup]) -> list[Finished]:
    """Finish these pages, given as the trees of their files."""
    articles = {}
    places: dict[Formula, str] = {}
    for path, soup in pages.items():
        article = articles[path] = _article(site, path, soup)
        if article:
            file = f"docs/{site.lang}/{article.id}.md"
            try:
                _finish_text(article, site)
            except ValueError as error:
                raise ValueError(f"{file}: {error}") from None
            article.formulas = (*find(article.content), *find(soup))
            for formula in article.formulas:
                places.setdefault(formula, file)
    typeset = formulas.typeset_all(places, site.katex)
    done = []
    for path, article in articles.items():
        if article:
            done.append(_finish_page(site, path, article, typeset))
        else:
            done.append(Finished(path))
            _finish_head(pages[path], site)
    return done


def _finish_page(
    site: Site, path: str, article: Article, typeset: Mapping[Formula, str]
) -> Finished:
    """Put the formulas in, read what others say of the page, and complete its head."""
    soup, content = article.soup, article.content
    formulas.put_in_formulas(content, typeset)
    formulas.put_in_titles(soup, typeset)
    meta = article.page.meta if article.page else {}
    about = meta.get("description") or _said(soup) or search_index.description(content)
    done = Finished(
        path,
        article.id,
        known(site.root, site.lang).titles.get(article.id, ""),
        about,
        tuple(str(tag["id"]) for tag in having(content, "id")),
        article.formulas,
        tuple(_index_entries(article, meta, site)),
    )
    for tag in having(content, "data-unsearched"):
        del tag["data-unsearched"]
    folds.fold_what_is_behind(article)
    if article.id == GLOSSARY:
        folds.fold_terms(article)
    reading.add_moved(article, _moved_here(article, site))
    for node in list(content.children):
        article.place.insert_before(node.extract())
    article.place.decompose()
    reading.name_landmarks(soup)
    head.describe(soup, about)
    _finish_head(soup, site)
    return done


def _finish_head(soup: BeautifulSoup, site: Site) -> None:
    head.drop_unused(soup)
    if not site.first:
        head.link_formulas(soup)
    else:  # the site is published
        head.trim(soup)
        head.link_sheet(soup, site.first)
        head.add_policy(soup)


def _article(site: Site, path: str, soup: BeautifulSoup) -> Article | None:
    taken = take_content(soup)
    if taken is None:
        return None
    page_id, lang = _page_of(site, path), site.lang
    file = f"docs/{lang}/{page_id}.md"
    page = read_page(site.root, file) if (site.root / file).is_file() else None
    url = path.removesuffix("index.html")
    return Article(soup, *taken, lang, page_id, url, page)


def _page_of(site: Site, path: str) -> str:
    """The page that has been built into a file, as it was compiled."""
    folder = posixpath.dirname(path)
    index = posixpath.join(folder, "index")
    compiled = site.root / COMPILED / site.lang / f"{index}.md"
    return index if compiled.is_file() else folder


def _finish_text(article: Article, site: Site) -> None:
    """Every pass over what stands in an article, in order."""
    if article.page:
        for fault in html_faults(article.content):
            raise Refusal("not_in_a_page", fault=fault)
    for tag in tags(article.content, *FOREIGN):
        tag.decompose()
    for text in [*article.content.descendants]:
        if isinstance(text, PreformattedString):
            text.extract()  # a comment
    if article.id.endswith(JUPYTER):
        reading.settle_notebook(article, site.root)
        return
    root, lang, all_of = site.root, site.lang, known(site.root, site.lang)
    page = article.page
    if page is None:
        reading.settle_reference(article)
    exercises.settle_exercises(article)
    exercises.make_room_for_mark(article)
    exercises.count_exercises(article, root)
    reading.link_symbols(article, all_of.symbols)
    reading.mark_figures(article)
    pictures.put_in_pictures(article, site.folder)
    folds.fold_refutations(article)
    reading.link_dialogues(article, all_of.asked)
    reading.put_answer_in_box(article, all_of.asked, reading.cited(root, article))
    reading.add_short_addresses(article, root)
    if is_question(article.id):
        reading.link_terms(article, all_of.names)
    reading.add_provenance_switch(article)
    reading.add_reading(article, all_of.taught)
    reading.add_threads(article, all_of.threads)
    if page:
        reading.add_aliases(article, split_aliases(page.meta.get("aliases"))[""])
        reading.add_language_notice(article, twins_of(root, article.id))
        blocks = page.blocks
        wheel = package_address(site.folder, article.url, site.address)
        if len(blocks) == len(page.fences):  # else the page shows what is wrong
            boxes.complete_boxes(article, blocks, wheel)
        notebook = None
        if any(block.runs for block in blocks):
            told = (site.address, site.repository)
            notebook = links.find_notebook(article.id, lang, *told)
        if is_notebook(article.id):
            article.prepend(fill("page.take_notebook", lang, notebook))
            notebook = None
        if site.verdict:
            reading.add_verdict(article, site.verdict(page.path), notebook)
    reading.make_relative(article)


def _said(soup: BeautifulSoup) -> str:
    """The front matter of a generated page."""
    said = soup.find("meta", attrs={"name": "description"})
    if not isinstance(said, Tag):
        return ""
    about = str(said["content"])
    said.decompose()
    return about


def _index_entries(
    article: Article, meta: Mapping[str, object], site: Site
) -> list[IndexEntry]:
    if article.id.endswith(JUPYTER):
        return []  # what it says is found where it comes from
    aliases, search = meta.get("aliases"), meta.get("search")
    boost = search.get("boost", 1) if isinstance(search, dict) else 1
    if article.page is None:
        boost = reference.BOOST
    title = known(site.root, site.lang).titles[article.id]
    said = aliases if isinstance(aliases, list) else []
    return search_index.entries(article.content, article.url, title, said, boost)


def _moved_here(article: Article, site: Site) -> list[Moved]:
    all_of = known(site.root, site.lang)
    parts = links.moved_parts(all_of.moves, all_of.titles, site.lang, article.id)
    return [Moved(*part) for part in parts]
