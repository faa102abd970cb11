"""The pieces of HTML that lists are made of, in both languages."""

import re
from collections.abc import Iterable
from functools import lru_cache
from html import escape

from markdown import Markdown

from site_tools.indexes.sources import Answer

LINK = re.compile(r"(?<!!)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\([^()\s]*\)")
EXTENSIONS = {"attr_list": {}, "pymdownx.arithmatex": {"generic": True}}
COMING = {"zh": "在写", "en": "coming"}
# What a page of its own says already; a heading must then have no id.
UNSEARCHED = ' data-search-exclude="1"'


def inline(text: str) -> str:
    """A line of Markdown as HTML, its links as plain text: they point from elsewhere.

    Example:
        >>> inline("**Yes**, see [why](why.md) in `x`.")
        '<strong>Yes</strong>, see why in <code>x</code>.'
    """
    html = _converter().reset().convert(LINK.sub(r"\1", text))
    return html.removeprefix("<p>").removesuffix("</p>")


@lru_cache(maxsize=1)
def _converter() -> Markdown:
    return Markdown(extensions=list(EXTENSIONS), extension_configs=EXTENSIONS)


def link(page: str, html: str, anchor: str = "") -> str:
    """A link to a page by its id.

    Example:
        >>> link("gae/inputs", "Enough?", "why")
        '<a href="/gae/inputs/#why">Enough?</a>'
    """
    target = f"{page}/" + (f"#{anchor}" if anchor else "")
    return f'<a href="/{escape(target)}">{html}</a>'


def detail(html: str) -> str:
    """Something said beside the point, smaller."""
    return f'<span class="detail">{html}</span>'


def verdict(answer: Answer) -> str:
    """The bold first words of an answer, behind its title."""
    words = inline(answer.verdict)
    return f' <strong class="verdict">{words}</strong>' if words else ""


def section(items: Iterable[str], *, own: bool = False) -> str:
    """A list of the site: made of data that is checked where it comes from.

    Args:
        items: Its lines.
        own: Whether it says what no other page says, so that the search may lead to it.
    """
    kind = "derived own" if own else "derived"
    return f'<section class="{kind}">\n' + "\n".join(items) + "\n</section>"


def bullets(items: Iterable[str]) -> list[str]:
    """List items, or nothing if there are none."""
    found = list(items)
    return ["<ul>", *found, "</ul>"] if found else []
