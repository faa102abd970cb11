"""The same page in the other language, as links that work at any address."""

import posixpath
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """One language: what its readers call it, and its folder under the root."""

    name: str
    folder: str


SITES = {"zh": Site("中文", ""), "en": Site("English", "en/")}


@dataclass(frozen=True)
class Twin:
    """The way from a page to the other language."""

    lang: str
    name: str
    href: str


def other(lang: str) -> str:
    """The language that a page is not in.

    Example:
        >>> other("zh")
        'en'
    """
    return next(code for code in SITES if code != lang)


def twin(lang: str, url: str, translated: bool) -> Twin:
    """The link from a page to its twin, or to the other home if it has none.

    Args:
        lang: The language of the page.
        url: Its address within the site of that language, ``""`` for the home.
        translated: Whether the other language has this page.

    Example:
        >>> twin("zh", "gae/inputs/", translated=True).href
        '../../en/gae/inputs/'
        >>> twin("en", "gae/inputs/", translated=False).href
        '../../../'
    """
    there = other(lang)
    return Twin(there, SITES[there].name, link(lang, url, there, url * translated))


def link(lang: str, url: str, to: str, target: str) -> str:
    """The relative address of a page, from a page of either language.

    Args:
        lang: The language of the page that has the link.
        url: Its address within the site of that language.
        to: The language of the page it leads to.
        target: The address of that page within its site.

    Example:
        >>> link("en", "about/status/", "zh", "gae/inputs/")
        '../../../gae/inputs/'
    """
    start = posixpath.dirname(f"/{SITES[lang].folder}{url}")
    path = SITES[to].folder + target
    href = posixpath.relpath(f"/{path}", start)
    return f"{href}/" if not path or path.endswith("/") else href


def alternates(root: str, url: str, langs: Collection[str]) -> dict[str, str]:
    """The absolute addresses of a page, for search engines.

    Args:
        root: The address of the site.
        url: The page's address within the site of a language.
        langs: The languages that have the page.

    Returns:
        By language; ``x-default``, for readers of any other one, is the English page
        where there is one.

    Example:
        >>> alternates("https://example.org/ppo/", "gae/inputs/", ["zh"])
        {'zh': 'https://example.org/ppo/gae/inputs/', \
'x-default': 'https://example.org/ppo/gae/inputs/'}
    """
    found = {code: root + SITES[code].folder + url for code in SITES if code in langs}
    return found | {"x-default": found.get("en") or found["zh"]}
