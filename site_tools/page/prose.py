"""The text of a page: what is prose in it, its sections, and the words of these.

Whatever is blanked keeps its place, so that what is found in the prose is found at its
line in the file.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from site_tools.page.fences import Fence, scan
from site_tools.page.files import FRONT_MATTER, read_front_matter
from site_tools.say import Problem, problem

HEADING = re.compile(
    r"^(?P<level>#{1,6})[ ](?P<title>.*?)[ ]*"
    r"(?:\{[^}\n]*#(?P<id>[\w-]+)[^}\n]*\})?[ ]*$",
    re.M,
)
QUOTE = re.compile(
    r'^(?P<indent>[ ]*)[!?]{3}\+? quote "(?P<source>[^"\n]+)"\n'
    r"(?P<body>(?:(?P=indent)[ ]{4}.*\n|[ \t]*\n)*)",
    re.MULTILINE,
)
CITED = re.compile(r"\{[^{}\n]*[ ]\.cited\b[^{}\n]*\}")
ATTRIBUTE = r"""(?:[.#][\w:-]+|[A-Za-z][\w-]*=(?:"[^"\n]*"|'[^'\n]*'|[^\s"'{}]+))"""
PARTS = re.compile(
    r"(?=[`$(\[{<h])(?:"  # most signs of a text begin none of these
    r"(?P<comment><!--.*?-->)"
    r"|(?P<code>(?<![\\`])(?P<ticks>`+)(?!`)(?P<inside>[^\n]+?)(?<!`)(?P=ticks)(?!`)"
    r"(?:\{(?P<list>[^\n]*?)\}(?!\"))?)"
    r"|(?P<display>\$\$(?P<block>.+?)\$\$)"
    r"|(?P<inline>(?<![\\$])\$(?=[^\s$])(?P<formula>[^$\n]*?[^\s\\$])\$(?!\d))"
    r"|(?P<target>(?<=\])(?<!\\\])\((?P<link>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\))"
    r"|(?P<reference>^\[(?!\^)[^\]\n]+\]:[ \t]*<?[^\s>]+>?[ \t]*$)"
    r"|(?P<address><?https?://[^\s>)]+>?)"
    rf"|(?P<attributes>\{{:?\s*{ATTRIBUTE}(?:[ ]+{ATTRIBUTE})*\s*\}}))",
    re.DOTALL | re.MULTILINE,
)
INNER = {"code": "inside", "display": "block", "inline": "formula", "target": "link"}
FRONT, TOP = "(front-matter)", "(top)"
# Each of these is a word: a line of Chinese may break before or behind a character,
# and the cells of a table may have blanks at their edges.
APART = "|⺀-鿿豈-﫿︰-﹏！-￯\U00020000-\U0003ffff"
WORD = re.compile(rf"[{APART}]|[^\s{APART}]+")
LAYOUT = re.compile(r"^[ \t>]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$|^[ \t]*>[ \t>]*", re.M)
BLANK = re.compile(r"\n[ \t]*\n")
FENCE_WORDS = re.compile(r'(?:title|data-reason)="([^"]*)"')


class Part(NamedTuple):
    """What is not plain prose: a group of ``PARTS``, its place, what it holds."""

    kind: str
    start: int
    end: int
    text: str
    attributes: str | None = None  # behind inline code, without braces


def columns(text: str) -> int:
    """How wide a text is in a terminal: a Chinese character takes two columns."""
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text)


def line_of(text: str, offset: int) -> int:
    """Line of an offset, from 1."""
    return text.count("\n", 0, offset) + 1


def blank(text: str, start: int, end: int) -> str:
    """Overwrite a stretch by spaces, line ends kept."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


class Content(NamedTuple):
    """A page as it is written: its front matter, its fences, and all the rest."""

    meta: dict[str, Any]
    fences: tuple[Fence, ...]
    body: str  # the text with front matter and fences blanked
    faults: tuple[Problem, ...]


@lru_cache(maxsize=512)  # checks, lists and links read the same pages
def read_content(text: str, path: str = "") -> Content:
    fences, unclosed = scan(text, path)
    meta, unread = read_front_matter(text, path)
    front = FRONT_MATTER.match(text)
    lines = blank(text, 0, front.end() if front else 0).split("\n")
    for fence in fences:
        for number in fence.rows:
            lines[number - 1] = " " * len(lines[number - 1])
    return Content(meta, tuple(fences), "\n".join(lines), (*unclosed, *unread))


@lru_cache(maxsize=8)
def parts(text: str) -> tuple[Part, ...]:
    """Every part of a body that is not plain prose."""
    return tuple(map(_part, PARTS.finditer(text)))


def _part(match: re.Match[str]) -> Part:
    kind = str(match.lastgroup)
    return Part(kind, *match.span(), match[INNER.get(kind, 0)], match["list"])


def plain(text: str, quoted: bool = False) -> str:
    """The plain prose of a body, maybe with quotations; all else is blanked."""
    for pattern in (PARTS,) if quoted else (QUOTE, PARTS):
        text = pattern.sub(lambda match: blank(match[0], 0, len(match[0])), text)
    return text


def find_section(body: str, name: str) -> re.Match[str] | None:
    """The ``##`` section with this id, its group ``text`` without the heading."""
    heading = rf"^## [^\n]*\{{\s*#{re.escape(name)}\s*\}}\s*$\n"
    return re.search(rf"{heading}(?P<text>.*?)(?=^## |\Z)", body, re.M | re.S)


def section_text(body: str, name: str) -> str:
    """The text under the ``##`` heading with this id, up to the next one."""
    match = find_section(body, name)
    return match["text"] if match else ""


@lru_cache(maxsize=1024)
def wording(text: str) -> Mapping[str, str]:
    """The words of each section of a page that has any, in order, each on one line."""
    return {name: " ".join(lines) for name, lines in paragraphs(text).items()}


def paragraphs(text: str, seen: bool = False) -> Mapping[str, list[str]]:
    """The same by paragraphs, of which each is one line.

    Left out is what the two languages are compared by (code blocks, displayed formulas,
    what a figure shows unless it is to be ``seen``, link targets) and how the text is
    laid out. Question, title and aliases are ``FRONT``, what stands above the first
    heading is ``TOP``.
    """
    meta, fences, prose, _ = read_content(text)
    also = meta["aliases"] if isinstance(meta.get("aliases"), list) else []
    sections = {FRONT: [str(v) for v in (meta.get("question"), meta.get("title")) if v]}
    sections[FRONT] += map(str, also)
    headings = [(m["id"], m.start()) for m in HEADING.finditer(prose) if m["id"]]
    for (name, start), (_, end) in pairwise([(TOP, 0), *headings, ("", len(prose))]):
        rows = range(line_of(prose, start), line_of(prose, end))
        titles = (fence.info for fence in fences if fence.line in rows)
        told = PARTS.sub(partial(_words, seen=seen), prose[start:end])
        words = BLANK.split(LAYOUT.sub("", told))
        words += FENCE_WORDS.findall("\n".join(titles))
        sections.setdefault(name, []).extend(words)
    cut = str.split if seen else WORD.findall
    lines = {n: [" ".join(cut(w)) for w in words] for n, words in sections.items()}
    kept = {name: [line for line in each if line] for name, each in lines.items()}
    return {name: each for name, each in kept.items() if each}


def called(aliases: object) -> dict[str, list[str]]:
    """The aliases of a page: its own under "", those of a section under its id.

    One that ends in ``#kl`` has other words for that section, between commas. Readers
    see those of the page; the search and ``new`` know all.
    """
    found: dict[str, list[str]] = {"": []}
    for alias in aliases if isinstance(aliases, list) else []:
        words, sign, section = str(alias).rpartition(" #")
        if sign:
            found.setdefault(section, []).extend(re.split("[,，] *", words))
        else:
            found[""].append(str(alias))
    return found


def _words(match: re.Match[str], seen: bool) -> str:
    """What of a part belongs to the sentence it stands in."""
    part = _part(match)
    text = part.text if seen else "".join((part.attributes or part.text).split())
    kept = {"code": f"`{text}`", "inline": f"${text}$", "address": part.text}
    return kept.get(part.kind, "") if seen else f" {kept.get(part.kind, '')} "


def stretch(body: str, name: str) -> tuple[int, int]:
    """The offsets between which a section with this id lies, what is below it included.

    Both are 0 where no heading has the id.
    """
    headings = [*HEADING.finditer(body)]
    for number, heading in enumerate(headings):
        if heading["id"] == name:
            level = len(heading["level"])
            later = headings[number + 1 :]
            ends = (h.start() for h in later if len(h["level"]) <= level)
            return heading.start(), next(ends, len(body))
    return 0, 0


class WrongAnswer(NamedTuple):
    """A claim, in Markdown, who said it, and how its run fails.

    One that no run can refute has the class ``cited``, as in ``{ #wrong-two .cited }``.
    """

    id: str
    claim: str
    source: str
    failure: str
    cited: bool = False


def read_wrong_answers(
    body: str, fences: Sequence[Fence], path: str
) -> tuple[list[WrongAnswer], list[Problem]]:
    """The entries of the section ``wrong-answers``, and what is wrong with them."""
    section = find_section(body, "wrong-answers")
    if section is None:
        return [], []
    headings = HEADING.finditer(body, *section.span("text"))
    claims = [heading for heading in headings if heading["level"] == "###"]
    if not claims:
        return [], [problem(path, line_of(body, section.start()), "wrong_answers_none")]
    ends = [*(claim.start() for claim in claims[1:]), section.end()]
    entries: list[WrongAnswer] = []
    problems: list[Problem] = []
    for claim, end in zip(claims, ends, strict=True):
        line, name = line_of(body, claim.start()), claim["id"] or ""
        values = {"heading": claim[0].strip(), "claim": claim["title"]}
        quote = QUOTE.search(body, claim.end(), end)
        if not name.startswith("wrong-"):
            problems.append(problem(path, line, "wrong_answer_id", **values))
        if quote is None:
            problems.append(problem(path, line, "wrong_answer_source", **values))
        rows = range(line, line_of(body, end))
        failure = _failure([fence for fence in fences if fence.line in rows])
        source = quote["source"] if quote else ""
        cited = CITED.search(claim[0]) is not None
        entries.append(WrongAnswer(name, claim["title"], source, failure, cited))
    return entries, problems


def _failure(fences: Sequence[Fence]) -> str:
    """The last line that the first block meant to raise prints."""
    for fence, output in pairwise(fences):
        if ".raises" in fence.info and output.info == "output" and output.lines:
            return output.lines[-1].strip()
    return ""
