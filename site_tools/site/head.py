"""What the head of a page says of it to those who do not open it: in plain text."""

import re
from html.parser import HTMLParser
from xml.etree.ElementTree import TreeBuilder

from site_tools.site.mathml import to_text

LOCALES = {"zh": "zh_CN", "en": "en_US"}
# What stands beside the text of a page; a paragraph in it does not say what it is on.
BESIDE = {"aside", "blockquote", "details", "figure", "nav", "table"}
SPACES = re.compile(r"\s+")
WIDE = re.compile(r"(?<=[，。；：！？]) ")  # which have their blank within
NOTICES = {"languages", "moved", "from-code", "download"}
ANSWER, END = '<section class="answer">', "</p>"
VOID = {"br", "hr", "img", "input", "wbr"}


def description(html: str) -> str:
    """The first paragraph of the answer, or of the page, without any markup.

    Args:
        html: A rendered page, its formulas typeset.

    Example:
        >>> description("<h2>Why</h2><p>It <em>is</em> <code>t</code>.</p><p>So.</p>")
        'It is t.'
    """
    reader = _Reader()
    # To the first paragraph that counts and no further: most of a page comes after it.
    for piece in html[max(html.find(ANSWER), 0) :].split(END):
        reader.feed(piece + END)
        if text := SPACES.sub(" ", reader.found).strip():
            return WIDE.sub("", text)
    return ""


def properties(
    *, title: str, about: str, lang: str, site: str, home: bool, url: str | None
) -> dict[str, str]:
    """The properties of a share card; without an address none is claimed.

    Args:
        title: The question, or the title of the page.
        about: Its description; may be empty.
        lang: Its language.
        site: The name of the site.
        home: Whether it is the home page.
        url: Its absolute address, if the site has one.

    Example:
        >>> card = properties(
        ...     title="Q?", about="", lang="en", site="S", home=True, url=None
        ... )
        >>> card["og:type"], "og:description" in card, "og:url" in card
        ('website', False, False)
    """
    card = {
        "og:title": title,
        "og:description": about,
        "og:type": "website" if home else "article",
        "og:locale": LOCALES[lang],
        "og:site_name": site,
        "og:url": url or "",
        "twitter:card": "summary",
    }
    return {name: content for name, content in card.items() if content}


class _Reader(HTMLParser):
    """Keeps the text of the latest paragraph that says what the page is on."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = ""
        self._open: list[tuple[str, str]] = []
        self._text: str | None = None
        self._math: TreeBuilder | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        if tag == "math":
            self._math = TreeBuilder()
        if self._math:
            self._math.start(tag, {})
            return
        if tag in VOID:
            return
        beside = self._within(BESIDE | {"hidden", "admonition"})
        notice = NOTICES & {*values.get("class", "").split()}
        if tag == "p" and not beside and not notice:
            self._text = ""
        hidden = values.get("aria-hidden") == "true" or "hidden" in values
        self._open.append((tag, "hidden" if hidden else values.get("class", "")))

    def handle_endtag(self, tag: str) -> None:
        if self._math:
            self._math.end(tag)
            if tag == "math":
                self._say(to_text(self._math.close()).strip())
                self._math = None
            return
        if tag == "p" and self._text is not None:
            self.found, self._text = self._text, None
        while self._open and tag in [name for name, _ in self._open]:
            if self._open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        if self._math:
            self._math.data(data)
        elif not self._within({"hidden"}):
            self._say(data)

    def _say(self, text: str) -> None:
        if self._text is not None:
            self._text += text

    def _within(self, names: set[str]) -> bool:
        return any(tag in names or names & {*kind.split()} for tag, kind in self._open)
