"""The same page in the other language, as links that work at any address."""

import posixpath
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
    here, there = SITES[lang], SITES[other(lang)]
    target = there.folder + (url if translated else "")
    start = posixpath.dirname("/" + here.folder + url)
    href = posixpath.relpath("/" + target, start)
    is_folder = not target or target.endswith("/")
    return Twin(other(lang), there.name, f"{href}/" if is_folder else href)


def alternates(root: str, url: str) -> dict[str, str]:
    """The absolute address of a page in each language, for search engines.

    Example:
        >>> alternates("https://example.org/ppo/", "gae/inputs/")["en"]
        'https://example.org/ppo/en/gae/inputs/'
    """
    return {lang: root + site.folder + url for lang, site in SITES.items()}
