"""The published site as readers, search engines and programs meet it: what is wrong.

All is asked over HTTP at the addresses that the site itself names.
"""

import gzip
import re
import struct
from collections.abc import Iterator, Mapping
from html import unescape
from http.client import HTTPConnection
from urllib.parse import urljoin, urlsplit

from tests.rehearsal.forge import BASE

HOME = f"{BASE}/"
HOST = urljoin(HOME, "/")
SITEMAPS = ("sitemap.xml", "en/sitemap.xml")
TAG = re.compile(r"<(a|link|meta|script|img)\b([^>]*)>")
ATTRIBUTE = re.compile(r'([\w:-]+)="([^"]*)"')
CARD = (1200, 630)

Attributes = dict[str, str]


class Published:
    """A site that is served at an address, for ``HOME``."""

    def __init__(self, address: str) -> None:
        self.line = HTTPConnection(urlsplit(address).netloc)
        self.met: dict[str, tuple[int, bytes]] = {}

    def get(self, url: str) -> tuple[int, bytes]:
        """The status and what is served; addresses elsewhere are nobody's business."""
        path = urlsplit(url).path
        if path not in self.met:
            self.line.request("GET", path)
            answer = self.line.getresponse()
            content = answer.read()
            if answer.headers["Content-Encoding"] == "gzip":
                content = gzip.decompress(content)
            self.met[path] = (answer.status, content)
        return self.met[path]

    def text(self, url: str) -> str:
        status, content = self.get(url)
        return content.decode() if status == 200 else ""

    def faults(self) -> Iterator[str]:
        """Whatever is wrong, an address and a reason each."""
        listed: dict[str, Attributes] = {}
        for sitemap in SITEMAPS:
            for entry in self.text(HOME + sitemap).split("<url>")[1:]:
                (place,) = re.findall(r"<loc>(.*?)</loc>", entry)
                links = re.findall(r'hreflang="([^"]+)" href="([^"]+)"', entry)
                listed[place] = dict(links)
        if not {HOME, f"{HOME}en/"} <= listed.keys():
            yield f"{SITEMAPS}: must list both homes, list {len(listed)} pages"
        for url, languages in listed.items():
            for fault in self.of_page(url, languages, listed):
                yield f"{url}: {fault}"
        yield from self.of_programs()
        status, missing = self.get(f"{HOME}no/such/page")
        if status != 404 or b"noindex" not in missing:
            yield f"a missing page: {status}"
        self.line.close()

    def of_page(
        self, url: str, languages: Attributes, listed: Mapping[str, Attributes]
    ) -> Iterator[str]:
        if self.get(url)[0] != 200 or not url.startswith(HOME):
            yield f"served with {self.get(url)[0]}"
            return
        tags = tags_of(self.text(url))
        said = card_of(tags)
        canonical = [tag["href"] for kind, tag in tags if tag.get("rel") == "canonical"]
        if canonical != [url] or said.get("og:url") != url:
            yield f"canonical {canonical}, og:url {said.get('og:url')}"
        if "noindex" in said.get("robots", ""):
            yield "in the sitemap, and not to be indexed"
        links = [tag for kind, tag in tags if kind == "link" and "hreflang" in tag]
        shown = {tag["hreflang"]: tag["href"] for tag in links}
        if shown != languages or url not in shown.values():
            yield f"alternates {shown}, in the sitemap {languages}"
        for to in languages.values():
            if listed.get(to) != languages:
                yield f"{to} does not lead back"
        yield from self.of_card(said)
        yield from self.of_links(url, tags)

    def of_card(self, said: Attributes) -> Iterator[str]:
        image = said.get("og:image", "")
        picture = self.get(image)[1] if image.startswith(HOME) else b""
        size = struct.unpack(">II", picture[16:24]) if picture[:4] == b"\x89PNG" else ()
        if size != CARD:
            yield f"the image of its card: {image or 'none'} {size}"
        for name in ("og:title", "og:description", "og:image:alt"):
            if not said.get(name):
                yield f"no {name}"

    def of_links(self, url: str, tags: list[tuple[str, Attributes]]) -> Iterator[str]:
        """Every address at this host is served; above the site nothing is."""
        for _, tag in tags:
            to = urljoin(url, unescape(tag.get("href") or tag.get("src") or ""))
            if to.startswith(HOST) and self.get(to)[0] not in (200, 301):
                yield f"leads to {to}, which is served with {self.get(to)[0]}"

    def of_programs(self) -> Iterator[str]:
        """What they read names whole addresses, each of which is served."""
        for name in ("llms.txt", "en/llms.txt", "llms-full.txt", "en/llms-full.txt"):
            text = self.text(HOME + name)
            named = {*re.findall(rf"{re.escape(HOME)}[^\s)\]>\"'`]*", text)}
            if not named:
                yield f"{name}: names no page"
            for url in sorted(named):
                if self.get(url)[0] != 200:
                    yield f"{name}: names {url}, served with {self.get(url)[0]}"


def tags_of(html: str) -> list[tuple[str, Attributes]]:
    return [
        (kind, dict(ATTRIBUTE.findall(inside))) for kind, inside in TAG.findall(html)
    ]


def card_of(tags: list[tuple[str, Attributes]]) -> Attributes:
    """What a page says of itself in its head."""
    metas = (tag for kind, tag in tags if kind == "meta")
    return {
        tag.get("property") or tag.get("name", ""): unescape(tag.get("content", ""))
        for tag in metas
    }
