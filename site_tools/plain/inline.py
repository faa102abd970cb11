"""Text within a paragraph, from HTML to Markdown."""

import re
from collections.abc import Callable, Iterable

from bs4.element import Comment, NavigableString, PageElement, Tag

SPACES = re.compile(r"[ \t\n]+")
# What would be read as markup; _ within a name is not.
SPECIAL = re.compile(r"[`*$\\]|<(?=[A-Za-z/!])|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)")
FENCE = re.compile(r"`+")
MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*"}
UNREAD = {"script", "style", "button", "input", "svg", "nav"}
ASIDE = "detail"  # smaller, beside what it belongs to

# The address that a link of the page reads, or None where only its text stays.
Resolve = Callable[[str], str | None]


def inline(parts: Iterable[PageElement], resolve: Resolve) -> str:
    """One line of Markdown.

    Args:
        parts: Elements and text, in order.
        resolve: Where links lead.

    Example:
        >>> from bs4 import BeautifulSoup
        >>> html = 'The <em>sum</em> is <code data-is="x">0.5</code>: <code>a_t</code>'
        >>> inline(BeautifulSoup(html, "html.parser").contents, lambda link: link)
        'The *sum* is 0.5: `a_t`'
    """
    return SPACES.sub(" ", "".join(_part(part, resolve) for part in parts)).strip()


def code(text: str) -> str:
    """A code span, fenced by more backticks than it holds.

    Example:
        >>> code("a`b")
        '`` a`b ``'
    """
    text = SPACES.sub(" ", text)
    longest = max(map(len, FENCE.findall(text)), default=0)
    fence, gap = "`" * (longest + 1), " " if "`" in text else ""
    return f"{fence}{gap}{text}{gap}{fence}"


def _part(part: PageElement, resolve: Resolve) -> str:
    if isinstance(part, NavigableString):
        return "" if isinstance(part, Comment) else SPECIAL.sub(r"\\\g<0>", part)
    if not isinstance(part, Tag) or part.name in UNREAD:
        return ""
    classes = part.get_attribute_list("class")
    if part.name == "br":
        return " "
    if part.name == "img":
        return f"[{part.get('alt') or ''}]"
    if "arithmatex" in classes:
        return f"${part.get_text().strip()[2:-2].strip()}$"
    if part.name == "code":
        return part.get_text() if part.has_attr("data-is") else code(part.get_text())
    inside = inline(part.contents, resolve)
    if ASIDE in classes:
        return f"({inside})" if inside else ""
    if part.name == "a":
        return _link(part, inside, resolve)
    return _marked(part, inside)


def _link(part: Tag, inside: str, resolve: Resolve) -> str:
    if "headerlink" in part.get_attribute_list("class"):
        return ""
    target = resolve(str(part.get("href", ""))) if inside else None
    return f"[{inside}]({target})" if target is not None else inside


def _marked(part: Tag, inside: str) -> str:
    """The blanks at the ends of an element stay, outside its marks."""
    text, mark = part.get_text(), MARKS.get(part.name, "")
    if not inside:
        return " " if text else ""
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    return f"{before}{mark}{inside}{mark}{after}"
