"""Links that a browser follows from a folder: each names the file it leads to.

A server answers ``gae/inputs/`` with the index of that folder, a folder does not.
"""

import posixpath
import re
from collections.abc import Container
from html import escape, unescape
from urllib.parse import quote, unquote, urlsplit, urlunsplit

NAMES = "a|area|form|iframe|image|img|link|script|source|use"
TAG = re.compile(rf'<(?:{NAMES})(?:\s+[^\s"=>]+(?:="[^"]*")?)*\s*/?>')
ADDRESS = re.compile(r'(?<=\s)((?:xlink:)?href|src|action)="([^"]*)"')
# How a page that has moved leads on (html.moved).
LED_ON = re.compile(r'(location\.replace\("|content="0; url=)([^"]*)(?=")')
INDEX = "index.html"


def rewrite(html: str, page: str, files: Container[str], home: str = "") -> str:
    """A page whose local links name files.

    Args:
        html: The page.
        page: Its path among the files.
        files: The paths of all files.
        home: The address of the site, if it has one: what a reader can follow there
            leads into the copy too.

    Raises:
        ValueError: naming the page and a link that leads to no file.

    Example:
        >>> files = ["index.html", "gae/inputs/index.html"]
        >>> rewrite('<a href="gae/inputs/#why">', "index.html", files)
        '<a href="gae/inputs/index.html#why">'
        >>> rewrite('<a href="../..">', "gae/inputs/index.html", files)
        '<a href="../../index.html">'
    """

    def led(value: str, base: str = "") -> str:
        return escape(to_file(unescape(value), page, files, base))

    def tag(match: re.Match[str]) -> str:
        base = home if match[0].startswith("<a ") else ""
        return ADDRESS.sub(lambda at: f'{at[1]}="{led(at[2], base)}"', match[0])

    html = LED_ON.sub(lambda match: match[1] + led(match[2]), html)
    return TAG.sub(tag, html)


def to_file(link: str, page: str, files: Container[str], home: str = "") -> str:
    """One link of a page, as it must read in the copy.

    Args:
        link: As it reads in the site.
        page: As in :func:`rewrite`.
        files: As in :func:`rewrite`.
        home: As in :func:`rewrite`.

    Raises:
        ValueError: as :func:`rewrite` does.
    """
    local = "/" + link.removeprefix(home) if home and link.startswith(home) else link
    parts = urlsplit(local)
    if parts.scheme or parts.netloc or not parts.path:
        return link
    folder = posixpath.dirname(page)
    rooted = posixpath.join("/", folder, unquote(parts.path))
    target = posixpath.normpath(rooted).lstrip("/")
    if target not in files:
        target = posixpath.join(target, INDEX)
    if target not in files:
        raise ValueError(f"{page}: each link must lead to a file, got {link}")
    path = quote(posixpath.relpath(target, folder or "."))
    return urlunsplit(parts._replace(path=path))
