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
    for name, rows in _stretches(content):
        told = PARTS.sub(partial(_words_of, seen=seen), content.text_of(rows))
        words = EMPTY_LINE.split(LAYOUT.sub("", told))
        for fence in content.fences_on(rows):
            words += FENCE_WORDS.findall(fence.info)
        sections.setdefault(name, []).extend(words)
    found = {}
    for name, words in sections.items():
        lines = [" ".join(_split(each, seen)) for each in words]
        if kept := [line for line in lines if line]:
            found[name] = kept
    return found


def _front_words(content: Content) -> list[str]:
    meta = content.meta
    words = [meta.get("question"), meta.get("title")]
    if isinstance(meta.get("aliases"), list):
        words += meta["aliases"]
    return [str(each) for each in words if each]


def _stretches(content: Content) -> list[tuple[str, range]]:
    """The id of each section, and its lines up to the next heading with an id."""
    named = [heading for heading in content.headings if heading.id]
    names = [TOP, *(heading.id for heading in named)]
    starts = [1, *(heading.line for heading in named), len(content.lines) + 1]
    return [(name, range(*starts[n : n + 2])) for n, name in enumerate(names)]


def _split(text: str, seen: bool) -> list[str]:
    return text.split() if seen else WORDS_APART.findall(text)


def _words_of(match: re.Match[str], seen: bool) -> str:
    """The words of a part that belong to the sentence it stands in."""
    part = read_part(match)
    if part.kind == "address":
        kept = part.text
    elif part.kind == "code":
        kept = f"`{_shown_or_meant(part.attributes or part.text, part.text, seen)}`"
    elif part.kind == "inline":
        kept = f"${_shown_or_meant(part.text, part.text, seen)}$"
    else:
        kept = ""
    return kept if seen else f" {kept} "


def _shown_or_meant(meant: str, shown: str, seen: bool) -> str:
    """The text that is shown, or else what is meant by it, without blanks."""
    return shown if seen else "".join(meant.split())
