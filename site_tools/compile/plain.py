"""A compiled page without what only the site understands, as prose and code in turn.

page.md, llms-full.txt, a page exported as a chat and a notebook are made of it.
"""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import NamedTuple

from site_tools.compile.templates import LINK, as_plain, words
from site_tools.page.pictures import PICTURE_LINK
from site_tools.source.blocks import Kind
from site_tools.source.content import read_content
from site_tools.source.fences import OPENING, Fence, read_info
from site_tools.source.files import FRONT_MATTER
from site_tools.source.inline import parts

END_OF_LINE = re.compile(r"</(?:p|tr|li|h\d|caption|div)>")
# A box, a fold or a tab: what stands in it is indented.
BOX = re.compile(r' *(?:[!?]{3}\+?|===)(?: (?P<kind>\w+))?(?: "(?P<title>.*)")?')
ANSWER_ITEM = re.compile(r"(?P<dent> *)- \[(?P<mark>[ xX])\] ")
WITHIN = 4  # spaces before what stands in a box
MORE_EMPTY_LINES = re.compile(r"\n{3,}")


class Wishes(NamedTuple):
    """The wishes of one use of the text."""

    lang: str
    leads_to: Callable[[str], str] = str  # a link's new address; with "", words alone
    leaves_out: Callable[[str], bool] = lambda picture: False


class Code(NamedTuple):
    """A fence of a compiled page."""

    kind: Kind
    language: str
    text: str
    notes: str = ""  # how it runs
    fails: bool = False  # it ends in an exception, as it should
    indent: str = ""
    fence: str = "```"

    @property
    def markdown(self) -> str:
        rows = [f"{self.fence}{self.language}", *self.text.split("\n"), self.fence]
        if self.notes:
            rows = [self.notes, "", *rows]
        return "\n".join(f"{self.indent}{row}".rstrip() for row in rows)


def plain(text: str, wishes: Wishes) -> str:
    """A compiled page as one text, which begins with no front matter."""
    found = pieces(text, wishes)
    return "\n\n".join(p.markdown if isinstance(p, Code) else p for p in found)


def in_words(text: str, lang: str) -> str:
    """A line of Markdown without its signs: where nothing reads them."""
    return as_plain(plain(text, Wishes(lang, lambda link: "")))


def pieces(text: str, wishes: Wishes) -> list[str | Code]:
    """The prose and the code of a compiled page, in order."""
    text = FRONT_MATTER.sub("", text)
    text = _without_signs(_without_html(text), wishes)
    text = _without_boxes(_with_marks_in_words(text, wishes.lang))
    lines = text.split("\n")
    found: list[str | Code] = []
    at = 0
    for fence in read_content(text).fences:
        found.append("\n".join(lines[at : fence.line - 1]))
        found.append(_code(fence, lines[fence.line - 1], wishes.lang))
        at = fence.rows.stop - 1
    found.append("\n".join(lines[at:]))
    tidy: list[str | Code] = []
    for piece in found:
        if isinstance(piece, str):
            piece = _without_edges(piece)
        if piece:
            tidy.append(piece)
    return tidy


def _without_edges(prose: str) -> str:
    """Prose without empty lines at its edges, those of quotations included."""
    lines = MORE_EMPTY_LINES.sub("\n\n", prose).split("\n")
    while lines and not lines[0].strip("> "):
        lines.pop(0)
    while lines and not lines[-1].strip("> "):
        lines.pop()
    return "\n".join(lines)


def _without_html(text: str) -> str:
    """Each block of HTML, which ends at an empty line, as a fence with its text."""
    lines = text.split("\n")
    made: list[str] = []
    html: list[str] = []
    for line, prose in zip([*lines, ""], [*read_content(text).lines, ""], strict=True):
        if html and not prose.strip():
            if shown := _text_of_html("\n".join(html)):
                made += ["```text", *shown.split("\n"), "```"]
            html = []
        if html or prose.lstrip().startswith("<"):
            html.append(line)
        else:
            made.append(line)
    return "\n".join(made[:-1])


