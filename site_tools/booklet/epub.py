"""The book as an EPUB 3: a zip of XHTML in which each file is listed.

The same book makes the same bytes: files stand in a fixed order, and bear a fixed date.
"""

import os
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

from site_tools.booklet.book import Book
from site_tools.compile.downloads import EPOCH
from site_tools.compile.templates import fill, words
from site_tools.messages import Refusal

BOOK_FOLDER = "EPUB"
PACKAGE_FILE = f"{BOOK_FOLDER}/package.opf"
BOOK_STYLES = Path(__file__).with_name("book.css")
XHTML = "application/xhtml+xml"
MEDIA_TYPES = {".xhtml": XHTML, ".svg": "image/svg+xml", ".css": "text/css"}
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # that a zip file knows


class ManifestRow(NamedTuple):
    """A row of the manifest."""

    id: str
    href: str
    kind: str
    properties: str


def epub(book: Book) -> bytes:
    """The bytes of the book; a chapter that is no XML is a ValueError that names it."""
    pages = _xhtml_files(book)
    for name, text in pages.items():
        try:
            ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise Refusal("booklet_not_xml", file=name, reason=error) from None
    files = {name: text.encode() for name, text in pages.items()}
    files[BOOK_STYLES.name] = BOOK_STYLES.read_bytes()
    files |= book.pictures
    items = [_row(name, pages.get(name, "")) for name in files]
    container = fill("booklet.container", book.publisher.lang, PACKAGE_FILE)
    members = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": container.encode(),
        PACKAGE_FILE: _package(book, items).encode(),
    }
    members |= {f"{BOOK_FOLDER}/{name}": content for name, content in files.items()}
    return _zipped(members)


def _xhtml_files(book: Book) -> dict[str, str]:
    """The XHTML of the book by file, in the order in which it is read."""
    publisher, lang = book.publisher, book.publisher.lang
    pages = {}

    def add(file: str, title: str, body: str) -> None:
        pages[f"{file}.xhtml"] = fill("booklet.document", lang, title, body)

    add("title-page", publisher.name, fill("booklet.title_page", lang, publisher))
    contents = fill("booklet.navigation_file", lang, book.parts)
    add("nav", words(lang)["booklet"]["contents"], contents)
    for number, part in enumerate(book.parts, 1):
        begins = fill("booklet.part", lang, number, part.title)
        add(f"part-{number}", part.title, begins)
        for chapter in part.chapters:
            add(chapter.file, chapter.named.title, chapter.xml)
    return pages


def _row(name: str, text: str) -> ManifestRow:
    path = Path(name)
    properties = "nav" if name == "nav.xhtml" else "mathml" if "<math " in text else ""
    return ManifestRow(
        name.replace("/", "-"), name, MEDIA_TYPES[path.suffix], properties
    )


def _package(book: Book, items: list[ManifestRow]) -> str:
    publisher = book.publisher
    identifier = uuid5(NAMESPACE_URL, f"{publisher.name} {publisher.lang}").urn
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or EPOCH)
    modified = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    spine = [item.id for item in items if item.kind == XHTML]
    values = (publisher, identifier, modified, items, spine)
    return fill("booklet.package", publisher.lang, *values)


def _zipped(members: Mapping[str, bytes]) -> bytes:
    """A zip in this order; its first file, by which readers know it, is only stored."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as folder:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, FIRST_DATE)
            info.external_attr = 0o644 << 16
            info.create_system = 3  # the same wherever it is made
            stored = name == "mimetype"
            info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            folder.writestr(info, content)
    return made.getvalue()
