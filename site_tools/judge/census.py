"""Every code fence is accounted for: the page, Sybil and the built HTML agree.

The line scan says what is on the page, Sybil's lexer what runs, the HTML what readers
see. Any fence on which they differ is an error; so is HTML that a page may not have.
"""

import re
import textwrap
from html.parser import HTMLParser
from typing import NamedTuple

from sybil import Document
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from site_tools.compile.templates import bare
from site_tools.page.fences import Fence
from site_tools.page.page import Page
from site_tools.say import Problem

# In Markdown's own HTML < stands for nothing else; a tree takes ten times as long.
BOX = re.compile(r"<pre\b[^>]*>(?:<span></span>)?<code\b[^>]*>(.*?)</code>", re.DOTALL)
LEXER = RawFencedCodeBlockLexer(re.compile(r"(?P<info>[^\n]*)(?:\n|\Z)"))


class Collected(NamedTuple):
    """A fence, and the offsets in the page between which it lies."""

    start: int
    end: int
    fence: Fence


def collect(text: str) -> list[Collected]:
    """Every fence that Sybil's lexer finds; one inside another is not a fence."""
    collected: list[Collected] = []
    end = 0
    for region in sorted(LEXER(Document(text, "")), key=lambda region: region.start):
        if region.start >= end:
            end = region.end
            line = text.count("\n", 0, region.start) + 1
            lines = textwrap.dedent(region.lexemes["source"]).splitlines()
            fence = Fence(line, region.lexemes["info"].strip(), tuple(lines))
            collected.append(Collected(region.start, end, fence))
    return collected


def check_collected(page: Page) -> list[Problem]:
    """Compare the fences of the line scan with those that Sybil collects."""
    scanned = {fence.line: _content(fence) for fence in page.fences}
    lexed = {each.fence.line: _content(each.fence) for each in collect(page.text)}
    problems = []
    for line in sorted(scanned.keys() | lexed.keys()):
        scan, sybil = scanned.get(line), lexed.get(line)
        if scan != sybil:
            key = "census_sybil" if scan is None else "census_scan"
            problems.append(page.problem(line, key, scan=scan, sybil=sybil))
    return problems


def _content(fence: Fence) -> str:
    inside = textwrap.dedent("\n".join(fence.lines)).strip("\n")
    return f"```{fence.info}\n{inside}"


def boxes(html: str) -> list[str]:
    """The text of every code box of a built page, in order."""
    return [bare(code) for code in BOX.findall(html)]


def check_boxes(page: Page, html: str) -> list[Problem]:
    """Compare the blocks of a page with the code boxes that readers see."""
    shown = boxes(html)
    boxed = [block for block in page.blocks if block.has_box]
    known = {_bare(block.text) for block in boxed}
    if len(shown) > len(boxed):
        extra = next((text for text in shown if _bare(text) not in known), shown[-1])
        first = extra.strip().partition("\n")[0].strip()
        line = page.line_with(first)
        return [page.problem(line, "census_extra_box", text=first[:60])]
    for number, block in enumerate(boxed):
        values = {"expected": block.text, "shown": "".join(shown[number : number + 1])}
        if _bare(values["shown"]) != _bare(block.text):
            key = "census_other_box" if shown[number:] else "census_no_box"
            return [page.problem(block.fence.line, key, **values)]
    return []


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def check_shown(page: Page, html: str) -> list[Problem]:
    """Every tag and attribute of a rendered page that a page may not have."""
    problems = []
    for fault in faults(html):
        quoted = re.search(r'"([^"]+)"', fault)
        words = [fault.split(" ")[0].rstrip(">"), quoted[1] if quoted else ""]
        at = (page.line_with(word) for word in words if word)
        line = next(filter(None, at), 1)  # it may be spelled otherwise
        key = "link_without_scheme" if 'href="//' in fault else "html_not_allowed"
        problems.append(page.problem(line, key, fault=fault))
    return problems


# What the HTML of a page may be made of: anything that is not listed is refused.

# Attributes of some tags; their values may be anything but for those with a pattern.
ATTRIBUTES = {
    **{"a": "href hreflang", "details": "open name", "ol": "start"},
    **{"input": "type name checked", "label": "for"},
    **{"td": "colspan rowspan style", "th": "colspan rowspan scope style"},
    **{"code": "data-is", "div": "data-language data-reason data-tabs"},
    # A widget has three places: a picture, a line that says what to try, a list.
    **{"img": "src alt data-lab", "p": "data-lab", "section": "data-lab"},
    "span": "data-download aria-hidden",  # in lists made from data
}
VALUES = {
    "href": re.compile(r"https?://[\w.-]+(?::\d+)?(?:[/?#]|\Z)|#|(?!//)[^:\s\\]*\Z"),
    "src": re.compile(r"(?!//)[^:\s\\]*\.svg"),
    "data-lab": re.compile(r"[a-z]+(?:/[a-z_]+)?\Z"),
    "data-download": re.compile(r"[\w./-]+\Z"),
    "aria-hidden": re.compile(r"true\Z"),
    "style": re.compile(r"text-align: \w+;?\Z"),
    "type": re.compile(r"(?:radio|checkbox)\Z"),
}
TAGS = re.compile(
    "a|abbr|aside|blockquote|br|code|dd|del|details|div|dl|dt|em|figcaption|figure|"
    "h[1-6]|hr|img|input|ins|kbd|label|li|mark|nav|ol|p|pre|s|samp|section|small|span|"
    "strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|ul|var"
)
ANYWHERE = re.compile(r"class|id|lang|title|data-search-exclude")
# The theme's script finds its own settings and parts by these.
THEME = {"id": re.compile(r"__(?!tabbed_)"), "class": re.compile(r"(^|\s)md-")}
# A comment or a declaration: where one ends, Python and browsers do not agree.
NO_TAG = re.compile(r"<!--.*?-->|<[!?][^>]*>?", re.DOTALL)
# Most tags of a page: those of its coloured code, and all without an attribute.
PLAIN = re.compile(rf'<span class="\w{{1,3}}">|</?(?:{TAGS.pattern})>')


def faults(html: str) -> list[str]:
    """Each tag and attribute that a page may not have, as it would be written."""
    reader = _Reader()
    reader.feed(PLAIN.sub("", html))
    reader.close()
    return [*reader.found, *NO_TAG.findall(html)]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not TAGS.fullmatch(tag):
            self.found.append(f"<{tag}>")
            return
        wrong = ((k, v or "") for k, v in attrs if not _fits(tag, k, v or ""))
        self.found += [f'{key}="{value}" on <{tag}>' for key, value in wrong]


def _fits(tag: str, key: str, value: str) -> bool:
    if key in THEME and THEME[key].search(value):
        return False
    if ANYWHERE.fullmatch(key):
        return True
    listed = key in ATTRIBUTES.get(tag, "").split()
    return listed and (key not in VALUES or bool(VALUES[key].match(value)))
