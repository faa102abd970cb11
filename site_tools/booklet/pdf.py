"""The book as a PDF, printed by Chromium without a window.

A browser prints no numbers of pages into a table of contents. So the book is printed
twice: the first print says on which page each entry is, and the second has the numbers.
"""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from site_tools.booklet.book import Book
from site_tools.booklet.epub import BOOK_STYLES
from site_tools.booklet.searchable import searchable
from site_tools.browser import Unavailable, chromium
from site_tools.compile.templates import fill
from site_tools.finish.formulas import KATEX_PACKAGE

PRINT_STYLES = Path(__file__).with_name("print.css")
PATIENCE_TO_PRINT = 300  # in which the whole book is laid out, also on a busy machine
# What Chromium's PDFs have of a page, in their order, and of what a link leads to.
PAGE_OBJECT = re.compile(rb"(?m)^(\d+) 0 obj\s*<</Type /Page\s")
LINK_WITHIN = re.compile(r'href="[\w-]+\.xhtml#')  # one page has all chapters
PLACE_ON_PAGE = re.compile(rb"/([\w.-]+) \[(\d+) 0 R /XYZ")
# A formula that is wider than the page becomes smaller.
FIT = """() => {
  for (const display of document.querySelectorAll(".katex-display")) {
    const wide = display.querySelector(".katex").scrollWidth
    const room = display.clientWidth
    if (wide > room) display.style.fontSize = `${Math.floor(100 * room / wide)}%`
  }
}"""
# Two signs of Chinese look different, but for a font that has neither.
HAS_CHINESE = """() => {
  const drawn = (sign) => {
    const canvas = document.createElement("canvas")
    const paper = canvas.getContext("2d")
    paper.font = "30px serif"
    paper.fillText(sign, 0, 40)
    return canvas.toDataURL()
  }
  return drawn("中") !== drawn("文")
}"""


def pdf(book: Book) -> bytes:
    """The printed book.

    Raises:
        Unavailable: if there is no browser, nothing that drives it, or no font.
    """
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        page, folder = browser.new_page(), Path(name)
        page.set_default_timeout(PATIENCE_TO_PRINT * 1000)
        if book.publisher.lang == "zh" and not page.evaluate(HAS_CHINESE):
            raise Unavailable("browser_no_chinese")
        _put_pictures(book, folder)
        first = _print_once(book, {}, folder, page)
        return searchable(_print_once(book, page_numbers(first), folder, page))


def _put_pictures(book: Book, folder: Path) -> None:
    for name, content in book.pictures.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def _print_once(
    book: Book, numbers: Mapping[str, int], folder: Path, page: Any
) -> bytes:
    """Print the book once, with these numbers of pages in its table of contents."""
    katex = (KATEX_PACKAGE / "dist" / "katex.min.css").resolve().as_uri()
    styles = "\n".join(f.read_text("utf-8") for f in (BOOK_STYLES, PRINT_STYLES))
    publisher = book.publisher
    values = (publisher, book.parts, numbers, katex, styles)
    html = fill("booklet.printed", publisher.lang, *values)
    file = folder / "book.html"
    file.write_text(LINK_WITHIN.sub(r'href="#', html), "utf-8")
    page.goto(file.as_uri())
    page.evaluate(FIT)
    made: bytes = page.pdf(prefer_css_page_size=True, outline=True, tagged=True)
    return made


def page_numbers(printed: bytes) -> dict[str, int]:
    """The number of the page on which each id is that a link leads to."""
    objects = [match[1] for match in PAGE_OBJECT.finditer(printed)]
    numbers = {name: number for number, name in enumerate(objects, 1)}
    return {
        match[1].decode(): numbers[match[2]]
        for match in PLACE_ON_PAGE.finditer(printed)
        if match[2] in numbers
    }
