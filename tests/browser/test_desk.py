"""The pages of the built site on a desk, and what a crawl of them would see."""

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest

from tests.browser.server import serve
from tests.browser.watching import (
    ALL,
    ALL_BUT_COLOURS,
    COLOURS,
    DESK,
    PHONE,
    SAMPLE,
    Watch,
    crawl,
    is_sampled,
    of_each_kind,
    pages,
    tab_of,
)

LINK = re.compile(r'<a [^>]*\bhref="([^"#?]+)')


def unlinked(site: Path) -> set[str]:
    """The pages to which no way leads from either home."""
    there, waiting = pages(site), ["", "en/"]
    known = {*waiting}
    while waiting:
        page = waiting.pop()
        links = LINK.findall((site / page / "index.html").read_text("utf-8"))
        paths = {urljoin(f"/{page}", link).removeprefix("/") for link in links}
        new = {path.removesuffix("index.html") for path in paths} & there - known
        known |= new
        waiting += new
    return there - known


def test_the_pages_that_stand_for_the_reference_are_there(site):
    assert pages(site) >= SAMPLE


def test_every_page_is_linked(site):
    assert unlinked(site) == set()


def test_nothing_is_wrong_with_an_english_page(browser, site, address):
    """Each page is built like its twin and has the same colours, as ``make test`` sees.

    What axe says more of English is in the words of a template.
    """
    english = [path for path in sorted(pages(site)) if path.startswith("en/")]
    sampled = list(filter(is_sampled, english))
    with tab_of(browser, DESK, "light") as tab:
        of_kinds = of_each_kind(sampled)
        judged = {p: ALL_BUT_COLOURS if p in of_kinds else None for p in sampled}
        assert list(crawl(judged, Watch(tab, address))) == []


SOUND = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
</head><body><main><h1>A page</h1><a href="/ppo/">Home</a> <a href="en/">Second</a>
{}</main></body></html>"""
SIDEWAYS = "scrolls sideways"
FAULTS = {
    "status 404": "<img src='none.png' alt='none'>",
    "request elsewhere: https://example.org/": "<script src='https://example.org/'></script>",
    "console error: planted": "<script>console.error('planted')</script>",
    "script error: planted": "<script>throw new Error('planted')</script>",
    SIDEWAYS: "<div style='width: 600px'>wider than a phone</div>",
    "image-alt": "<img src='data:,'>",
    "color-contrast": "<p style='color: #ddd; background: #fff'>faint</p>",
}


DARK = ["color-contrast", "stays as it is in the dark"]


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_a_fault_is_seen(browser, tmp_path, width):
    write(tmp_path, "", SOUND.format(""))
    write(tmp_path, "en", SOUND.format("".join(FAULTS.values())))
    with tab_of(browser, width, "light") as tab, serve(tmp_path) as address:
        tab.route("https://example.org/", lambda route: route.fulfill(body=""))
        watch = Watch(tab, address)
        assert list(crawl({"": ALL}, watch)) == []
        faults = list(crawl({"en/": ALL}, watch))
    assert [kind for kind in FAULTS if not any(kind in f for f in faults)] == []


DARKENED = """<!doctype html><title>A page</title><link rel="icon" href="data:,"><style>
p {color: #fff; background: #000}
@media (prefers-color-scheme: dark) {p {color: #222} body {background: %s}}
</style><p>words</p>"""


@pytest.mark.parametrize("night", ["#111", "transparent"])
def test_a_colour_too_faint_in_the_dark_is_seen_there(browser, tmp_path, night):
    (tmp_path / "index.html").write_text(DARKENED % night, "utf-8")
    with tab_of(browser, DESK, "light") as tab, serve(tmp_path) as address:
        watch = Watch(tab, address)
        assert watch.visit("", COLOURS) == []
        faults = watch.in_the_dark("")
        assert tab.evaluate("innerWidth") == DESK
        assert tab.evaluate("!matchMedia('(prefers-color-scheme: dark)').matches")
    assert [kind for kind in DARK if any(kind in fault for fault in faults)] == (
        DARK[:1] if night == "#111" else DARK
    )


def test_a_page_without_a_way_to_it_is_seen(tmp_path):
    for place in ("", "en", "alone"):
        write(tmp_path, place, SOUND.format(""))
    assert unlinked(tmp_path) == {"alone/"}


def write(site: Path, place: str, page: str) -> None:
    (site / place).mkdir(exist_ok=True)
    (site / place / "index.html").write_text(page, "utf-8")
    (site / "404.html").write_text("none", "utf-8")
