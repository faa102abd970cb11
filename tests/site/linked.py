"""Where the links of files lead, read by other means than those that wrote them."""

import posixpath
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

MARKDOWN = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")


def links(html: str) -> list[str]:
    """Every ``href`` and ``src`` of a page, whatever the element."""
    reader = _Reader()
    reader.feed(html)
    return reader.found


def local(link: str) -> str | None:
    """The path of a link without query and anchor; None if it leads elsewhere."""
    parts = urlsplit(link)
    return None if parts.scheme or parts.netloc or not parts.path else parts.path


def target(page: str, path: str) -> str:
    """The file that a path of a page means, as a browser would see it."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path)))


def broken(files: Mapping[str, bytes]) -> list[str]:
    """The local links of pages in a folder that name no file of it."""
    return [
        f"{page}: {path}"
        for page, content in files.items()
        if page.endswith(".html")
        for path in map(local, links(content.decode()))
        if path and (path.endswith("/") or target(page, path) not in files)
    ]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {"href", "src", "xlink:href", "action", "poster", "data"}
        self.found += [value for name, value in attrs if name in names and value]
