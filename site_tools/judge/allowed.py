"""The HTML that a page may be made of: all that is not listed here is refused."""

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString

from site_tools.messages import Problems
from site_tools.page.page import Page

# Attributes of some tags; their values may be anything but for those with a pattern.
ATTRIBUTES = {
    **{"a": "href hreflang", "details": "open name", "ol": "start"},
    **{"input": "type name checked disabled", "label": "for"},
    **{"td": "colspan rowspan style", "th": "colspan rowspan scope style"},
    **{"code": "data-is"},
    # A widget has three places: a picture, a line that says what to try, a list.
    **{"img": "src alt data-lab", "p": "data-lab", "section": "data-lab"},
    "span": "data-download aria-hidden",  # in lists made from data
    **{"li": "data-of", "div": "data-language data-reason data-tabs data-of"},
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
ALLOWED_TAGS = re.compile(
    "a|abbr|aside|blockquote|br|code|dd|del|details|div|dl|dt|em|figcaption|figure|"
    "h[1-6]|hr|img|input|ins|kbd|label|li|mark|nav|ol|p|pre|s|samp|section|small|span|"
    "strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|ul|var"
)
ANYWHERE = re.compile(r"class|id|lang|title|data-unsearched")
# The theme's script finds its own settings and parts by these.
THEME = {"id": re.compile(r"__(?!tabbed_)"), "class": re.compile(r"(^|\s)md-")}


def check_html(page: Page, shown: BeautifulSoup) -> Problems:
    """Every tag and attribute of a rendered page that a page may not have."""
    for fault in html_faults(shown):
        key = "link_without_scheme" if 'href="//' in fault else "html_not_allowed"
        yield page.problem(_line_of_fault(fault, page), key, fault=fault)


def _line_of_fault(fault: str, page: Page) -> int:
    """Where it is written, unless it is spelled otherwise there."""
    words = [fault.split(" ")[0].rstrip(">")]
    words += re.findall(r'"([^"]+)"', fault)[:1]
    for word in words:
        if line := page.line_with(word):
            return line
    return 1


def html_faults(shown: Tag) -> Iterator[str]:
    """Each tag and attribute that a page may not have, as it would be written."""
    for node in shown.descendants:
        if isinstance(node, PreformattedString):
            # Where a comment ends, Python and browsers do not agree.
            yield f"{node.PREFIX}{node}{node.SUFFIX}".strip()
        elif isinstance(node, Tag) and not ALLOWED_TAGS.fullmatch(node.name):
            yield f"<{node.name}>"
        elif isinstance(node, Tag):
            for key, value in node.attrs.items():
                text = " ".join(value) if isinstance(value, list) else str(value)
                if not _is_allowed(node.name, key, text):
                    yield f'{key}="{text}" on <{node.name}>'


def _is_allowed(tag: str, key: str, value: str) -> bool:
    if key in THEME and THEME[key].search(value):
        return False
    if ANYWHERE.fullmatch(key):
        return True
    listed = key in ATTRIBUTES.get(tag, "").split()
    return listed and (key not in VALUES or bool(VALUES[key].match(value)))
