"""What readers take along: the whole site as a zip, and ``ppo_ref`` as a wheel.

The zip works from a folder, without a server and a network. Every local link names the
file it leads to, since a server answers ``gae/inputs/`` with the index of that folder
and a folder does not. The search index is a script, searched without a Worker.
"""

import io
import json
import os
import posixpath
import re
import subprocess
import sys
import tempfile
from collections.abc import Container, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from hashlib import sha256
from html import escape, unescape
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag, urlsplit, urlunsplit
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from site_tools.say import Refusal

ZIP, LIST, FULL = "offline.zip", "llms.txt", "llms-full.txt"
OFFLINE = "about/offline/"  # the page that offers them
OFFERED = re.compile(r'<span data-download="([^"]+)">([^<]+)</span>')
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


def link_downloads(html: str, page: str, sizes: Mapping[str, int]) -> str:
    """Link what has been made, with its size.

    The zip holds that page, so the page in it cannot say how large the zip is; nor need
    it, where the zip has been unpacked.
    """

    def link(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[1]))
        if path not in sizes:
            return match[0]
        count = sizes[path]
        size = f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
        return f'<a href="{match[1]}">{match[2]}</a> ({size})'

    return OFFERED.sub(link, html)


def copy(site: Mapping[str, bytes], home: str = "") -> dict[str, bytes]:
    used = {path: content for path, content in site.items() if not _is_unused(path)}
    made = {}
    for path, content in used.items():
        if path.endswith(".html"):
            content = rewrite(content.decode(), path, used, home).encode()
        elif path.endswith("assets/search/start.js"):
            content = Path(__file__).with_name("offline.js").read_bytes() + content
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
    found = json.loads(text)
    for entry in [*found["docs"], found["uncovered"]]:
        path, anchor = urldefrag(entry["location"])
        entry["location"] = path + INDEX + (f"#{anchor}" if anchor else "")
    dumped = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"const searchIndex = {dumped};\n"


def rewrite(html: str, page: str, files: Container[str], home: str = "") -> str:
    """A page whose local links, also those to ``home``, name files of the copy."""

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


# The package.

PACKAGE = "ppo_ref"
KINDS = (".py", ".typed", ".jsonl", ".html", ".css", ".js")  # code, and its data
BESIDE = ("pyproject.toml", "README.md", "LICENSE")
VERSION = re.compile(r'(?m)^version = "([^"]+)"$')
BUILD = "from setuptools.build_meta import build_wheel; build_wheel('out')"
EPOCH = "315532800"  # the first date that a zip file knows


def wheel(root: Path, cache: Path) -> Path:
    """The wheel of the package, from the cache if its sources have not changed.

    Its version carries a hash of them, since pip leaves an equal version in place: a
    second installation from the same address brings what is there now.
    """
    try:
        package = [p for p in sorted((root / PACKAGE).rglob("*")) if p.is_file()]
        code = [path for path in package if path.suffix in KINDS]
        files = [*code, *(root / name for name in BESIDE)]
        sources = {p.relative_to(root).as_posix(): p.read_bytes() for p in files}
        digest = sha256(repr(sources).encode()).hexdigest()[:8]
        folder = cache / digest
        if not any(folder.glob("*.whl")):
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache) as aside:
                _build(Path(aside), sources, digest)
                with suppress(OSError):  # the other language may have been faster
                    Path(aside, "out").rename(folder)
        return next(folder.glob("*.whl"))
    except OSError as error:
        raise Refusal("wheel_failed", reason=error) from None


def _build(folder: Path, sources: dict[str, bytes], digest: str) -> None:
    for name, content in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o644)  # the wheel keeps it, and the umask
    project = (folder / "pyproject.toml").read_text("utf-8")
    # A local version of digits alone would lose its zeros.
    project, count = VERSION.subn(rf'version = "\1+src{digest}"', project)
    if count != 1:
        raise Refusal("wheel_version")
    (folder / "pyproject.toml").write_text(project, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", BUILD],
        cwd=folder,
        env=os.environ | {"SOURCE_DATE_EPOCH": EPOCH, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        errors="replace",
        umask=0o022,
    )
    if done.returncode:
        last = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        raise Refusal("wheel_failed", reason=last)
