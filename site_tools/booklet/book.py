"""The book of a language: its chapters with pictures, formulas and links put in."""

import posixpath
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from bs4 import Tag
from bs4.dammit import EntitySubstitution
from bs4.formatter import HTMLFormatter

from site_tools.booklet.contents import ChapterPlan, file_of, planned
from site_tools.booklet.drawings import SITE_STYLES, picture_file
from site_tools.booklet.excerpt import excerpt
from site_tools.booklet.references import Placed, References
from site_tools.compile import links, navigation
from site_tools.compile.templates import as_html, as_plain, fill
from site_tools.finish import formulas
from site_tools.finish.article import Article, Shown, tags
from site_tools.messages import Refusal

PICTURES = "pictures"


class Named(NamedTuple):
    """A line of the table of contents: what it leads to, and what it says."""

    id: str
    title: str


class Chapter(NamedTuple):
    file: str  # without a suffix
    named: Named
    sections: tuple[Named, ...]  # the questions of a topic
    printed: str  # formulas as a browser shows them
    xml: str  # formulas as MathML


class BookPart(NamedTuple):
    title: str
    chapters: tuple[Chapter, ...]


class Publisher(NamedTuple):
    """What the site of a language says of itself; ``address`` is "" where unknown."""

    lang: str
    name: str
    licence: str
    address: str


class Book(NamedTuple):
    publisher: Publisher
    parts: tuple[BookPart, ...]
    pictures: Mapping[str, bytes]  # by their path in the book

    @property
    def chapters(self) -> list[Chapter]:
        return [chapter for part in self.parts for chapter in part.chapters]


class _AsXml(HTMLFormatter):
    """Attributes in the order in which they came, every tag closed."""

    def __init__(self) -> None:
        super().__init__(
            entity_substitution=EntitySubstitution.substitute_xml,
            void_element_close_prefix="/",
        )

    def attributes(self, tag: Tag) -> list[tuple[str, Any]]:
        return [*tag.attrs.items()]


AS_XML = _AsXml()


def read_book(root: Path, publisher: Publisher) -> Book:
    """The book of a language; one without pages has no parts."""
    plan = planned(root, publisher.lang)
    placed: dict[str, Placed] = {}
    pictures: dict[str, bytes] = {}
    for chapter in (chapter for part in plan for chapter in part.chapters):
        for page in chapter.pages:
            article = excerpt(root, publisher.lang, page, whole=chapter.whole)
            pictures |= _put_in_pictures(article, root)
            _put_in_title(article, chapter, publisher.address)
            placed[page] = Placed(article, chapter.file)
    _put_in_formulas(root, [each.article for each in placed.values()])
    references = References(placed.values(), publisher.address)
    for each in placed.values():
        references.settle(each.article)
    parts = []
    for part in plan:
        chapters = tuple(_chapter(each, placed, publisher) for each in part.chapters)
        parts.append(BookPart(part.title, chapters))
    return Book(publisher, tuple(parts), pictures)


def _put_in_pictures(article: Article, root: Path) -> dict[str, bytes]:
    """Show the pictures of a page from files of the book; those files."""
    made = {}
    for image in tags(article.content, "img"):
        source = posixpath.join(posixpath.dirname(article.id), str(image["src"]))
        inside = posixpath.normpath(source)
        file = root / "snippets" / inside
        alt = str(image.get("alt", "")).strip()
        if inside.startswith("..") or not file.is_file():
            raise Refusal("booklet_picture", page=article.id, picture=image["src"])
        if not alt:
            raise Refusal("picture_undescribed", path=f"snippets/{inside}")
        place = f"{PICTURES}/{file_of(inside)}"
        made[place] = picture_file(file, article.lang, root / SITE_STYLES)
        image.attrs = {"src": place, "alt": alt}
    return made


def _put_in_title(article: Article, chapter: ChapterPlan, address: str) -> None:
    """Begin a page with its title; the front of a question page ends with its place."""
    assert article.page
    title = as_html(navigation.title_of(article.page.meta))
    level = 1 if chapter.whole else 2
    article.prepend(f"<h{level}>{title}</h{level}>\n")
    if address and not chapter.whole:
        there = address + links.address(article.id)
        article.append(fill("booklet.on_site", article.lang, there))


def _put_in_formulas(root: Path, articles: Sequence[Article]) -> None:
    """Typeset the formulas of all pages at once."""
    places: dict[formulas.Formula, str] = {}
    for article in articles:
        for formula in formulas.find(article.content):
            places.setdefault(formula, article.id)
    typeset = formulas.typeset_all(places, root / ".cache" / "katex")
    for article in articles:
        formulas.put_in_formulas(article.content, typeset)


def _chapter(
    plan: ChapterPlan, placed: Mapping[str, Placed], publisher: Publisher
) -> Chapter:
    articles = [placed[page].article for page in plan.pages]
    sections = []
    for article in articles if not plan.whole else ():
        assert article.page
        title = as_plain(navigation.title_of(article.page.meta))
        sections.append(Named(file_of(article.id), title))
    front = ""
    if not plan.whole:
        front = fill("booklet.topic", publisher.lang, plan.file, plan.title)
    printed = "".join(as_xml(article.content) for article in articles)
    for article in articles:
        _keep_mathml(article.content)
    xml = "".join(as_xml(article.content) for article in articles)
    named = Named(plan.file, as_plain(plan.title))
    return Chapter(plan.file, named, tuple(sections), front + printed, front + xml)


def _keep_mathml(content: Tag) -> None:
    """Of each formula keep the half that readers of EPUB know how to show."""
    for node in [*content.descendants]:
        if isinstance(node, Shown):
            mathml = formulas.MATHML.search(node)
            assert mathml
            said = escape(node.spelled)
            node.replace_with(
                Shown(mathml[0].replace("<math ", f'<math alttext="{said}" ', 1))
            )


def as_xml(tag: Tag) -> str:
    """A tree as XML that is HTML as well."""
    return tag.decode(formatter=AS_XML) + "\n"
