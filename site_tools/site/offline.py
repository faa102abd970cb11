"""The built site as a zip that works from a folder, without a server and a network.

Every local link names the file it leads to, since a server answers ``gae/inputs/`` with
the index of that folder and a folder does not. The search index is a script, searched
without a Worker.
"""

import io
import json
import posixpath
import re
from collections.abc import Container, Mapping
from fnmatch import fnmatchcase
from html import escape, unescape
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag, urlsplit, urlunsplit
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from site_tools.say import Refusal

INDEX = "index.html"
SEARCH = "search/search_index"
# What only a server or a search engine asks for, and the theme's own search.
UNUSED = (
    "404.html",
    "sitemap.xml*",
    "*.js.map",
    "*.css.map",
    "assets/javascripts/lunr/*",
    "assets/javascripts/workers/*",
)
NAMES = "a|area|form|iframe|image|img|link|script|source|use"
TAG = re.compile(rf'<(?:{NAMES})(?:\s+[^\s"=>]+(?:="[^"]*")?)*\s*/?>')
ADDRESS = re.compile(r'(?<=\s)((?:xlink:)?href|src|action)="([^"]*)"')
# How a page that has moved leads on (ways.led_on).
LED_ON = re.compile(r'(location\.replace\("|content="0; url=)([^"]*)(?=")')
WORKER = """const searchWorker = (fetch, postMessage, addEventListener, location) => {
%s}
"""
PLAIN_FILE, UNIX = 0o100644 << 16, 3


def copy(site: Mapping[str, bytes], home: str = "") -> dict[str, bytes]:
    """The files of the copy by path."""
    used = {path: content for path, content in site.items() if not _is_unused(path)}
    made = {}
    for path, content in used.items():
        if path.endswith(".html"):
            content = rewrite(content.decode(), path, used, home).encode()
        elif path.endswith("assets/search/start.js"):
            content = Path(__file__).with_suffix(".js").read_bytes() + content
        elif path.endswith("assets/search/worker.js"):
            content = (WORKER % content.decode()).encode()
        elif f"/{path}".endswith(f"/{SEARCH}.json"):
            path = path.removesuffix("json") + "js"
            content = _search_index(content.decode()).encode()
        made[path] = content
    return made


def _is_unused(path: str) -> bool:
    return any(fnmatchcase(path.removeprefix("en/"), pattern) for pattern in UNUSED)


def _search_index(text: str) -> str:
    """The index as a script, its pages named by their files."""
    found = json.loads(text)
    for entry in [*found["docs"], found["uncovered"]]:
        path, anchor = urldefrag(entry["location"])
        entry["location"] = path + INDEX + (f"#{anchor}" if anchor else "")
    dumped = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"const searchIndex = {dumped};\n"


def rewrite(html: str, page: str, files: Container[str], home: str = "") -> str:
    """A page whose local links name files.

    What a reader can follow to ``home``, the address of the site, leads into the copy.
    """

    def led(value: str, base: str = "") -> str:
        return escape(_to_file(unescape(value), page, files, base))

    def tag(match: re.Match[str]) -> str:
        base = home if match[0].startswith("<a ") else ""
        return ADDRESS.sub(lambda at: f'{at[1]}="{led(at[2], base)}"', match[0])

    html = LED_ON.sub(lambda match: match[1] + led(match[2]), html)
    return TAG.sub(tag, html)


def _to_file(link: str, page: str, files: Container[str], home: str) -> str:
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
        raise Refusal("link_leads_nowhere", page=page, link=link)
    path = quote(posixpath.relpath(target, folder or "."))
    return urlunsplit(parts._replace(path=path))


def pack(files: Mapping[str, bytes], folder: str) -> bytes:
    """A zip with everything in one folder: the same bytes for the same files."""
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for path in sorted(files):
            entry = ZipInfo(f"{folder}/{path}")
            entry.external_attr, entry.create_system = PLAIN_FILE, UNIX
            archive.writestr(entry, files[path], ZIP_DEFLATED, compresslevel=9)
    return stream.getvalue()
