"""The words of each section of a page: what two people agree on across languages.

Left out is what the languages are compared by (code blocks, displayed formulas, what a
bound figure shows, the targets of links), and how the text is laid out.
"""

import re
from collections.abc import Mapping
from functools import lru_cache, partial

from site_tools.source.content import Content, read_content
from site_tools.source.inline import PARTS, read_part

FRONT = "(front-matter)"  # question, title and aliases
TOP = "(top)"  # what stands above the first heading
# Each of these is a word: a line of Chinese may break before or behind a character,
# and the cells of a table may have blanks at their edges.
SINGLE_SIGNS = "|⺀-鿿豈-﫿︰-﹏！-￯\U00020000-\U0003ffff"
WORDS_APART = re.compile(rf"[{SINGLE_SIGNS}]|[^\s{SINGLE_SIGNS}]+")
LAYOUT = re.compile(r"^[ \t>]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$|^[ \t]*>[ \t>]*", re.M)
EMPTY_LINE = re.compile(r"\n[ \t]*\n")
FENCE_WORDS = re.compile(r'(?:title|data-reason)="([^"]*)"')


@lru_cache(maxsize=1024)
def wording(text: str) -> Mapping[str, str]:
    """The words of each section of a page that has any, in order, each on one line."""
    return {name: " ".join(lines) for name, lines in paragraphs(text).items()}


def paragraphs(text: str, seen: bool = False) -> Mapping[str, list[str]]:
    """The same by paragraphs, each a line; maybe with figures, as they are ``seen``."""
    content = read_content(text)
    sections = {FRONT: _front_words(content)}
    name, first = TOP, 1
    for heading in content.headings:
        if heading.id:
            rows = range(first, heading.line)
            sections.setdefault(name, []).extend(_words_on(rows, content, seen))
            name, first = heading.id, heading.line
    rows = range(first, len(content.lines) + 1)
    sections.setdefault(name, []).extend(_words_on(rows, content, seen))
    found = {}
    for name, texts in sections.items():
        lines = []
        for each in texts:
            words = each.split() if seen else WORDS_APART.findall(each)
            if words:
                lines.append(" ".join(words))
        if lines:
            found[name] = lines
    return found


def _front_words(content: Content) -> list[str]:
    meta = content.meta
    words = [meta.get("question"), meta.get("title")]
    if isinstance(meta.get("aliases"), list):
        words += meta["aliases"]
    return [str(each) for each in words if each]


def _words_on(rows: range, content: Content, seen: bool) -> list[str]:
    """The paragraphs on some lines, and what the fences there say to readers."""
    told = PARTS.sub(partial(_words_of, seen=seen), content.text_of(rows))
    words = EMPTY_LINE.split(LAYOUT.sub("", told))
    for fence in content.fences_on(rows):
        words += FENCE_WORDS.findall(fence.info)
    return words


def _words_of(match: re.Match[str], seen: bool) -> str:
    """The words of a part that belong to the sentence it stands in.

    Where they are not to be ``seen``, a figure is the expression it is bound to, and
    blanks do not count.
    """
    part = read_part(match)
    if part.kind == "address":
        kept = part.text
    elif part.kind == "code":
        meant = part.text if seen else part.attributes or part.text
        kept = f"`{meant if seen else _blanks_gone(meant)}`"
    elif part.kind == "inline":
        kept = f"${part.text if seen else _blanks_gone(part.text)}$"
    else:
        kept = ""
    return kept if seen else f" {kept} "


def _blanks_gone(text: str) -> str:
    return "".join(text.split())
