"""All files of the copy, from those of the site."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from site_tools.offline import links, search

# What only a server or a search engine asks for, and the theme's own search.
UNUSED = (
    "404.html",
    "sitemap.xml*",
    "*.js.map",
    "*.css.map",
    "assets/javascripts/lunr/*",
    "assets/javascripts/workers/*",
)


def copy(site: Mapping[str, bytes], home: str = "") -> dict[str, bytes]:
    """The files of the copy by path.

    Args:
        site: The files of the built site, both languages, by path.
        home: Its address, if it has one.

    Raises:
        ValueError: naming a page and its link that leads to no file.
    """
    kept = [path for path in site if not _is_unused(path)]
    paths = frozenset(kept)
    made = {}
    for path in kept:
        content = site[path]
        if path.endswith(".html"):
            html = links.rewrite(content.decode(), path, paths, home)
            made[path] = html.encode()
            continue
        for end, change in search.CHANGED.items():
            if f"/{path}".endswith(f"/{end}"):
                path = path.replace(search.INDEX_AS_JSON, search.INDEX_AS_SCRIPT)
                content = change(content.decode()).encode()
        made[path] = content
    return made


def _is_unused(path: str) -> bool:
    inside = path.removeprefix("en/")
    return any(fnmatchcase(inside, pattern) for pattern in UNUSED)
