"""``make booklet``: the book of both languages, as an EPUB and, where it can be, a PDF.

Run it from the root of the repository: ``python -m site_tools.booklet.make``. The files
lie in .cache/booklet; those of the site are made with the site.
"""

import sys
from pathlib import Path

from site_tools.booklet.book import Publisher, read_book
from site_tools.booklet.epub import epub
from site_tools.booklet.pdf import pdf
from site_tools.browser import Unavailable
from site_tools.compile.downloads import BOOK_EPUB, BOOK_PDF
from site_tools.compile.site import CONFIGS, plain_settings, told
from site_tools.ledger import store
from site_tools.messages import Message

MADE_IN = Path(".cache", "booklet")


def main() -> None:
    for lang in CONFIGS:
        try:
            made = write_book(Path.cwd(), lang, MADE_IN / lang)
        except ValueError as error:
            sys.exit(str(error))
        for name in made:
            file = MADE_IN / lang / name
            print(f"{file}  {file.stat().st_size / 1e6:.1f} MB")


def write_book(
    root: Path, lang: str, folder: Path, *, printed: bool = True
) -> list[str]:
    """Write the book of a language into a folder; the names of the files.

    Where nothing can print it there is no PDF, and a sentence says why.
    """
    book = read_book(root, publisher(root, lang))
    if not book.parts:
        return []
    store(folder / BOOK_EPUB, epub(book))
    if not printed:
        return [BOOK_EPUB]
    try:
        store(folder / BOOK_PDF, pdf(book))
    except Unavailable as error:
        (folder / BOOK_PDF).unlink(missing_ok=True)
        print(Message("booklet_no_pdf", {"lang": lang, "reason": error}), flush=True)
        return [BOOK_EPUB]
    return [BOOK_EPUB, BOOK_PDF]


def publisher(root: Path, lang: str) -> Publisher:
    """What the settings of a language and whoever publishes say of the site."""
    settings = plain_settings(root, lang)
    address = told().of(lang)
    return Publisher(lang, settings["site_name"], settings["copyright"], address)


if __name__ == "__main__":
    main()
