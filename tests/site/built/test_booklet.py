"""The course and the short answers as a book: what is in it, and the rules of EPUB."""

import re
import unicodedata
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from site_tools.booklet import make
from site_tools.booklet.book import Book, BookPart, Chapter, Named, Publisher, read_book
from site_tools.booklet.drawings import SITE_STYLES, picture_file
from site_tools.booklet.epub import epub
from site_tools.booklet.pdf import page_numbers, pdf
from site_tools.booklet.searchable import CHARACTERS, RADICALS, searchable
from site_tools.browser import Unavailable
from site_tools.compile.navigation import QUESTION_TOPICS
from site_tools.messages import LANGUAGES, Refusal
from tests.layout import ROOT
from tests.site import trial_site
from tests.site.epub_rules import epub_faults

ADDRESS = "https://example.org/ppo/"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10">{}</svg>'
FORMULA = re.compile(r"(?s)\$[^$]*\$|<math\b.*?</math>")
BINDING = re.compile(r'(?<=`)\{ data-is="[^"]*" \}')
TARGET = re.compile(r"(?<=\])\([^)]*\)")
TAG = re.compile(r"</?[a-z][^>]*>")

Files = dict[str, bytes]


def small() -> Book:
    """A book of one chapter, written by hand."""
    body = (
        '<section id="a"><h1>A</h1><p><a href="a.xhtml#a.b">b</a> <i id="a.b"/>'
        '<img src="pictures/p.svg" alt="a post"/></p></section>'
    )
    chapter = Chapter("a", Named("a", "A"), (), body, body)
    by = Publisher("en", "PPO", "CC BY", ADDRESS)
    picture = {"pictures/p.svg": SVG.format("").encode()}
    return Book(by, (BookPart("The course", (chapter,)),), picture)


def unzipped(content: bytes) -> Files:
    with zipfile.ZipFile(BytesIO(content)) as folder:
        return {name: folder.read(name) for name in folder.namelist()}


def zipped(files: Files, kind: int = zipfile.ZIP_STORED) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", kind) as folder:
        for name, content in files.items():
            folder.writestr(name, content)
    return made.getvalue()


def test_a_small_book_breaks_no_rule():
    content = epub(small())
    assert epub_faults(content) == []
    assert epub_faults(zipped(unzipped(content))) == []


PAGE = "EPUB/a.xhtml"
MANIFEST = "EPUB/package.opf"


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        ("mimetype", b"epub", b"zip", "mimetype must say"),
        (MANIFEST, b'href="book.css"', b'href="other.css"', "book.css: not listed"),
        (MANIFEST, b'<itemref idref="a.xhtml"/>', b"", "the spine must have each"),
        (MANIFEST, b' properties="nav"', b"", "one file must be the table"),
        (MANIFEST, b"dcterms:modified", b"dcterms:created", "dcterms:modified must"),
        (MANIFEST, b"dc:title", b"dc:type", "dc:title must be there"),
        ("EPUB/nav.xhtml", b'"toc"', b'"landmarks"', "must have one nav of the type"),
        ("EPUB/nav.xhtml", b"a.xhtml#a", b"a.xhtml#c", "a.xhtml#c leads nowhere"),
        (PAGE, b"</section>", b"", "EPUB/a.xhtml: mismatched tag"),
        (PAGE, b"a.xhtml#a.b", b"b.xhtml", "b.xhtml leads nowhere"),
        (PAGE, b"p.svg", b"q.svg", "pictures/q.svg leads nowhere"),
        (PAGE, b'alt="a post"', b'alt=" "', "p.svg must have a text"),
        (PAGE, b'id="a.b"', b'id="a"', "the id a is there twice"),
        (
            PAGE,
            b"<h1>A</h1>",
            b'<math xmlns="http://www.w3.org/1998/Math/MathML"/>',
            "whether it has formulas",
        ),
    ],
)
def test_a_planted_fault_is_found(name, old, new, fault):
    files = unzipped(epub(small()))
    assert old in files[name]
    files[name] = files[name].replace(old, new)
    found = epub_faults(zipped(files))
    assert any(fault in one for one in found), found


