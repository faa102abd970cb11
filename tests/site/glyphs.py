"""Characters of formulas that the fonts of a built site cannot show."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from fontTools.ttLib import TTFont

from site_tools.site.formulas import PACKAGE


class _Visible(HTMLParser):
    """Collects the text of what KaTeX made for the eye."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.shown: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "span" and (self.depth or ("class", "katex-html") in attrs):
            self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "span" and self.depth:
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if self.depth:
            self.shown |= set(data)


def shown(html: str) -> set[str]:
    """The characters of the formulas of a page, as a reader sees them."""
    parser = _Visible()
    parser.feed(html)
    return parser.shown


def lacking(site: Path) -> Iterator[str]:
    """What KaTeX's own fonts show and those of the site do not, by page and font.

    Args:
        site: The pages of one language; those of the other, below them, have fonts
            of their own.
    """
    fonts = {
        font.name: _characters(PACKAGE / "dist/fonts" / font.name) - _characters(font)
        for font in site.glob("assets/katex/fonts/*.woff2")
    }
    for page in set(site.rglob("*.html")) - set(site.glob("en/**/*.html")):
        characters = shown(page.read_text("utf-8"))
        for name, missing in fonts.items():
            if lost := characters & missing:
                yield f"{page.relative_to(site)}: {name} lacks {sorted(lost)}"


def unknown_families(site: Path) -> set[str]:
    """Fonts that the styles name and no file brings."""
    folder = site / "assets/katex"
    rules = (folder / "katex.css").read_text("utf-8").rpartition("@font-face")[2]
    brought = {font.name.partition("-")[0] for font in folder.glob("fonts/*")}
    return set(re.findall(r"KaTeX_[A-Z]\w+", rules)) - brought


def _characters(path: Path) -> set[str]:
    with TTFont(path) as font:
        return {chr(code) for code in font.getBestCmap()}
