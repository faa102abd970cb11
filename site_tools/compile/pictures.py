"""Pictures: one SVG for both languages, checked, and put into the page as text.

A plot as matplotlib draws it is made a picture of the site first: the default colours
become those of the site, which follow light and dark; black is ink, the grey of a grid
a line; what is white is left out. What is pale on paper would vanish on a dark screen:
a shade has a second depth for it.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html import unescape
from itertools import count
from xml.etree.ElementTree import Element

from site_tools.finish import widgets
from site_tools.messages import Refusal
from site_tools.page import pictures as picture_rules

TAG = r'<img\b(?P<{0}>[^>]*\bsrc="[^":]+\.svg"[^>]*)>'
IMAGE = re.compile(rf"<p>\s*{TAG.format('alone')}\s*</p>|{TAG.format('inline')}")
WIDGET = re.compile(r'data-lab="[a-z]+"')  # what takes the picture's place
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')

COLOURS = {
    "#000000": "currentColor",
    "#808080": "var(--ink-soft)",
    "#b0b0b0": "var(--line)",
    "#ffffff": "none",
    "#1f77b4": "var(--accent)",
    "#ff7f0e": "var(--second)",
    "#d62728": "var(--wrong)",
    "#9467bd": "var(--third)",
}
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
LONG = re.compile(r"-?\d+\.\d{2,}")
NUMBERS = ("d", "x", "y", "transform", "points", "width", "height", "viewBox")
LEFT_OUT = ("metadata", "style", "title")


def inline(html: str, read: Callable[[str], tuple[str, str]], lang: str) -> str:
    numbers = count(1)

    def place(match: re.Match[str]) -> str:
        alone = match["alone"]
        values = dict(ATTRIBUTE.findall(alone or match["inline"]))
        path, text = read(values["src"])
        alt = unescape(values.get("alt", ""))
        picture = svg(text, path, alt, lang, f"picture-{next(numbers)}")
        figure = f'<figure class="picture">{picture}</figure>' if alone else picture
        widget = WIDGET.search(alone or "")
        return f"<div {widget[0]}>{figure}</div>" if widget else figure

    return widgets.make_room(IMAGE.sub(place, html))


def svg(text: str, path: str, alt: str, lang: str, prefix: str) -> str:
    """One picture as an element of the page, its ids made unique by a prefix."""
    if not alt.strip():
        raise Refusal("picture_undescribed", path=path)
    if "<!ENTITY" in text:
        raise Refusal("picture_entity", path=path)
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise Refusal("picture_malformed", path=path, error=error) from None
    for element in root.iter():
        names = {key.rpartition("}")[2]: text for key, text in element.attrib.items()}
        element.tag, element.attrib = element.tag.rpartition("}")[2], names
        for fault in picture_rules.element_faults(element.tag, element.attrib):
            raise Refusal("in_file", path=path, fault=fault)
    _leave_out(root, lambda element: element.get("lang", lang) != lang)
    _prefix_ids(root, prefix)
    _describe(root, alt, prefix)
    return ElementTree.tostring(root, encoding="unicode")


def _leave_out(element: Element, unwanted: Callable[[Element], bool]) -> None:
    """Drop what is unwanted below an element, but not the text that follows it."""
    last: Element | None = None
    for child in list(element):
        if not unwanted(child):
            _leave_out(child, unwanted)
            last = child
            continue
        if last is None:
            element.text = (element.text or "") + (child.tail or "")
        else:
            last.tail = (last.tail or "") + (child.tail or "")
        element.remove(child)


def _prefix_ids(root: Element, prefix: str) -> None:
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


def themed(svg: str, name: str) -> str:
    """The SVG of a plot as a picture."""
    root = ElementTree.fromstring(svg)
    _leave_out(root, _is_unseen)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        around = (text or "" for text in (element.text, element.tail))
        element.text, element.tail = (text if text.strip() else "" for text in around)
        for key in element.attrib.keys() & {*NUMBERS}:
            element.set(key, LONG.sub(_short, element.attrib[key]))
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        if element.tag in ("path", "use", "text", "tspan"):
            element.set("style", _style(element, name))
    root.set("class", "plot")
    return ElementTree.tostring(root, encoding="unicode")


def _short(number: re.Match[str]) -> str:
    """A tenth of a point is less than a pixel."""
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _is_unseen(element: Element) -> bool:
    """Whether it is a white shape, or data on the file."""
    white = element.get("style") == "fill: none"
    return white or element.tag.rpartition("}")[2] in LEFT_OUT


def _style(element: Element, name: str) -> str:
    parts = (part.split(":", 1) for part in element.get("style", "").split(";"))
    named = {pair[0].strip(): pair[1].strip() for pair in parts if len(pair) == 2}
    named.pop("font-family", None)
    # The style sheet of the site has other defaults than SVG; and what is drawn
    # through <use> has the colours of that.
    marker = element.tag == "path" and "id" in element.attrib
    if element.tag == "text":
        named.setdefault("text-anchor", "start")
    if element.tag in ("path", "use"):
        named.setdefault("fill", "inherit" if marker else "currentColor")
        named.setdefault("stroke", "inherit" if marker else "none")
    for key in ("fill", "stroke"):
        if key in named:
            named[key] = COLOUR.sub(lambda c: _colour(c[0], name), named[key])
    if 0 < (depth := float(named.get("fill-opacity", 0))) < 1:
        # Of a mixture with black the eye sees the first steps less.
        dark = min(1.15 * depth**0.5, 1)
        named["--on-paper"], named["--in-dark"] = f"{depth:g}", f"{dark:.2g}"
        named["fill-opacity"] = "var(--depth)"
    return "; ".join(f"{key}: {value}" for key, value in named.items())


def _colour(colour: str, name: str) -> str:
    if colour not in COLOURS:
        raise Refusal("plot_colour", name=name, colour=colour)
    return COLOURS[colour]
