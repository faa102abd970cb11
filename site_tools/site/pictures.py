"""Pictures: one SVG for both languages, checked, and put into the page as text."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html import unescape
from itertools import count
from xml.etree.ElementTree import Element

from site_tools.site import picture_rules

TAG = r'<img\b(?P<{0}>[^>]*\bsrc="[^":]+\.svg"[^>]*)>'
IMAGE = re.compile(rf"<p>\s*{TAG.format('alone')}\s*</p>|{TAG.format('inline')}")
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


def inline(html: str, read: Callable[[str], tuple[str, str]], lang: str) -> str:
    """Put each SVG in the place of the image that names it.

    Args:
        html: A rendered page.
        read: Gives the path and the text of the picture with this ``src``.
        lang: The language whose words are kept.

    Raises:
        ValueError: naming file and element, as :func:`svg` does.
    """
    numbers = count(1)

    def place(match: re.Match[str]) -> str:
        alone = match["alone"]
        values = dict(ATTRIBUTE.findall(alone or match["inline"]))
        path, text = read(values["src"])
        alt = unescape(values.get("alt", ""))
        picture = svg(text, path, alt, lang, f"picture-{next(numbers)}")
        return f'<figure class="picture">{picture}</figure>' if alone else picture

    return IMAGE.sub(place, html)


def svg(text: str, path: str, alt: str, lang: str, prefix: str) -> str:
    """One picture as an element of the page.

    Args:
        text: The SVG file.
        path: Its path, for the messages.
        alt: What it shows, in words.
        lang: The language whose words are kept.
        prefix: Makes the ids unique within the page.

    Raises:
        ValueError: naming file and element.

    Example:
        >>> text = '<svg viewBox="0 0 9 9"><text lang="zh">前</text></svg>'
        >>> print(svg(text, "a.svg", "A post", "en", "p"))
        <svg viewBox="0 0 9 9" role="img" aria-labelledby="p-title" \
fill="currentColor"><title id="p-title">A post</title></svg>
    """
    if not alt.strip():
        raise ValueError(f"{path}: a picture must be described, as in ![words](a.svg)")
    root = _parse(text, path)
    for element in root.iter():
        _plain(element)
    picture_rules.check(root, path)
    _speak(root, lang)
    _separate(root, prefix)
    _describe(root, alt, prefix)
    return ElementTree.tostring(root, encoding="unicode")


def _parse(text: str, path: str) -> Element:
    if "<!ENTITY" in text:
        raise ValueError(f"{path}: must hold no ENTITY; write the text where it stands")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"{path}: must be well-formed XML, got {error}") from None


def _plain(element: Element) -> None:
    """Drop namespaces, which HTML does not need."""
    element.tag = element.tag.rpartition("}")[2]
    element.attrib = {
        name.rpartition("}")[2]: value for name, value in element.attrib.items()
    }


def _speak(element: Element, lang: str) -> None:
    """Drop what is in the other language, but not the text that follows it."""
    kept: Element | None = None
    for child in list(element):
        if child.get("lang", lang) == lang:
            _speak(child, lang)
            kept = child
            continue
        if kept is None:
            element.text = (element.text or "") + (child.tail or "")
        else:
            kept.tail = (kept.tail or "") + (child.tail or "")
        element.remove(child)


def _separate(root: Element, prefix: str) -> None:
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "id" or (name == "href" and value.startswith("#")):
                value = re.sub(r"^(#?)", rf"\g<1>{prefix}-", value)
            element.set(name, value.replace("url(#", f"url(#{prefix}-"))


def _describe(root: Element, alt: str, prefix: str) -> None:
    for title in root.findall("title"):
        root.remove(title)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    # Whoever listens hears a picture as one thing, and would miss the links in it.
    root.set("role", "img" if root.find(".//a") is None else "group")
    root.set("aria-labelledby", f"{prefix}-title")
    root.attrib.setdefault("fill", "currentColor")
    title = Element("title", {"id": f"{prefix}-title"})
    title.text = alt
    root.insert(0, title)
