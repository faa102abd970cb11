"""The site as a reader's browser shows it."""

from pathlib import Path
from typing import Any

from site_tools.html.katex import PACKAGE
from tests.browser.watching import pages
from tests.site import glyphs

PAGE = "alignment/value_before_token/"
LOOK = """document.fonts.ready.then(() =>
  [...document.querySelectorAll("article .katex *")].map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    const { fontFamily, fontStyle, borderBottomWidth } = getComputedStyle(element)
    return [element.className, x, y, width, height, fontFamily, fontStyle,
      borderBottomWidth].join(" ")
  }))"""


def test_a_page_opens_below_a_subpath(tab: Any) -> None:
    tab.goto(PAGE)
    assert tab.inner_text("h1") == "values[:, t] 在第 t 个 token 之前还是之后？"


def test_the_language_switch_keeps_page_and_section(tab: Any) -> None:
    tab.goto(f"{PAGE}#why")
    tab.click("a.language")
    tab.wait_for_url(f"**/en/{PAGE}#why")
    assert "before or after" in tab.inner_text("h1")


def test_formulas_look_as_with_the_whole_of_katex(tab: Any, site: Path) -> None:
    """Nothing that they need was cut from its styles and fonts."""
    with_formulas = [path for path in sorted(pages(site)) if look(tab, path)]
    assert PAGE in with_formulas
    cut = {path: look(tab, path) for path in with_formulas}
    for kind in ("css", "woff2"):
        tab.route(f"**/assets/katex/**.{kind}?*", whole)
    assert {path: look(tab, path) for path in with_formulas} == cut


def look(tab: Any, path: str) -> list[str]:
    """Place, size and font of every part of every formula."""
    tab.goto(path)
    return list(tab.evaluate(LOOK))


def whole(route: Any) -> None:
    """Answer with the file as KaTeX brings it."""
    name = route.request.url.rpartition("/")[2].partition("?")[0]
    file = {"katex.css": "katex.min.css"}.get(name, f"fonts/{name}")
    route.fulfill(path=PACKAGE / "dist" / file)


def test_no_character_of_a_formula_is_lost(site: Path) -> None:
    """The fonts of each language were cut by its own pages."""
    for language in (site, site / "en"):
        html = (language / PAGE / "index.html").read_text("utf-8")
        assert set("VstGA") <= glyphs.shown(html)
        assert list(glyphs.lacking(language)) == []
        assert not glyphs.unknown_families(language)
