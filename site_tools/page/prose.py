"""The text of a page: what is prose in it, its sections, their words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from site_tools.page.fences import Fence, read_attributes, scan
from site_tools.page.files import FRONT_MATTER, read_front_matter
from site_tools.problems import Problem, problem

HEADING = re.compile(
    r"^(?P<level>#{1,6})[ ].*?(?:\{[^}\n]*#(?P<id>[\w-]+)[^}\n]*\})?$", re.M
)
QUOTE = re.compile(
    r'^(?P<indent>[ ]*)[!?]{3}\+? quote "(?P<source>[^"\n]+)"\n'
    r"(?P<body>(?:(?P=indent)[ ]{4}.*\n|[ \t]*\n)*)",
    re.MULTILINE,
)
PARTS = re.compile(
    r"(?P<comment><!--.*?-->)"
    r"|(?P<code>(?<![\\`])(?P<ticks>`+)(?!`)(?P<inside>[^\n]+?)(?<!`)(?P=ticks)(?!`)"
    r"(?P<list>\{[^\n]*?\}(?!\"))?)"
    r"|(?P<display>\$\$(?P<block>.+?)\$\$)"
    r"|(?P<inline>(?<![\\$])\$(?=[^\s$])(?P<formula>[^$\n]*?[^\s\\$])\$(?!\d))"
    r"|(?P<target>(?<=\])(?<!\\\])\((?P<link>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\))"
    r"|(?P<reference>^\[(?!\^)[^\]\n]+\]:[ \t]*<?[^\s>]+>?[ \t]*$)"
    r"|(?P<address><?https?://[^\s>)]+>?)"
    r"|(?P<attributes>\{:?\s*[.#A-Za-z][^{}\n]*\})",
    re.DOTALL | re.MULTILINE,
)
KINDS = [
    "comment",
    "code",
    "display",
    "inline",
    "target",
    "reference",
    "address",
    "attributes",
    "quote",
]


@dataclass(frozen=True)
class Part:
    """A piece of a page that is not plain prose.

    Args:
        kind: One of ``KINDS``.
        start: Offset of its first character.
        end: Offset behind its last.
        text: The code, the formula, the link target, or the source of a quotation.
        attributes: The attribute list behind inline code, without braces.
    """

    kind: str
    start: int
    end: int
    text: str
    attributes: str | None = None


def blank(text: str, start: int, end: int) -> str:
    """Overwrite a stretch by spaces, line ends kept."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def body(text: str, fences: list[Fence]) -> str:
    """The page with its front matter and its fences blanked."""
    front = FRONT_MATTER.match(text)
    if front:
        text = blank(text, 0, front.end())
    lines = text.split("\n")
    for fence in fences:
        for number in range(fence.line - 1, fence.line + len(fence.lines) + 1):
            lines[number] = " " * len(lines[number])
    return "\n".join(lines)


@lru_cache(maxsize=8)
def parts(text: str) -> tuple[Part, ...]:
    """Every part of a body that is not plain prose, quotations first."""
    return tuple(_parts(text))


def _parts(text: str) -> Iterator[Part]:
    for match in QUOTE.finditer(text):
        yield Part("quote", match.start("body"), match.end("body"), match["source"])
    for match in PARTS.finditer(text):
        kind = str(match.lastgroup if match.lastgroup in KINDS else _kind(match))
        inner = match[_INNER[kind]] if kind in _INNER else match[0]
        if kind == "attributes" and not _is_list(match[0]):
            continue
        attributes = match["list"][1:-1] if match["list"] else None
        yield Part(kind, match.start(), match.end(), inner, attributes)


_INNER = {"code": "inside", "display": "block", "inline": "formula", "target": "link"}


def _is_list(text: str) -> bool:
    """Whether braces hold attributes; otherwise readers see them as text."""
    try:
        read_attributes(text[1:-1].lstrip(":"))
    except ValueError:
        return False
    return True