def _text_of_html(html: str) -> str:
    text = re.sub("<[^>]*>", " ", END_OF_LINE.sub("\n", html))
    rows = [" ".join(row.split()) for row in unescape(text).split("\n")]
    return "\n".join(row for row in rows if row)


def _without_signs(text: str, wishes: Wishes) -> str:
    """Figures and headings without attributes, pictures as text, links led on."""
    for start, end, shown in sorted(_cuts(text, wishes), reverse=True):
        text = text[:start] + shown + text[end:]
    return text


def _with_marks_in_words(text: str, lang: str) -> str:
    """The answers of exercises, each said to be right or a known mistake."""
    said = words(lang)["exercises"]
    lines = text.split("\n")
    for row, prose in enumerate(read_content(text).lines):
        if item := ANSWER_ITEM.match(prose):
            name = "wrong" if item["mark"] == " " else "right"
            lines[row] = f"{item['dent']}- {said[name]}{lines[row][item.end() :]}"
    return "\n".join(lines)


def _cuts(text: str, wishes: Wishes) -> Iterator[tuple[int, int, str]]:
    """Changes of the prose, by offsets."""
    body = read_content(text).body
    for picture in PICTURE_LINK.finditer(body):
        shown = words(wishes.lang)["llms"]["picture"].format(picture["alt"])
        if wishes.leaves_out(picture["file"]):
            shown = ""
        yield picture.start(), picture.end(), shown
    signs = []
    for part in parts(body):
        if part.kind == "code" and "data-is" in (part.attributes or ""):
            yield part.start, part.end, part.text
        elif part.kind == "attributes":
            # On a line of its own it belongs to the block above.
            yield len(text[: part.start].rstrip()), part.end, ""
        if part.kind in ("code", "inline", "display"):
            signs.append(range(part.start, part.end))
    for link in LINK.finditer(body):
        if any(link.start() in sign for sign in signs):
            continue
        address = link[0][link.end(1) - link.start() + 2 : -1]
        to = wishes.leads_to(address)
        if to:
            yield link.end(1) + 1, link.end(), f"({to})"
        else:
            yield link.start(), link.start() + 1, ""
            yield link.end(1), link.end(), ""


def _without_boxes(text: str) -> str:
    """Boxes, folds and tabs as their titles and what stands in them; quotes as such."""
    made: list[str] = []
    inside: list[int] = []  # the indents of the boxes around a line
    quotes: list[str] = []  # what marks each of them
    empty = 0
    titled = False  # one empty line follows a title, whether there is one or not
    for line, prose in zip(text.split("\n"), read_content(text).lines, strict=True):
        if not line.strip():
            empty += 1
            continue
        while inside and not line.startswith(inside[-1] * " "):
            inside.pop()
            quotes.pop()
        before = "".join(quotes)
        if titled:
            empty, titled = 1, False
        made += [before.rstrip()] * empty
        empty = 0
        shown = line[WITHIN * len(inside) :]
        box = BOX.fullmatch(prose)
        if not box:
            made.append(before + shown)
            continue
        inside.append(len(line) - len(line.lstrip()) + WITHIN)
        quotes.append("> " if box["kind"] == "quote" else "")
        indent = shown[: len(shown) - len(shown.lstrip())]
        if box["title"]:
            made.append(f"{before}{indent}{quotes[-1]}**{box['title']}**")
            titled = True
    return "\n".join(made)


def _code(fence: Fence, opening: str, lang: str) -> Code:
    match = OPENING.match(opening)
    assert match
    info = read_info(fence.info)
    kind, language = Kind.SHOWN, info.language
    if "no-copy" in info.classes:
        kind, language = Kind.OUTPUT, "output"
    elif language == "python":
        kind = Kind.NORUN if "norun" in info.classes else Kind.RUN
    said = words(lang)["llms"]
    notes = [said[name] for name in ("cont", "raises") if name in info.classes]
    if kind is Kind.NORUN:
        notes.append(said["not_run"].format(info.options["data-reason"].strip()))
    text = "\n".join(fence.lines)
    fails = "raises" in info.classes
    prefix, mark = match["prefix"], match["fence"]
    return Code(kind, language, text, " ".join(notes), fails, prefix, mark)
