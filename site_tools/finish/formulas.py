"""Formulas in rendered pages: found as TeX, typeset by KaTeX, put back as HTML.

Each formula is there twice, once for the eye and once as MathML for screen readers. The
search index needs neither, but the text.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import unescape
from io import BytesIO
from itertools import chain
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple

from bs4 import Tag
from bs4.element import NavigableString, PageElement

from site_tools.compile.templates import spelled
from site_tools.finish.article import of_class, shown
from site_tools.ledger import digest, store
from site_tools.messages import Refusal

SCRIPT = Path(__file__).with_name("katex.mjs")
KATEX_PACKAGE = Path(sys.prefix) / "node_modules" / "katex"
MARKED = re.compile(
    r"\s*(?:\\\((?P<inline>.*)\\\)|\\\[(?P<display>.*)\\\])\s*", re.DOTALL
)
BARE = re.compile(r"\\\((?P<inline>.*?)\\\)(?P<display>)", re.DOTALL)
CLOSING_MARKS = tuple("，。、；：！？）」』》”’,.;:!?)")
LABEL_TEX = re.compile(r"\\label\{([^}]*)\}")
MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")

# The styles of KaTeX cut to the classes of a site's formulas, its fonts to what these
# show; those of every page in two parts, the second of which a browser fetches only
# where something rare stands. Each address ends in a digest of its content, so that no
# browser shows a new formula with an old font.
CSS = "assets/katex/katex.css"
FACE = re.compile(
    r'@font-face\{[^}]*font-family:"?(?P<family>\w+)[^}]*'
    r'url\((?P<font>fonts/[\w-]+)\.woff2\) format\("woff2"\)(?P<others>,[^}]*)\}'
)
KATEX_RULE = re.compile(r"(?P<selectors>[^{}@]+)\{[^{}]*\}")
KATEX_CLASS = re.compile(r"\.([\w-]+)")
CLASSES = re.compile(r'class="([^"]*)"')
VISIBLE = re.compile(r'<span class="katex-html".*', re.DOTALL)
VARIABLE = re.compile(r'class="[^"]*\bmathnormal\b[^"]*"[^>]*>([^<]*)<')
UPRIGHT, ITALIC = "fonts/KaTeX_Main-Regular", "fonts/KaTeX_Math-Italic"
CUTTER = Path(__file__).read_bytes()  # a font is cut anew when this changes
DIGEST_DIGITS = 32  # of the digests that name files of the cache
MANY = 24  # on at least one page of so many, or a letter of which words are made


class Formula(NamedTuple):
    """TeX without its delimiters and its label."""

    tex: str
    display: bool


def find(soup: Tag) -> list[Formula]:
    """The formulas of a page, as Markdown marked them, and those of its contents."""
    found = [formula for _, formula in _marked_formulas(soup)]
    for text in _title_texts(soup):
        found += [_read(match) for match in BARE.finditer(text)]
    return found


def _marked_formulas(soup: Tag) -> Iterator[tuple[Tag, Formula]]:
    for tag in of_class(soup, "arithmatex"):
        if match := MARKED.fullmatch(tag.get_text()):
            yield tag, _read(match)


def _title_texts(soup: Tag) -> list[NavigableString]:
    """The titles in a table of contents that have formulas, which are bare there."""
    found = []
    for contents in of_class(soup, "md-nav--secondary"):
        for text in contents.find_all(string=BARE):
            if type(text) is NavigableString:
                found.append(text)
    return found


def _read(match: re.Match[str]) -> Formula:
    tex = match["display"] or match["inline"]
    return Formula(LABEL_TEX.sub("", tex).strip(), bool(match["display"]))


def put_in_formulas(soup: Tag, typeset: Mapping[Formula, str]) -> None:
    """Put typeset formulas in the place of marked ones; a label becomes an id.

    A browser may break a line between a formula and its punctuation, so a formula
    that it cannot break inside takes the punctuation along.
    """
    for tag, formula in _marked_formulas(soup):
        inside = typeset[formula]
        if label := LABEL_TEX.search(tag.get_text()):
            tag["id"] = label[1]
        tag.clear()
        said = spelled(formula.tex)
        tag.append(shown(inside, unescape(searched(inside)), said))
        after = tag.next_sibling
        unbroken = inside.count('"katex-base"') == 1
        if (
            unbroken
            and type(after) is NavigableString
            and after.startswith(CLOSING_MARKS)
        ):
            tag["class"] = "arithmatex nowrap"
            tag.append(after[0])
            after.replace_with(after[1:])


def put_in_titles(soup: Tag, typeset: Mapping[Formula, str]) -> None:
    """The same in the table of contents."""
    for text in _title_texts(soup):
        end, pieces = 0, list[PageElement]()
        for match in BARE.finditer(text):
            html = typeset[_read(match)]
            before = NavigableString(text[end : match.start()])
            pieces += [before, shown(html, unescape(searched(html)), "")]
            end = match.end()
        text.replace_with(*pieces, text[end:])


def typeset_all(
    places: Mapping[Formula, str], cache: Path, package: Path = KATEX_PACKAGE
) -> dict[Formula, str]:
    """The HTML of formulas, from the cache if it is there; each has the page it is on.

    KaTeX runs once, for all formulas that no earlier build has typeset.
    """
    if places and not package.exists():
        raise Refusal("katex_missing", folder=package)
    if not places:
        return {}
    version = json.loads((package / "package.json").read_text("utf-8"))["version"]
    maker = version + SCRIPT.read_text("utf-8")
    made_from = {f: "\0".join([maker, str(f.display), f.tex]) for f in places}
    slots = {f: cache / f"{digest(made_from[f], DIGEST_DIGITS)}.html" for f in places}
    missing = {f: path for f, path in places.items() if not slots[f].exists()}
    for formula, result in _run_katex(missing, package).items():
        if "error" in result:
            values = {"tex": formula.tex, "reason": result["error"]}
            raise Refusal("katex_refused", path=missing[formula], **values)
        store(slots[formula], result["html"].encode())
    return {formula: slot.read_text("utf-8") for formula, slot in slots.items()}


def _run_katex(
    formulas: Iterable[Formula], package: Path
) -> dict[Formula, dict[str, str]]:
    job = [formula._asdict() for formula in formulas]
    if not job:
        return {}
    node = str(Path(sys.executable).with_name("node"))
    command = [node, str(SCRIPT), (package / "dist" / "katex.mjs").as_uri()]
    texts = json.dumps(job).encode()
    answer = subprocess.run(command, input=texts, stdout=subprocess.PIPE, check=True)
    return dict(zip(formulas, json.loads(answer.stdout), strict=True))


def assets(
    pages: Iterable[Iterable[str]], dist: Path, cache: Path
) -> dict[str, str | bytes]:
    """KaTeX's styles and fonts by address, for the typeset formulas of each page.

    The styles come first. ``dist`` is what KaTeX is published as.
    """
    formulas = [[*page] for page in pages]
    css = _styles((dist / "katex.min.css").read_text("utf-8"), chain(*formulas))
    named = set(re.findall(r"KaTeX_\w+", FACE.sub("", css)))
    upright, italic = (_parts(formulas, italic=italic) for italic in (False, True))
    whole = {"": "".join(upright.values())}
    parts = {UPRIGHT: upright, ITALIC: italic}
    fonts: dict[str, str | bytes] = {}

    def faces(match: re.Match[str]) -> str:
        name = match["font"]
        if match["family"] not in named:
            return ""
        written = ""
        for part, text in parts.get(name, whole).items():
            if content := _font(dist / f"{name}.woff2", text, cache):
                fonts[f"assets/katex/{name}{part}.woff2"] = content
                address = f"{name}{part}.woff2?{digest(content, 8)}"
                codes = ",".join(f"U+{ord(char):x}" for char in text)
                only = f";unicode-range:{codes}" if part else ""
                face = match[0].replace(f"{name}.woff2", address)
                written += face.replace(match["others"], only)
        return written

    css = FACE.sub(faces, css)
    return {CSS: css} | fonts


def _styles(css: str, typeset: Iterable[str]) -> str:
    """The rules that these formulas need."""
    classes = {name for one in typeset for name in _classes(one)}

    def needed(match: re.Match[str]) -> str:
        ours = [
            selector
            for selector in match["selectors"].split(",")
            if classes >= {*KATEX_CLASS.findall(re.sub(r":not\(.*?\)", "", selector))}
        ]
        return match[0].replace(match["selectors"], ",".join(ours)) if ours else ""

    return KATEX_RULE.sub(needed, css)


@cache  # of all formulas, whenever the live site renders one page
def _classes(typeset: str) -> Collection[str]:
    return frozenset(" ".join(CLASSES.findall(typeset)).split())


def _parts(pages: Sequence[Iterable[str]], *, italic: bool) -> dict[str, str]:
    """The characters that many pages show, and those that few do."""
    count = Counter(chain(*(characters(page, italic=italic) for page in pages)))
    words = "" if italic else ascii_lowercase
    many = {c for c, n in count.items() if n * MANY >= len(pages) or c in words}
    parts = {"": many, "-rest": count.keys() - many}
    return {part: "".join(sorted(chars)) for part, chars in parts.items()}


def characters(typeset: Iterable[str], *, italic: bool) -> set[str]:
    """Characters that the visible halves of formulas show: variables, or the rest."""
    return {char for one in typeset for char in _characters(one, italic)}


@cache  # as above
def _characters(typeset: str, italic: bool) -> Collection[str]:
    found = VISIBLE.search(typeset)
    visible = found[0] if found else ""
    if italic:
        return frozenset(unescape("".join(VARIABLE.findall(visible))))
    return frozenset(unescape(TAG.sub("", VARIABLE.sub("><", visible))))


def _font(font: Path, shown: str, cache: Path) -> bytes:
    """The part of a font that is kept; nothing, if it has none of these characters."""
    made_from = b"\0".join([font.read_bytes(), CUTTER, shown.encode()])
    slot = cache / f"{font.stem}-{digest(made_from, DIGEST_DIGITS)}.woff2"
    if not slot.exists():
        store(slot, _cut(font, shown))
    return slot.read_bytes()


def _cut(font: Path, shown: str) -> bytes:
    """A font with the glyphs of these characters; the same bytes at every call."""
    from fontTools import subset  # slow to import, and mostly not needed

    options = subset.Options(flavor="woff2", hinting=False)
    cutter = subset.Subsetter(options)
    cutter.populate(text=shown)
    content = BytesIO()
    with subset.load_font(str(font), options) as face:
        if not cutter.unicodes_requested & face.getBestCmap().keys():
            return b""
        cutter.subset(face)
        subset.save_font(face, content, options)
    return content.getvalue()


def searched(typeset: str) -> str:
    """A typeset formula as the search index shows it: the text of its MathML."""
    mathml = MATHML.search(typeset)
    return TAG.sub("", mathml[0]) if mathml else ""
