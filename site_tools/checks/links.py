"""Links between the pages of one language: each leads to a page and a place in it.

The strict build says the same of the built site; this says it of the sources, in a
moment.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from site_tools.checks.identities import LABEL
from site_tools.problems import Problem
from site_tools.source.page import Page
from site_tools.source.prose import line_of, parts

ID = re.compile(r'\bid="([^"]+)"')
MADE = re.compile(r"ppo_ref/.*\.md")  # made from the package, when the site is built


class Link(NamedTuple):
    """From a line of a page to a page of the same language, and a place in it."""

    path: str
    line: int
    shown: str
    page: str
    anchor: str


def links(page: Page) -> Iterator[Link]:
    """The links of a page that stay within its language."""
    folder = posixpath.dirname(f"{page.id}.md")
    for part in parts(page.body):
        if part.kind == "target" and not re.match(r"[a-z]+:|/", part.text):
            target, _, anchor = part.text.partition("#")
            to = posixpath.normpath(posixpath.join(folder, target))
            to = to if target else f"{page.id}.md"
            yield Link(page.path, line_of(page.body, part.start), part.text, to, anchor)


def anchors(page: Page, html: str) -> frozenset[str]:
    """Where a link to a page can lead: ids, questions answered, formulas.

    Args:
        page: The page.
        html: It, rendered.
    """
    asked = (f"q-{number.replace('·', '-')}" for number in page.texts("answers"))
    return frozenset([*ID.findall(html), *LABEL.findall(page.body), *asked])


def broken(
    found: Iterable[Link], known: Mapping[str, frozenset[str]]
) -> Iterator[Problem]:
    """The links that lead nowhere.

    Args:
        found: Links of pages of one language.
        known: The anchors of each of its pages, by path as in ``gae/inputs.md``.
    """
    for link in found:
        if link.page.endswith(".svg") or MADE.fullmatch(link.page):
            continue
        if link.page not in known:
            fix = "write the path from this page, with .md"
            wanted = "a page of this language"
            yield Problem(link.path, link.line, link.shown, wanted, fix)
        elif link.anchor and link.anchor not in known[link.page]:
            wanted = f"an id of {link.page}, which has none named {link.anchor}"
            fix = "write the id of a heading there"
            yield Problem(link.path, link.line, link.shown, wanted, fix)
