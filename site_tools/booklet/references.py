"""Where the links of the book lead: into it, to the site, or nowhere.

All of the book's ids are different, so that the same chapters can be files of their own
or one long page: what has the id ``dial`` on course/gae has here ``course-gae.dial``.
"""

from collections.abc import Collection
from typing import NamedTuple

from site_tools.booklet.contents import file_of
from site_tools.booklet.excerpt import FRONT_SECTIONS
from site_tools.compile import links
from site_tools.finish.article import Article, having, tags


class Placed(NamedTuple):
    """A page in the book: what it has there, and the chapter that has it."""

    article: Article
    chapter: str


class References:
    """Leads from every link of the book, given what it has of each page."""

    def __init__(self, placed: Collection[Placed], address: str) -> None:
        self.address = address  # of the site in this language, or ""
        self.pages: dict[str, Placed] = {}  # by their address on the site
        self.ids: set[str] = set()
        for page in placed:
            name = file_of(page.article.id)
            self.pages[links.address(page.article.id)] = page
            tags_with_id = having(page.article.content, "id")
            self.ids |= {name, *(f"{name}.{tag['id']}" for tag in tags_with_id)}

    def settle(self, article: Article) -> None:
        """Make the ids of a page its own, and lead its links on."""
        for tag in having(article.content, "id"):
            tag["id"] = f"{file_of(article.id)}.{tag['id']}"
        article.content["id"] = file_of(article.id)
        for link in tags(article.content, "a"):
            target = self.target(str(link.get("href")), article.id)
            if target:
                link["href"] = target
            else:
                link.unwrap()

    def target(self, href: str, page: str) -> str:
        """Where a link of a page leads; "" where neither book nor site has it."""
        inside = links.within(href, page)
        if inside is None:
            return href
        inside = inside.lstrip("/")
        path, _, anchor = inside.partition("#")
        there = self.pages.get(path)
        if there:
            name = file_of(there.article.id)
            place = (
                f"{name}.{anchor}" if anchor and anchor not in FRONT_SECTIONS else name
            )
            if place in self.ids or not self.address:
                return f"{there.chapter}.xhtml#{place if place in self.ids else name}"
        return self.address and self.address + inside
