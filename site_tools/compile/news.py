"""The news in one language: the pieces that about/news lists, and the feed.

The feed is Atom (RFC 4287). Its addresses are whole, so there is one only where the
site has an address.
"""

from pathlib import Path
from typing import NamedTuple
from uuid import UUID, uuid5

from site_tools.compile import links, navigation
from site_tools.compile.plain import in_words
from site_tools.compile.templates import fill, words
from site_tools.data.news import NEW_QUESTION, News, read_news
from site_tools.source import files

FEED = "feed.xml"
NEWS_PAGE = "about/news"
IN_FEED = 50  # pieces in the feed
# An id in the feed has no address in it: it stays when the site moves.
NAMESPACE = UUID("7d0b2f52-6a0e-4f0b-9a55-1c8f1f2f9d3e")


class Announced(NamedTuple):
    """A piece of news as one language tells it; ``said`` is a line of Markdown."""

    news: News
    title: str
    said: str

    @property
    def place(self) -> str:
        """Where it leads, within the language: ``gae/inputs/#why``."""
        page, mark, anchor = self.news.page.partition("#")
        return links.address(page) + mark + anchor


def announced(root: Path, lang: str) -> list[Announced]:
    """All of them, the newest first.

    What is about a page that is not written in this language is left out.
    """
    metas = files.front_matters(root / "docs" / lang)
    verdicts = {each.page: each.verdict for each in navigation.answers(root, lang)}
    found = []
    for row in reversed(read_news(root)):
        page = row.page.partition("#")[0]
        if f"{page}.md" in metas:
            known = row.kind == NEW_QUESTION
            said = verdicts.get(page, "") if known else _sentence(row, lang)
            found.append(Announced(row, navigation.title_of(metas[f"{page}.md"]), said))
    return found


def _sentence(row: News, lang: str) -> str:
    said = row.zh if lang == "zh" else row.en
    named = words(lang)["comma"].join(row.releases)
    return f"{said}{words(lang)['colon']}{named}" if named else said


def feed(root: Path, lang: str, address: str) -> str:
    """The feed of a language whose site is at this address; without news, nothing."""
    newest = announced(root, lang)[:IN_FEED]
    if not newest:
        return ""
    entries = [
        {
            "id": lasting_id(f"{lang} {piece.news.id}"),
            "title": in_words(piece.title, lang),
            "url": address + piece.place,
            "date": piece.news.date,
            "kind": piece.news.kind,
            "summary": in_words(piece.said, lang),
        }
        for piece in newest
    ]
    url = address + links.address(NEWS_PAGE)
    return fill("feed.atom", lang, lasting_id(lang), url, address + FEED, entries)


def lasting_id(name: str) -> str:
    return uuid5(NAMESPACE, name).urn
