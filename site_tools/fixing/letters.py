"""A page letter by letter: what is prose, and what nobody may touch.

The mask of a page is as long as the page. Prose stands in it as it is; everything
else is one of the signs below, from the part of Unicode that has no characters.
"""

import re
from collections.abc import Iterator

from site_tools.fixing.indented import indented_code
from site_tools.page.fences import Fence, scan
from site_tools.page.prose import body, parts
from site_tools.page.wording import ODD_LINE_ENDS

Span = tuple[int, int, str]

CODE = "\ue000"  # code or a formula: a word of its sentence
OPAQUE = "\ue001"  # whatever else is no prose
OPENS, CLOSES = "\ue002", "\ue003"  # emphasis and links: beside the prose, not in it
QUOTED = "\ue004"  # between Chinese quotation marks, verbatim

HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Latin and Greek letters, digits, and those above or below the line.
WORD = (
    "0-9A-Za-z\u00b2\u00b3\u00b9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
    "\u0370-\u03ff\u2070-\u209f" + CODE
)
FULL = "，。；：？！、（）"

SIGNS = {"code": CODE, "inline": CODE}
QUOTE_BOX = re.compile(
    r"^(?P<indent>[ ]*)[!?]{3}\+?[ ]quote\b.*\n?"
    r"(?:(?P=indent)[ ]{4}.*(?:\n|\Z)|[ \t]*\n)*",
    re.M,
)
BLOCKS = re.compile(
    r"^[ \t]*>.*$"  # a block quotation
    r"|^[ \t]*(?:[!?]{3}\+?|===[!+]?)(?:[ \t][^\"\n]*)?"  # a box, up to its title
    r"|^.*-8<-.*$",
    re.M,
)
INLINE = re.compile(
    r"\[\^[^\]\n]+\]:?"  # a footnote
    r"|\]\[[^\]\n]*\]"  # the target of a reference
    r"|\{[^{}\n]*\}"
    r"|&#?\w+;|\\.|<[A-Za-z!/][^>\n]*>|:[a-z][a-z0-9_+-]*:"
)
SPOKEN = re.compile("“[^”\n]*”|「[^」\n]*」")
STRONG = re.compile(r"(?<![*\\])(\*\*)(?=[^\s*])(?:.+?)(?<=[^\s*])(\*\*)(?!\*)")
EMPHASIS = re.compile(r"(?<![*\\])(\*)(?=[^\s*])(?:[^*\n]+?)(?<=[^\s*])(\*)(?!\*)")


def mask(text: str) -> str | None:
    """The mask of a page, or None where nobody can say what is code.

    Args:
        text: The page, its lines ending in a line feed.

    Example:
        >>> mask("是 `V`。").translate({ord(CODE): "c"})
        '是 ccc。'
    """
    fences = fences_of(text)
    if fences is None:
        return None
    prose = body(text, fences)
    masked = list(re.sub("[\ue000-\ue004]", OPAQUE, prose))
    _cover(masked, _of_parts(prose))
    for pattern, sign in ((BLOCKS, OPAQUE), (INLINE, OPAQUE), (SPOKEN, QUOTED)):
        found = list(pattern.finditer("".join(masked)))
        _cover(masked, ((m.start(), m.end(), sign) for m in found))
    for pattern in (STRONG, EMPHASIS):
        for match in list(pattern.finditer("".join(masked))):
            _cover(masked, [(*match.span(1), OPENS), (*match.span(2), CLOSES)])
    verbatim = [*indented_code(prose), *(m.span() for m in QUOTE_BOX.finditer(prose))]
    _cover(masked, ((start, end, OPAQUE) for start, end in verbatim))
    return "".join(masked)


def fences_of(text: str) -> list[Fence] | None:
    """The fences of a page, or None where one cannot be told from the prose."""
    fences, problems = scan(text, "")
    return None if problems or ODD_LINE_ENDS.search(text) else fences


def _cover(masked: list[str], spans: Iterator[Span] | list[Span]) -> None:
    for start, end, sign in spans:
        for at in range(start, end):
            if masked[at] != "\n":
                masked[at] = sign


def _of_parts(prose: str) -> Iterator[Span]:
    for part in parts(prose):
        if part.kind != "target":
            yield part.start, part.end, SIGNS.get(part.kind, OPAQUE)
            continue
        opening = _opening(prose, part.start - 1)
        picture = opening > 0 and prose[opening - 1] == "!"
        yield part.start - 1, part.end, OPAQUE if picture else CLOSES
        if picture:
            yield opening - 1, opening + 1, OPAQUE
        elif opening >= 0:
            yield opening, opening + 1, OPENS


def _opening(prose: str, closing: int) -> int:
    """The bracket that a closing one belongs to, or -1."""
    depth = 0
    for at in range(closing, prose.rfind("\n", 0, closing), -1):
        depth += {"]": 1, "[": -1}.get(prose[at], 0)
        if depth == 0:
            return at
    return -1


def replace(text: str, edits: list[tuple[int, int, str]]) -> str:
    """The text with stretches of it replaced; none may overlap another.

    Example:
        >>> replace("abc", [(0, 1, "x"), (2, 2, "-")])
        'xb-c'
    """
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
