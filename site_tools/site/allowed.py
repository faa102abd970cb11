"""What the HTML of a page may be made of: anything that is not listed is refused.

Markdown knows more ways to HTML than a scan of the source; this reads what came out.
"""

import re
from html.parser import HTMLParser

ATTRIBUTES = {
    "a": ("href", "hreflang"),
    "details": ("open", "name"),
    "img": ("src", "alt"),
    "input": ("type", "name", "checked"),
    "label": ("for",),
    "ol": ("start",),
    "td": ("colspan", "rowspan"),
    "th": ("colspan", "rowspan", "scope"),
}
TAGS = re.compile(
    "a|abbr|aside|blockquote|br|code|dd|del|details|div|dl|dt|em|figcaption|figure|"
    "h[1-6]|hr|img|input|ins|kbd|label|li|mark|nav|ol|p|pre|s|samp|section|small|span|"
    "strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|ul|var"
)
ANYWHERE = re.compile(r"class|id|lang|title|role|aria-[a-z]+")
DATA = re.compile(r"data-(download|is|lab|language|reason|search-exclude|tabs)")
# The theme's script finds its own settings and parts by these.
THEME = {"id": re.compile(r"__(?!tabbed_)"), "class": re.compile(r"(^|\s)md-")}
ALIGNED = re.compile(r"text-align: \w+;?")
LINK = re.compile(r"https?:|#|[^:]*\Z")
PICTURE = re.compile(r"(?!//)[^:]*\.svg")
CONTROLS = ("radio", "checkbox")
# Most tags of a page are those of its coloured code, which may stand anywhere.
COLOURED = re.compile(r'<span(?: class="\w{1,3}")?>|</span>')


def faults(html: str) -> list[str]:
    """Each tag and attribute that a page may not have, as it would be written."""
    reader = _Reader()
    reader.feed(COLOURED.sub("", html))
    reader.close()
    return reader.found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not TAGS.fullmatch(tag):
            self.found.append(f"<{tag}>")
            return
        wrong = ((k, v or "") for k, v in attrs if not _fits(tag, k, v or ""))
        self.found += [f'{key}="{value}" on <{tag}>' for key, value in wrong]

    def handle_comment(self, data: str) -> None:
        # Where one ends, Python and browsers do not agree.
        self.found.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.found.append(f"<!{decl}>")

    def unknown_decl(self, data: str) -> None:
        self.found.append(f"<![{data}")

    def handle_pi(self, data: str) -> None:
        self.found.append(f"<?{data}>")


def _fits(tag: str, key: str, value: str) -> bool:
    if key == "style":
        return tag in ("td", "th") and bool(ALIGNED.fullmatch(value))
    if key in THEME and THEME[key].search(value):
        return False
    if ANYWHERE.fullmatch(key) or DATA.fullmatch(key):
        return True
    if key not in ATTRIBUTES.get(tag, ()):
        return False
    forms = {"href": LINK, "src": PICTURE}
    if key == "type":
        return value in CONTROLS
    return key not in forms or bool(forms[key].match(value))