def _kind(match: re.Match[str]) -> str:
    return next(kind for kind in KINDS if match.groupdict().get(kind) is not None)


def plain(text: str, refs: tuple[str, ...] = ()) -> str:
    """The plain prose of a body; all else, and what ``refs`` knows, is blanked.

    Example:
        >>> plain("see `x` in verl 0.9.1", ("verl 0.9.1",))
        'see     in           '
    """
    masked = text
    for part in parts(text):
        masked = blank(masked, part.start, part.end)
    for ref in sorted(refs, key=len, reverse=True):
        for match in re.finditer(re.escape(ref) + r"(?![\w.]*\d)", masked):
            masked = blank(masked, match.start(), match.end())
    return masked


def line_of(text: str, offset: int) -> int:
    """Line of an offset, from 1."""
    return text.count("\n", 0, offset) + 1


SECTION = r"^## [^\n]*\{{\s*#{}\s*\}}\s*$\n(?P<text>.*?)(?=^## |\Z)"


def find_section(body: str, name: str) -> re.Match[str] | None:
    """The ``##`` section with this id, its group ``text`` without the heading."""
    return re.search(SECTION.format(re.escape(name)), body, re.M | re.S)


def section_text(body: str, name: str) -> str:
    r"""The text under the ``##`` heading with this id, up to the next one.

    Example:
        >>> section_text("## It is { #answer }\n\nYes.\n\n## Run { #code }", "answer")
        'Yes.\n\n'
    """
    match = find_section(body, name)
    return match["text"] if match else ""


def first_paragraph(text: str) -> str:
    r"""The first paragraph of a text, on one line.

    Example:
        >>> first_paragraph("\n**Yes.** It\nis.\n\nMore.")
        '**Yes.** It is.'
    """
    return " ".join(text.strip().split("\n\n")[0].split())


FRONT, TOP = "(front-matter)", "(top)"
# Each of these is a word: a line of Chinese may break before or behind a character,
# and the cells of a table may have blanks at their edges.
APART = "|⺀-鿿豈-﫿︰-﹏！-￯\U00020000-\U0003ffff"
WORD = re.compile(rf"[{APART}]|[^\s{APART}]+")
DELIMITER_ROW = re.compile(r"^[ \t>]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$", re.M)
QUOTE_MARK = re.compile(r"^[ \t]*>[ \t>]*", re.M)
FENCE_WORDS = re.compile(r'(?:title|data-reason)="([^"]*)"')
# Line ends to str.splitlines, which counts the lines of a fence, and to nobody else.
ODD_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|\r\n?")


@lru_cache(maxsize=1024)
def wording(text: str) -> Mapping[str, str]:
    """The words of each section of a page, in order, each on one line.

    Args:
        text: The page.

    Returns:
        By the id of the heading; what stands above the first is ``TOP``, question,
        title and aliases are ``FRONT``. Neither is there where it has no words.

    Example:
        >>> wording("One\\n\\ntwo.\\n\\n## Why { #why }\\n\\nSee [x](y.md).")
        {'(top)': 'One two.', 'why': '## Why See [x] .'}
    """
    text = ODD_LINE_ENDS.sub("\n", text)
    fences, _ = scan(text, "")
    prose = body(text, fences)
    found = {FRONT: _front_matter(text)}
    for name, start, end in _sections(prose):
        words = [_kept(prose, start, end), *_of_fences(fences, prose, start, end)]
        found[name] = " ".join([*filter(None, [found.get(name)]), *words])
    lines = {name: " ".join(WORD.findall(words)) for name, words in found.items()}
    return {name: words for name, words in lines.items() if words}


def _front_matter(text: str) -> str:
    meta, _ = read_front_matter(text, "")
    aliases = meta.get("aliases")
    also = aliases if isinstance(aliases, list) else []
    own = [meta.get("question"), meta.get("title"), *also]
    return "\n".join(str(value) for value in own if value is not None)


