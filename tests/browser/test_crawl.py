"""Every page of the built site: on a phone and on a desk, light and dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.server import serve
from tests.browser.watching import Watch, pages

WIDTHS = {"phone": 390, "desk": 1280}
SCHEMES = ("light", "dark")
# Once a page and scheme: axe takes seconds, and widths share their colours.
AXE = {("desk", "light"), ("phone", "dark")}
# The reference is one template over many modules: axe reads the map, a module of
# functions, one with classes, and a folder.
REFERENCE = ("ppo_ref/", "en/ppo_ref/")
SAMPLE = {f"ppo_ref/{name}" for name in ("", "advantages/", "trainer/", "asserts/")}
LINKS = "[...document.links].map(link => link.href.replace(/#.*/, ''))"


def crawl(site: Path, watch: Watch, axe: bool) -> Iterator[str]:
    """What is wrong with any page, following links from the two homes."""
    found, waiting = {"", "en/"}, ["", "en/"]
    while waiting:
        path = waiting.pop()
        yield from watch.visit(path, axe and _is_sampled(path))
        for link in watch.tab.evaluate(LINKS):
            path = link.removeprefix(watch.address)
            known = path in found or not link.startswith(watch.address)
            if not known and Path(path).suffix in ("", ".html"):
                found.add(path)
                waiting.append(path)
    for path in sorted(pages(site) - found):
        yield f"{path}: no link leads there"


def _is_sampled(path: str) -> bool:
    return path in SAMPLE or not path.startswith(REFERENCE)


def context(browser: Any, width: str, scheme: str) -> Any:
    return browser.new_context(
        viewport={"width": WIDTHS[width], "height": 844}, color_scheme=scheme
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wrong_with_any_page(
    browser: Any, site: Path, address: str, width: str, scheme: str
) -> None:
    inside = context(browser, width, scheme)
    watch = Watch(inside.new_page(), address)
    assert list(crawl(site, watch, axe=(width, scheme) in AXE)) == []
    inside.close()


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
    "scrolls sideways": "<pre>" + "wide " * 99 + "</pre>",
    "image-alt": "<img src='data:,'>",
    "color-contrast": "<p style='color: #ddd; background: #fff'>faint</p>",
    "alone/: no link leads there": "",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(browser: Any, tmp_path: Path, fault: str) -> None:
    for place in ("", "en", "alone" if fault.startswith("alone") else ""):
        (tmp_path / place).mkdir(exist_ok=True)
        (tmp_path / place / "index.html").write_text(SOUND.format(""), "utf-8")
    (tmp_path / "en/index.html").write_text(SOUND.format(FAULTS[fault]), "utf-8")
    (tmp_path / "404.html").write_text("none", "utf-8")
    inside = context(browser, "phone", "light")
    inside.route("https://example.org/", lambda route: route.fulfill(body=""))
    with serve(tmp_path) as address:
        watch = Watch(inside.new_page(), address)
        faults = list(crawl(tmp_path, watch, axe=True))
    inside.close()
    if fault:
        assert any(fault in found for found in faults), faults
    else:
        assert faults == []
