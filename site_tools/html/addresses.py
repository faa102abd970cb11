"""Addresses that begin at the root of a language, made relative to the page."""

import posixpath
import re

ROOTED = re.compile(r'(<a\b[^>]*?\bhref=")/([^"#]*)')


def resolve(html: str, url: str) -> str:
    """Make the links of derived lists work at any address.

    Args:
        html: The page.
        url: Its own address below the root of its language, "" for the home page.

    Example:
        >>> resolve('<a href="/gae/inputs/#why">', "debug/wrong_answers/")
        '<a href="../../gae/inputs/#why">'
        >>> resolve('<a href="/gae/inputs/">', "")
        '<a href="gae/inputs/">'
    """
    here = posixpath.join("/", url)

    def relative(match: re.Match[str]) -> str:
        return f"{match[1]}{posixpath.relpath('/' + match[2], here)}/"

    return ROOTED.sub(relative, html)
