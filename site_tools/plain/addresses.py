"""Where the links of a page lead from a file at the root of its language."""

import posixpath
from urllib.parse import urlsplit

from site_tools.plain.inline import Resolve

INDEX = "index"


def address(page: str) -> str:
    """A page below the root of its language, by its id.

    Example:
        >>> address("gae/inputs"), address("gae/index"), address("index")
        ('gae/inputs/', 'gae/', '')
    """
    folder, name = posixpath.split(page)
    path = folder if name == INDEX else page
    return f"{path}/" if path else ""


def absolute(path: str, home: str) -> str:
    """A path below the root of a language as a link.

    Args:
        path: The path.
        home: The address of that root; "" where the site has none.

    Example:
        >>> absolute("gae/inputs/", ""), absolute("", "")
        ('gae/inputs/', './')
        >>> absolute("gae/inputs/", "https://example.org/en/")
        'https://example.org/en/gae/inputs/'
    """
    return f"{home}{path}" or "./"


def resolver(page: str, home: str) -> Resolve:
    """What turns the links of a page into links of the file.

    Args:
        page: Its id, as in ``gae/inputs``.
        home: As in :func:`absolute`.

    Example:
        >>> resolve = resolver("gae/inputs", "")
        >>> resolve("variance.md#why"), resolve("/critic/"), resolve("#code")
        ('gae/variance/#why', 'critic/', 'gae/inputs/#code')
    """

    def resolve(link: str) -> str:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return link
        if not parts.path:
            path = address(page)
        elif parts.path.endswith(".md"):
            file = posixpath.join(posixpath.dirname(page), parts.path)
            path = address(posixpath.normpath(file).removesuffix(".md"))
        else:  # of a list, or of a page that is built
            path = posixpath.join(address(page), parts.path)
            slash = "/" if path.endswith("/") else ""
            path = posixpath.normpath(path).lstrip("/") + slash
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        return absolute(path, home) + anchor

    return resolve