def _sections(prose: str) -> Iterator[tuple[str, int, int]]:
    found = [(m["id"], m.start()) for m in HEADING.finditer(prose) if m["id"]]
    ends = [(TOP, 0), *found, ("", len(prose))]
    for (name, start), (_, end) in pairwise(ends):
        yield name, start, end


def _kept(prose: str, start: int, end: int) -> str:
    text = prose[start:end]
    inside = [p for p in parts(prose) if start <= p.start < end and p.kind != "quote"]
    for part in sorted(inside, key=lambda part: part.start, reverse=True):
        text = text[: part.start - start] + _said(part) + text[part.end - start :]
    return QUOTE_MARK.sub("", DELIMITER_ROW.sub("", text))


def _said(part: Part) -> str:
    """What of a part belongs to the sentence it stands in."""
    if part.kind == "code":
        return f" `{''.join((part.attributes or part.text).split())}` "
    if part.kind == "inline":
        return f" ${''.join(part.text.split())}$ "
    return f" {part.text} " if part.kind == "address" else " "


def _of_fences(fences: list[Fence], prose: str, start: int, end: int) -> Iterator[str]:
    """The words in the opening lines of the fences of a section."""
    first, last = line_of(prose, start), line_of(prose, end)
    for fence in fences:
        if first <= fence.line < last:
            yield from FENCE_WORDS.findall(fence.info)


ENTRY = re.compile(
    r"^### (?P<claim>.*?)[ ]*(?:\{[^}\n]*#(?P<id>[\w-]+)[^}\n]*\})?[ ]*$", re.M
)
PREFIX = "wrong-"


class WrongAnswer(NamedTuple):
    """A claim, in Markdown, who said it, and how its run fails."""

    id: str
    claim: str
    source: str
    failure: str


def read_wrong_answers(
    body: str, fences: Sequence[Fence], path: str
) -> tuple[list[WrongAnswer], list[Problem]]:
    """The entries of the section ``wrong-answers``, and what keeps one from being it.

    Args:
        body: The page with front matter and fences blanked (``prose.body``).
        fences: Its fences.
        path: Its path, for the messages.
    """
    section = find_section(body, "wrong-answers")
    if section is None:
        return [], []
    start, end = section.span("text")
    headings = list(ENTRY.finditer(body, start, end))
    if not headings:
        return [], [problem(path, line_of(body, section.start()), "wrong_answers_none")]
    ends = [*(heading.start() for heading in headings[1:]), end]
    entries: list[WrongAnswer] = []
    problems: list[Problem] = []
    for heading, last in zip(headings, ends, strict=True):
        quote = QUOTE.search(body, heading.end(), last)
        problems += _problems(heading, quote, line_of(body, heading.start()), path)
        lines = range(line_of(body, heading.start()), line_of(body, last))
        inside = [fence for fence in fences if fence.line in lines]
        source = quote["source"] if quote else ""
        name, claim = heading["id"] or "", heading["claim"]
        entries.append(WrongAnswer(name, claim, source, _failure(inside)))
    return entries, problems


def _problems(
    heading: re.Match[str], quote: re.Match[str] | None, line: int, path: str
) -> Iterator[Problem]:
    if not (heading["id"] or "").startswith(PREFIX):
        values = {"heading": heading[0].strip(), "claim": heading["claim"]}
        yield problem(path, line, "wrong_answer_id", **values)
    if quote is None:
        yield problem(path, line, "wrong_answer_source", heading=heading[0].strip())


def _failure(fences: Sequence[Fence]) -> str:
    """The last line that the first block meant to raise prints."""
    for fence, output in pairwise(fences):
        if _is(fence, "raises") and _is(output, "output") and output.lines:
            return output.lines[-1].strip()
    return ""


def _is(fence: Fence, name: str) -> bool:
    try:
        language, attributes = fence.header
    except ValueError:  # a problem of its own, where blocks are read
        return False
    return name in (language, *attributes.classes)