def test_what_a_reader_knows_a_book_by_comes_first_and_as_it_is():
    files = unzipped(epub(small()))
    told = ["mimetype must come first and be stored"]
    assert epub_faults(zipped(dict(reversed(files.items())))) == told
    assert epub_faults(zipped(files, zipfile.ZIP_DEFLATED)) == told


def test_a_chapter_that_is_no_xml_is_refused():
    (part,) = small().parts
    broken = part.chapters[0]._replace(xml="<p>a<br></p>")
    book = small()._replace(parts=(part._replace(chapters=(broken,)),))
    with pytest.raises(Refusal, match=r"^a\.xhtml: a chapter of the book must be XML"):
        epub(book)


def test_the_same_book_makes_the_same_bytes(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    content = epub(small())
    assert epub(small()) == content
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764288000")
    assert b">2025-11-28T00:00:00Z<" in unzipped(epub(small()))[MANIFEST]


def test_a_picture_needs_no_style_sheet(tmp_path):
    drawn = (
        '<a href="/gae/"><text lang="zh">柱</text><text lang="en">post</text></a>'
        '<path id="twice" fill="var(--paper)" data-is="x"/><path id="twice"/>'
        '<path id="arrow"/><use href="#arrow"/>'
    )
    file = tmp_path / "p.svg"
    file.write_text(SVG.format(drawn), "utf-8")
    made = picture_file(file, "en", ROOT / SITE_STYLES).decode()
    assert "post" in made and "柱" not in made
    assert not re.search(r"var\(|:is\(|data-|<a |twice|href=\"/", made)
    assert 'id="arrow"' in made and 'fill="#fcfbf8"' in made
    assert "svg path, svg line, svg polyline { fill: none;" in made
    box = [float(n) for n in ElementTree.fromstring(made).attrib["viewBox"].split()]
    assert box[0] < 0 and box[1] < 0 and box[0] + box[2] > 20 and box[1] + box[3] > 10


@pytest.mark.parametrize(
    ("old", "told"),
    [("0 0 20 10", "viewBox must be four"), ("svg", "malformed|well-formed|XML")],
)
def test_a_picture_that_cannot_be_drawn_is_refused(old, told, tmp_path):
    file = tmp_path / "p.svg"
    file.write_text(SVG.format("").replace(old, "1", 1), "utf-8")
    with pytest.raises(Refusal, match=told):
        picture_file(file, "en", ROOT / SITE_STYLES)


def test_the_pages_of_a_print_are_found():
    printed = (
        b"%PDF-1.4\n2 0 obj\n<</Type /Page\n/Parent 9 0 R>>\nendobj\n"
        b"8 0 obj\n<</Type /Page\n/Parent 9 0 R>>\nendobj\n"
        b"9 0 obj\n<</Type /Pages\n/Count 2>>\nendobj\n"
        b"14 0 obj\n<</a [8 0 R /XYZ 6 579 0]\n/a.b [2 0 R /XYZ 6 9 0]>>\nendobj\n"
    )
    assert page_numbers(printed) == {"a": 2, "a.b": 1}


def test_what_is_copied_from_a_print_is_no_radical():
    table = zlib.compress(b"3 beginbfchar\n<01> <2F00>\n<02> <2ED3>\n<03> <0041>\n")
    body = (
        b"%%PDF-1.4\n5 0 obj\n<</ToUnicode 7 0 R>>\nendobj\n"
        b"7 0 obj\n<</Filter /FlateDecode\n/Length %d>> stream\n%b\nendstream\nendobj\n"
    ) % (len(table), table)
    end = b"trailer\n<</Size 9\n/Root 1 0 R\n/Info 2 0 R>>\nstartxref\n%d\n%%%%EOF\n"
    printed = body + b"xref\n" + end % len(body)
    made = searchable(printed)
    assert made.startswith(printed)
    added = made[len(printed) :]
    start = int(re.search(rb"(?m)^(\d{10}) 00000 n $", added)[1])
    here = int(re.search(rb"startxref\n(\d+)", added)[1])
    assert made[start:].startswith(b"7 0 obj\n") and made[here:].startswith(
        b"xref\n7 1\n"
    )
    assert b"/Prev %d>>" % len(body) in added
    stream = re.search(rb"(?s)stream\n(.*?)\nendstream", added)
    assert stream and zlib.decompress(stream[1]) == (
        b"3 beginbfchar\n<01> <4E00>\n<02> <957F>\n<03> <0041>\n"
    )
    assert searchable(b"%PDF-2.0 of another kind") == b"%PDF-2.0 of another kind"


def test_a_radical_and_its_character_are_called_alike():
    """Unicode's names of the two, where the radical's says which it is."""
    for radical, character in zip(RADICALS, CHARACTERS, strict=True):
        assert 0x2E80 <= ord(radical) <= 0x2EFF and 0x4E00 <= ord(character) <= 0x9FFF
        assert unicodedata.normalize("NFKC", radical) in (radical, character)


def test_without_a_browser_there_is_no_pdf_and_a_sentence_says_so(
    tmp_path, monkeypatch, capsys
):
    @contextmanager
    def none_here() -> Iterator[Any]:
        raise Unavailable("browser_missing")
        yield

    monkeypatch.setattr("site_tools.booklet.pdf.chromium", none_here)
    monkeypatch.setattr(make, "read_book", lambda root, publisher: small())
    trial_site.write_files(tmp_path, {"ppo-verified.pdf": "of yesterday"})
    assert make.write_book(ROOT, "en", tmp_path) == ["ppo-verified.epub"]
    assert [file.name for file in tmp_path.iterdir()] == ["ppo-verified.epub"]
    assert capsys.readouterr().out == (
        "en: the booklet is made as an EPUB alone, no PDF: "
        "no Chromium here; apt install chromium\n"
    )


@pytest.mark.parametrize("folder", ["", "en/"])
def test_a_built_site_has_the_book_and_leads_to_it(trial, folder):
    site = trial / "site"
    offered = (site / folder / "about/offline/index.html").read_text("utf-8")
    way = r'<a href="../../ppo-verified\.epub">ppo-verified\.epub</a> \(\d+ kB\)'
    assert re.search(way, offered)
    book = (site / folder / "ppo-verified.epub").read_bytes()
    assert epub_faults(book) == []
    taken_along = zipfile.ZipFile(site / "offline.zip")
    assert taken_along.read(f"{folder}ppo-verified.epub") == book


# The book of the project itself, in each language.


@cache
def whole(lang: str, address: str = "") -> Book:
    names = {"zh": "PPO 实证问答", "en": "PPO, Verified"}
    return read_book(ROOT, Publisher(lang, names[lang], "CC BY 4.0", address))


@cache
def pages(lang: str, address: str = "") -> dict[str, str]:
    files = unzipped(epub(whole(lang, address)))
    return {
        Path(name).stem: content.decode()
        for name, content in files.items()
        if name.endswith(".xhtml")
    }


def sources(lang: str, folder: str) -> dict[str, str]:
    found = (ROOT / "docs" / lang / folder).glob("*.md")
    return {f.stem: f.read_text("utf-8") for f in found if f.stem != "index"}


def letters(text: str) -> str:
    """Markdown or HTML without marks and formulas, so that they can be compared."""
    for left_out in (FORMULA, BINDING, TARGET, TAG):
        text = left_out.sub("", text)
    return re.sub(r"\W", "", unescape(text))


@pytest.mark.slow
@pytest.mark.parametrize("address", ["", ADDRESS])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_book_breaks_no_rule_of_epub(lang, address):
    assert epub_faults(epub(whole(lang, address))) == []


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_step_of_the_course_is_there(lang):
    steps = sources(lang, "course")
    assert len(steps) >= 20
    for name, text in steps.items():
        made = pages(lang)[f"course-{name}"]
        title = re.search(r'^title: "?(.+?)"?$', text, re.MULTILINE)
        assert title and f"<h1>{title[1]}</h1>" in made
        headings = re.findall(r"^## .* \{ #([\w-]+) \}$", text, re.MULTILINE)
        assert [h for h in headings if f'id="course-{name}.{h}"' not in made] == []
        blocks = len(re.findall(r"^ *```\w*(?:\{| \{|python|output)", text, re.M))
        assert made.count("<pre>") == blocks
        asked = len(re.findall(r'^(?:\?\?\?|!!!) question "', text, re.MULTILINE))
        assert made.count('class="solution"') == asked
    order = [chapter.file for chapter in whole(lang).parts[0].chapters]
    assert order[:3] == ["course-index", "course-start", "course-goal"]
    assert order[-1] == "course-test"


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_question_is_there_with_its_verdict(lang):
    count = 0
    for topic in QUESTION_TOPICS:
        made = pages(lang)[topic]
        fronts = dict(re.findall(r'(?s)<section id="([\w-]+)">(.*?)</section>', made))
        for name, text in sources(lang, topic).items():
            count += 1
            front = letters(fronts[f"{topic}-{name}"])
            verdict = re.search(r"\{ #answer \}\n\n\*\*(.+?)\*\*", text, re.DOTALL)
            assert verdict and letters(verdict[1]) in front, name
        assert not re.search(r"<details|<summary|wrong-|admonition", made)
    assert count >= 40


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_of_a_widget_or_a_form_is_left(lang):
    for name, text in pages(lang).items():
        left = re.findall(
            r"<(?:input|button|form|label|details|script)|data-\w+=", text
        )
        assert left == [], name


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_links_lead_into_the_book_else_to_the_site(lang):
    home = {"zh": ADDRESS, "en": f"{ADDRESS}en/"}[lang]
    without, with_one = pages(lang)["course-gae"], pages(lang, home)["course-gae"]
    for text in (without, with_one):
        assert 'href="course-delta.xhtml#course-delta"' in text
        assert ".md" not in text
    assert f'href="{home}notebooks/' in with_one
    assert "/notebooks/" not in without


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_print_has_pages_titles_and_text(lang):
    book = whole(lang)
    try:
        # Beside the browser of other tests, whose loop runs in this thread.
        printed = ThreadPoolExecutor(1).submit(pdf, book).result()
    except Unavailable as missing:
        pytest.skip(str(missing))
    pages = len(re.findall(rb"/Type /Page\s", printed))
    assert 150 < pages < 500
    assert len(printed) < 12e6
    numbers = page_numbers(printed)
    first, last = book.chapters[0], book.chapters[-1]
    found = [numbers[chapter.named.id] for chapter in book.chapters]
    assert found == sorted(found) and found[0] > 2 and found[-1] <= pages
    for title in (book.publisher.name, first.named.title, last.named.title):
        assert outline_entry(title) in printed
    # Each font says which letters its signs are, else nobody could copy or search.
    fonts = len(re.findall(rb"/Subtype /(?:Type0|Type3)\b", printed))
    assert fonts and printed.count(b"/ToUnicode") >= fonts
    shown = copied(printed)
    assert set({"zh": "一人用长页", "en": "PVerified"}[lang]) <= shown
    assert [sign for sign in shown if "\u2e80" <= sign <= "\u2fdf"] == []


def copied(printed: bytes) -> set[str]:
    """Every letter that the tables of a print have; of two tables the later counts."""
    tables = {*re.findall(rb"/ToUnicode (\d+) 0 R", printed)}
    streams = dict(
        re.findall(rb"(?s)\n(\d+) 0 obj\n<<[^>]*>> stream\n(.*?)\nendstream", printed)
    )
    found: set[str] = set()
    for table in tables:
        rows = zlib.decompress(streams[table])
        for first, last, letter in re.findall(
            rb"(?m)^<(\w+)> (?:<(\w+)> )?<(\w{4})>$", rows
        ):
            count = int(last, 16) - int(first, 16) + 1 if last else 1
            found |= {chr(int(letter, 16) + more) for more in range(count)}
    return found


def outline_entry(title: str) -> bytes:
    """A title as a PDF has it: in plain letters, or all of it in UTF-16."""
    if title.isascii():
        return b"/Title (" + title.encode()
    return b"/Title <FEFF" + title.encode("utf-16-be").hex().upper().encode()
