"""Terms of the glossary in the text of a page: a quiet link, its meaning as tooltip.

The first occurrence of a term in each ``##`` section, and only in running text.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape

from site_tools.data.names import Name, key, pattern
from site_tools.site.texts import as_plain

TOKEN = re.compile(
    r"<!--.*?-->"
    r"|<(?P<closing>/?)(?P<tag>[A-Za-z][\w:-]*)"
    r"(?P<attributes>(?:\"[^\"]*\"|'[^']*'|[^'\">])*)>"
    r"|(?P<text>[^<]+)",
    re.DOTALL,
)
CLASS = re.compile(r'\bclass="([^"]*)"')
VOID = re.compile("area|br|col|embed|hr|img|input|link|meta|source|track|wbr")
# Where a word is a name, a heading, code, someone else's, or linked already.
TAGS = re.compile(
    "a|button|code|figure|h[1-6]|label|nav|pre|script|style|summary|svg|th"
)
CLASSES = re.compile(
    "admonition-title|aliases|arithmatex|derived|fact|figure|headerlink|highlight|names"
    "|output-table|quote"
)
GLOSSARY = "/reference/glossary/"


def link(html: str, names: Sequence[Name], lang: str) -> str:
    """Make the first occurrence of each term in each section a link to the glossary.

    Args:
        html: A rendered page, formulas still marked as TeX.
        names: The rows of the glossary.
        lang: The language of the page, whose terms are looked for.

    Example:
        >>> advantage = Name("advantage", "优势", "advantage", "更好多少", "How much.")
        >>> link("<p>用优势估计</p>", [advantage], "zh")
        '<p>用<a class="term" href="/reference/glossary/#advantage" \
title="更好多少">优势</a>估计</p>'
    """
    return "".join(_pieces(html, tuple(names), lang))


def _pieces(html: str, names: tuple[Name, ...], lang: str) -> Iterator[str]:
    words, found = _vocabulary(names, lang)
    seen: set[str] = set()
    closed: list[str] = []  # open elements, from the outermost that keeps terms out

    def place(match: re.Match[str]) -> str:
        word = key(match[0])
        name = words.get(word) or words[word.removesuffix("s")]
        if name.id in seen:
            return match[0]
        seen.add(name.id)
        meaning = escape(as_plain(getattr(name, f"meaning_{lang}")))
        opening = f'<a class="term" href="{GLOSSARY}#{name.id}" title="{meaning}">'
        return f"{opening}{match[0]}</a>"

    for token in TOKEN.finditer(html):
        tag = token["tag"]
        if token["text"] and not closed and words:
            yield found.sub(place, token["text"])
            continue
        yield token[0]
        if tag is None or VOID.fullmatch(tag) or token[0].endswith("/>"):
            continue
        if token["closing"]:
            while closed and closed.pop() != tag:
                pass
        elif closed or _keeps_out(tag, token["attributes"]):
            closed.append(tag)
            if tag == "h2":
                seen.clear()


def _keeps_out(tag: str, attributes: str) -> bool:
    found = CLASS.search(attributes)
    classes = found[1].split() if found else []
    return bool(TAGS.fullmatch(tag)) or any(map(CLASSES.fullmatch, classes))


@lru_cache(maxsize=4)
def _vocabulary(
    names: tuple[Name, ...], lang: str
) -> tuple[dict[str, Name], re.Pattern[str]]:
    """The terms, and one pattern of them all."""
    words = {
        key(word): name
        for name in names
        for word in [getattr(name, lang), *getattr(name, f"also_{lang}")]
    }
    return words, pattern(words, lang)
