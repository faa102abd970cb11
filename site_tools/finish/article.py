"""The article of a built page as a tree, and how parts of a page are put into it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from bs4 import BeautifulSoup, Tag
from bs4.dammit import EntitySubstitution
from bs4.element import PageElement, PreformattedString
from bs4.formatter import HTMLFormatter

from site_tools.page.page import Page


class Shown(PreformattedString):
    """HTML that is put in as it is: a formula, a picture.

    ``searched`` is its text for the search, ``spelled`` as it is said in a description.
    """

    searched = ""
    spelled = ""


def shown(html: str, searched: str, spelled: str) -> Shown:
    made = Shown(html)
    made.searched, made.spelled = searched, spelled
    return made


class Moved(NamedTuple):
    """A part that was on a page: its id there, the address now, the title there."""

    id: str
    href: str
    title: str


@dataclass
class Article:
    """A built page: the whole of it, what its author wrote, and where it stands."""

    soup: BeautifulSoup
    content: Tag  # taken out of the page until it is finished
    place: Tag  # where it will stand
    lang: str
    id: str  # as in gae/inputs
    url: str  # within the site of its language
    page: Page | None = None  # its source; a page of the reference has none
    formulas: tuple[Any, ...] = ()  # of its text and its contents

    def prepend(self, html: str) -> None:
        for node in reversed(fragment(html)):
            self.content.insert(0, node)

    def append(self, html: str) -> None:
        self.content.extend(fragment(html))


def fragment(html: str) -> list[PageElement]:
    """HTML as nodes that belong nowhere yet."""
    return [node.extract() for node in list(parsed(html).children)]


def parsed(html: str) -> BeautifulSoup:
    # Classes are a list; rel stays as it was written, blank and all: see main.html.
    return BeautifulSoup(html, "html.parser", multi_valued_attributes={"*": ["class"]})


class _AsItWas(HTMLFormatter):
    """Attributes in the order in which they came, tags as HTML has them."""

    def __init__(self) -> None:
        super().__init__(
            entity_substitution=EntitySubstitution.substitute_xml,
            void_element_close_prefix="",
            empty_attributes_are_booleans=True,
        )

    def attributes(self, tag: Tag) -> list[tuple[str, Any]]:
        return [(k, None if v == "" else v) for k, v in tag.attrs.items()]


AS_IT_WAS = _AsItWas()


def written(tag: Tag) -> str:
    """A tree as HTML."""
    return tag.decode(formatter=AS_IT_WAS)


def take_content(soup: BeautifulSoup) -> tuple[Tag, Tag] | None:
    """The text between the title and the links for editing; and its place."""
    article = soup.find("article")
    if not isinstance(article, Tag):
        return None
    content, place = soup.new_tag("div"), soup.new_tag("div")
    title = article.find("h1", recursive=False)
    nodes = list(title.next_siblings) if title else list(article.children)
    if title:
        title.insert_after(place)
    else:
        article.append(place)
    for node in nodes:
        classes = node.get_attribute_list("class") if isinstance(node, Tag) else []
        if "contributing" in classes or "passing" in classes:
            break
        content.append(node.extract())
    return content, place


def having(tag: Tag, attribute: str) -> list[Tag]:
    """The tags below a tag that have an attribute, a tenth of what a search takes."""
    below = tag.descendants
    return [node for node in below if isinstance(node, Tag) and attribute in node.attrs]


def tags(tag: Tag, *names: str) -> list[Tag]:
    """The tags below a tag that are called so, as quickly."""
    below = tag.descendants
    return [node for node in below if isinstance(node, Tag) and node.name in names]


def of_class(tag: Tag, name: str) -> list[Tag]:
    """The tags below a tag that have a class."""
    found = having(tag, "class")
    return [node for node in found if name in node.get_attribute_list("class")]


def section_after(heading: Tag, *ends: str) -> list[PageElement]:
    """Everything after a heading up to the next one of these."""
    nodes = []
    for node in heading.next_siblings:
        if isinstance(node, Tag) and node.name in ends:
            break
        nodes.append(node)
    return nodes
