"""The first paint, before the scripts and the style sheet have come."""

import base64
import json
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

PAGES = ("alignment/value_before_token/", "en/course/gae/", "debug/symptoms/")
PAINTED = "performance.getEntriesByName('first-contentful-paint').length"
LIGHT, DARK = (252, 251, 248), (22, 25, 29)
INK = {LIGHT: "rgb(34, 38, 43)", DARK: "rgb(218, 221, 225)"}
CHOSEN = {
    scheme: {"index": index, "color": {"media": media, "scheme": scheme}}
    for index, media, scheme in (
        (1, "(prefers-color-scheme: light)", "default"),
        (2, "(prefers-color-scheme: dark)", "slate"),
    )
}
CHOSEN["system"] = {
    "index": 0,
    "color": {"media": "(prefers-color-scheme)", "scheme": "default"},
}


def open_until_painted(tab: Any, path: str, never: str) -> None:
    """Open a page of which one kind of file never comes, until something is painted."""
    tab.route(never, lambda route: None)
    tab.goto(path, wait_until="commit")
    tab.wait_for_function(PAINTED)


def background(tab: Any) -> tuple[int, ...]:
    """The colour at the lower left corner as it is painted."""
    devtools = tab.context.new_cdp_session(tab)
    shot = devtools.send("Page.captureScreenshot", {"format": "png"})["data"]
    with Image.open(BytesIO(base64.b64decode(shot))) as picture:
        colour = picture.convert("RGB").getpixel((2, picture.height - 3))
    assert isinstance(colour, tuple)
    return colour


@pytest.mark.parametrize("never", ["**/*.js", "**/assets/site.*.css"])
@pytest.mark.parametrize(
    ("system", "chosen", "expected"),
    [
        ("dark", None, DARK),
        ("light", None, LIGHT),
        ("light", "slate", DARK),
        ("dark", "default", LIGHT),
        ("dark", "system", DARK),
        ("light", "system", LIGHT),
    ],
)
def test_the_first_paint_has_its_colours(
    open_tab, address, never, system, chosen, expected
):
    tab = open_tab(present=False, color_scheme=system)
    if chosen:
        key = f"{address[address.index('/', 8) :]}.__palette"
        said = [key, json.dumps(CHOSEN[chosen])]
        tab.add_init_script(f"localStorage.setItem(...{json.dumps(said)})")
    open_until_painted(tab, PAGES[0], never)
    assert background(tab) == expected
    ink = tab.evaluate("getComputedStyle(document.querySelector('article')).color")
    assert ink == INK[expected]
    assert tab.evaluate("document.getAnimations().length") == 0  # nothing fades in


def test_it_is_dark_without_scripts(open_tab):
    tab = open_tab(java_script_enabled=False, color_scheme="dark")
    tab.goto(PAGES[0])
    assert background(tab) == DARK


PLACES = """() => [...document.querySelectorAll(
  ".md-header, article h1, article p, .answer h2, .reading, .steps a, article code"
)].slice(0, %d).map(element => {
  const { x, y, width, height } = element.getBoundingClientRect()
  const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(element)
  const place = [x, y, width, height].map(Math.round)
  return [element.tagName, ...place, color, fontSize, fontWeight, textDecorationLine]
})"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("path", PAGES)
def test_the_first_words_stay_where_they_are(open_tab, path, width):
    """The styles within a page and the sheet that follows say the same."""
    tab = open_tab(present=False, viewport={"width": width, "height": 844})
    kept: list[Any] = []
    tab.route("**/assets/site.*.css", lambda route: kept.append(route))
    tab.goto(path, wait_until="commit")
    tab.wait_for_function(PAINTED)
    before = tab.evaluate(PLACES % 99)
    assert len(before) > 1
    for route in kept:
        route.continue_()
    tab.wait_for_load_state("load")
    assert tab.evaluate(PLACES % len(before)) == before
