"""The words of a page, section by section: what each language says in its own way.

Left out is what the two languages are compared by (code blocks, displayed formulas,
what a figure shows, link targets) and how the text is laid out. Inline code, inline
formulas and the expression of a figure stay: the comparison takes them as a set, and
a sentence in which two of them changed places says something else.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

from site_tools.page.fences import Fence, scan
from site_tools.page.front_matter import read_front_matter
from site_tools.page.prose import HEADING, Part, body, line_of, parts

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
