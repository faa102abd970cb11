"""A published page: one style sheet for all of them, and a policy of what may run.

The sheets of the theme and of the site become one, without the rules that no page can
need. What the first screen needs stands in every page; the sheet is linked behind the
first words, so that they are shown before it has come.
"""

import base64
import hashlib
import re
from collections.abc import Collection, Iterable

SHEET = re.compile(r'<link rel="stylesheet" href="([^"/:?][^":?]*)(?:\?[^"]*)?">\n?')
BLANKS = re.compile(r"\s+(?=[{}])|(?<=[{};])\n\s*|(?<=[{}])\s+|/\*#.*?\*/")
FONT = re.compile(r"url\((?=fonts/)")
RULE = re.compile(r"(?P<selectors>[^{}@]+)\{[^{}]*\}")
EMPTY = re.compile(r"@media[^{}]*\{\}")
COMMA = re.compile(r",(?![^(]*\))")  # between selectors, not within :is(...)
# Either of what stands in brackets will do, and none of what :not(...) holds is needed.
OPTIONAL = re.compile(r":[\w-]+\([^()]*(?:\([^()]*\)[^()]*)*\)|\"[^\"]*\"")
CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
OTHER_WAY = "[dir=rtl]"  # both languages run from left to right
WORD = re.compile(r"[\w-]+")
# A page up to the first thing that is no plain text: no formula, code or list is.
PLAIN = r"(?:(?!</{0}>|arithmatex|<code|<ol).)*</{0}>"
BEGINNING = re.compile(
    r"<article\b[^>]*>(?:(?:\s*<span[^>]*></span>)?\s*<h1\b"
    + PLAIN.format("h1")
    + r'(?:\s*<div class="reading">'
    + PLAIN.format("div")
    + ")?"
    r'(?:\s*<section class="answer">(?:\s*<span[^>]*></span>)*\s*<h2\b'
    + PLAIN.format("h2")
    + r")?(?:\s*<p>"
    + PLAIN.format("p")
    + ")*)?",
    re.DOTALL,
)

ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)
INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
CHARSET = '<meta charset="utf-8">'
# Attributes of style are allowed: formulas and plots place their parts by them. A
# browser that does not know style-src-elem takes style-src for both.
POLICY = (
    "default-src 'none'; script-src 'self'{script}; style-src 'self' 'unsafe-inline'; "
    "style-src-elem 'self'{style}; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'"
)


def words(texts: Iterable[str]) -> set[str]:
    """What may be the name of a class: all the words of pages and scripts."""
    return {word for text in texts for word in WORD.findall(text)}


def sheet(styles: Iterable[tuple[str, str]], known: Collection[str]) -> str:
    """One sheet of many, each with the way to its fonts; without unknown classes."""

    def needed(match: re.Match[str]) -> str:
        selectors = COMMA.split(match["selectors"])
        ours = [one for one in selectors if _is_needed(one, known)]
        return match[0].replace(match["selectors"], ",".join(ours)) if ours else ""

    whole = "".join(
        FONT.sub(f"url({way}", BLANKS.sub("", css.strip())) for way, css in styles
    )
    return EMPTY.sub("", RULE.sub(needed, whole))


def _is_needed(selector: str, known: Collection[str]) -> bool:
    classes = CLASS.findall(OPTIONAL.sub("", selector))
    return OTHER_WAY not in selector and all(name in known for name in classes)


def link_sheet(html: str, name: str, first: str) -> str:
    """Put the first styles into a page, and the link to the sheet behind its beginning.

    The sheet lies in the folder ``assets`` of the page's language.
    """
    found = SHEET.search(html)
    if not found or not BEGINNING.search(html):
        return html
    root = found[1].partition("assets/")[0]
    link = f'<link rel="stylesheet" href="{root}{name}">'
    head, rest = html[: found.start()], SHEET.sub("", html[found.start() :])
    rest = BEGINNING.sub(lambda match: match[0] + link, rest, count=1)
    return f"{head}<style>{first}</style>\n{rest}"


def add_policy(html: str) -> str:
    """Say in a page what it may load and run: the inline scripts of the theme alone.

    What stands in an article was written on a page, and none of it may run.
    """
    hashes: dict[str, dict[str, None]] = {"script": {}, "style": {}}
    for kind, text in INLINE.findall(ARTICLE.sub("", html)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes[kind][f" 'sha256-{digest}'"] = None
    policy = POLICY.format(**{kind: "".join(found) for kind, found in hashes.items()})
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    before, charset, after = html.partition(CHARSET)
    if not charset:
        raise ValueError(f"a page must begin with {CHARSET}, got {html[:80]!r}")
    return f"{before}{charset}\n{meta}{after}"
