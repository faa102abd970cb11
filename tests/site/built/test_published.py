"""The site at its address, as search engines and readers meet it: all leads somewhere.

It is the trial site as whoever publishes builds it, with its address told.
"""

import re
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from bs4 import BeautifulSoup

from tests.site.trial_site import ADDRESS

SITEMAPS = ("sitemap.xml", "en/sitemap.xml")
CARD = (1200, 630)


@pytest.fixture
def linked(trial: Path) -> Path:
    return trial / "linked"


def file_at(linked: Path, url: str) -> Path:
    """The file that is served at an address of the site."""
    file = linked / unquote(url.removeprefix(ADDRESS).partition("?")[0])
    return file / "index.html" if file.is_dir() else file


@cache
def read(file: Path) -> BeautifulSoup:
    return BeautifulSoup(file.read_text("utf-8"), "html.parser")


def dead_ends(linked: Path, page: Path) -> Iterator[str]:
    """The addresses on a page at which the site has nothing."""
    here = urljoin(ADDRESS, page.relative_to(linked).as_posix())
    for tag in read(page).find_all(["a", "link", "script", "img"]):
        written = tag.get("href") or tag.get("src") or ""
        url, anchor = urldefrag(urljoin(here, written))
        if not url.startswith(ADDRESS):
            continue
        file = file_at(linked, url)
        there = file.is_file()
        if there and anchor and tag.name == "a":
            there = read(file).find(id=unquote(anchor)) is not None
        if not there:
            yield written


def test_everything_that_is_linked_is_there(linked):
    pages = [file for file in linked.rglob("*.html") if file.name != "404.html"]
    assert len(pages) > 20
    ends = {page: list(dead_ends(linked, page)) for page in pages}
    assert {page: found for page, found in ends.items() if found} == {}


def test_a_dead_end_is_found(tmp_path):
    there = '<p id="here"><a href="#here"></a><a href="https://example.net/x"></a>'
    dead = '<a href="gone/"></a><a href="#away"></a><img src="none.png">'
    page = tmp_path / "index.html"
    page.write_text(there + dead, "utf-8")
    assert list(dead_ends(tmp_path, page)) == ["gone/", "#away", "none.png"]


def listed(linked: Path) -> dict[str, dict[str, str]]:
    """The addresses in both sitemaps, each with its languages."""
    pages = {}
    for sitemap in SITEMAPS:
        entries = (linked / sitemap).read_text("utf-8").split("<url>")[1:]
        for entry in entries:
            (place,) = re.findall(r"<loc>(.*?)</loc>", entry)
            languages = re.findall(r'hreflang="([^"]+)" href="([^"]+)"', entry)
            pages[place] = dict(languages)
    return pages


def test_a_page_of_the_sitemap_says_where_it_is_and_in_which_languages(linked):
    pages = listed(linked)
    assert {ADDRESS, f"{ADDRESS}en/"} <= pages.keys()
    for url, languages in pages.items():
        html = read(file_at(linked, url))
        assert html.find("link", rel="canonical")["href"] == url
        assert html.find("meta", property="og:url")["content"] == url
        assert "noindex" not in str(html.find("meta", attrs={"name": "robots"}))
        shown = html.find_all("link", hreflang=True)
        assert {tag["hreflang"]: tag["href"] for tag in shown} == languages
        assert not languages or url in languages.values()
        assert all(pages[other] == languages for other in languages.values())


def test_a_page_of_the_sitemap_has_a_card(linked):
    for url in listed(linked):
        html = read(file_at(linked, url))
        for name in ("og:title", "og:image:alt"):
            assert html.find("meta", property=name)["content"], (url, name)
        image = html.find("meta", property="og:image")["content"]
        picture = file_at(linked, image).read_bytes()
        assert picture[:4] == b"\x89PNG"
        assert struct.unpack(">II", picture[16:24]) == CARD
