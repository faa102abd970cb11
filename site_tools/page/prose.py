"""The parts of a Markdown page: what is prose, and what is code, formula or link.

Every part keeps its place, so that whatever is found in the prose is found at its
line in the file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from site_tools.page.attributes import parse
from site_tools.page.fences import Fence

FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
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
        parse(text[1:-1].lstrip(":"))
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
