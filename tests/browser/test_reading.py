"""The site as a reader's browser shows it."""

from pathlib import Path
from typing import Any

from site_tools.site.formulas import PACKAGE
from tests.browser.watching import pages
from tests.site import glyphs

PAGE = "alignment/value_before_token/"
# Place within the formula, size and font of every part of every formula.
# Each face is asked for, as fonts.ready can come before a new sheet's faces are.
LOOK = """() => Promise.all([...document.fonts].map((face) => face.load())).then(() =>
  [...document.querySelectorAll("article .katex")].flatMap((formula) => {
    const origin = formula.getBoundingClientRect()
    return [...formula.querySelectorAll("*")].map((part) => {
      const { x, y, width, height } = part.getBoundingClientRect()
      const { fontFamily, fontStyle, borderBottomWidth } = getComputedStyle(part)
      return [part.className, x - origin.x, y - origin.y, width, height, fontFamily,
        fontStyle, borderBottomWidth].join(" ")
    })
  }))"""
WHOLE = "katex-whole/katex.min.css"
RESTYLE = """whole => new Promise((done, failed) => {
  const link = document.querySelector("link[href*='katex']")
  link.onload = done
  link.onerror = failed
  link.href = new URL(whole, link.href)
})"""


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
    asked: list[str] = []
    tab.route(f"**/{WHOLE.partition('/')[0]}/**", lambda route: answer(route, asked))
    with_formulas = [path for path in sorted(pages(site)) if has_formula(site, path)]
    assert PAGE in with_formulas
    for path in with_formulas:
        tab.goto(path)
        cut = tab.evaluate(LOOK)
        tab.evaluate(RESTYLE, WHOLE)
        assert cut and tab.evaluate(LOOK) == cut, path
    assert {file.suffix for file in map(Path, asked)} == {".css", ".woff2"}


def has_formula(site: Path, path: str) -> bool:
    html = (site / path / "index.html").read_text("utf-8")
    return 'class="katex"' in html.partition("<article")[2]


def answer(route: Any, asked: list[str]) -> None:
    """Answer with the file as KaTeX brings it."""
    name = route.request.url.partition(f"/{WHOLE.partition('/')[0]}/")[2]
    asked.append(name)
    route.fulfill(path=PACKAGE / "dist" / name)


def test_no_character_of_a_formula_is_lost(site: Path) -> None:
    """The fonts of each language were cut by its own pages."""
    for language in (site, site / "en"):
        html = (language / PAGE / "index.html").read_text("utf-8")
        assert set("VstGA") <= glyphs.shown(html)
        assert list(glyphs.lacking(language)) == []
        assert not glyphs.unknown_families(language)
