"""Every page of the built site: on a desk and on a phone, light and dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.server import serve
from tests.browser.watching import Watch, is_sampled, pages

PHONE, DESK = 390, 1280
LINKS = "[...document.links].map(link => link.href.replace(/#.*/, ''))"


def crawl(site: Path, watch: Watch) -> Iterator[str]:
    """What is wrong with any page at either width, following links from two homes."""
    found, waiting = {"", "en/"}, ["", "en/"]
    while waiting:
        path = waiting.pop()
        yield from watch.visit(path, axe=is_sampled(path))
        yield from watch.resized(path, PHONE)
        for link in watch.tab.evaluate(LINKS):
            path = link.removeprefix(watch.address)
            known = path in found or not link.startswith(watch.address)
            if not known and Path(path).suffix in ("", ".html"):
                found.add(path)
                waiting.append(path)
    for path in sorted(pages(site) - found):
        yield f"{path}: no link leads there"


def context(browser: Any, width: int, scheme: str) -> Any:
    return browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme
    )


def test_nothing_is_wrong_with_any_page(browser: Any, site: Path, address: str) -> None:
    inside = context(browser, DESK, "light")
    assert list(crawl(site, Watch(inside.new_page(), address))) == []
    inside.close()


def test_nothing_is_wrong_on_a_phone_in_the_dark(
    browser: Any, site: Path, address: str
) -> None:
    inside = context(browser, PHONE, "dark")
    watch = Watch(inside.new_page(), address)
    # Both languages share their colours, and the crawl saw both as narrow as a phone.
    chinese = [page for page in sorted(pages(site)) if not page.startswith("en/")]
    sampled = filter(is_sampled, chinese)
    assert [fault for path in sampled for fault in watch.visit(path, axe=True)] == []
    inside.close()


SIDEWAYS = "scrolls sideways"
SOUND = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
</head><body><main><h1>A page</h1><a href="/ppo/">Home</a> <a href="/ppo/en/">Second</a>
{}</main></body></html>"""
FAULTS = {
    "": "",
    "status 404": "<img src='none.png' alt='none'>",
    "request elsewhere: https://example.org/": "<script src='https://example.org/'></script>",
    "console error: planted": "<script>console.error('planted')</script>",
    "script error: planted": "<script>throw new Error('planted')</script>",
    SIDEWAYS: "<div style='width: 600px'>wider than a phone</div>",
    "image-alt": "<img src='data:,'>",
    "color-contrast": "<p style='color: #ddd; background: #fff'>faint</p>",
    "alone/: no link leads there": "",
}


@pytest.mark.parametrize(
    ("fault", "width"), [*((fault, DESK) for fault in FAULTS), (SIDEWAYS, PHONE)]
)
def test_a_fault_is_seen(browser: Any, tmp_path: Path, fault: str, width: int) -> None:
    for place in ("", "en", "alone" if fault.startswith("alone") else ""):
        (tmp_path / place).mkdir(exist_ok=True)
        (tmp_path / place / "index.html").write_text(SOUND.format(""), "utf-8")
    (tmp_path / "en/index.html").write_text(SOUND.format(FAULTS[fault]), "utf-8")
    (tmp_path / "404.html").write_text("none", "utf-8")
    inside = context(browser, width, "light")
    inside.route("https://example.org/", lambda route: route.fulfill(body=""))
    with serve(tmp_path) as address:
        faults = list(crawl(tmp_path, Watch(inside.new_page(), address)))
    inside.close()
    if fault:
        assert any(fault in found for found in faults), faults
    else:
        assert faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_colour_too_faint_in_the_dark_is_seen_there(
    browser: Any, tmp_path: Path, scheme: str
) -> None:
    style = "p {color: #fff; background: #000}"
    style += "@media (prefers-color-scheme: dark) {p {color: #222}}"
    page = SOUND.format(f"<style>{style}</style><p>words</p>")
    (tmp_path / "index.html").write_text(page, "utf-8")
    inside = context(browser, PHONE, scheme)
    with serve(tmp_path) as address:
        faults = Watch(inside.new_page(), address).visit("", axe=True)
    inside.close()
    assert [fault.partition(":")[2][1:15] for fault in faults] == (
        ["color-contrast"] if scheme == "dark" else []
    )
