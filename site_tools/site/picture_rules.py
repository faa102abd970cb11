"""What a picture may be made of: shapes and text that follow light and dark."""

import re
from xml.etree.ElementTree import Element

REFERENCE = re.compile(r"url\(\s*['\"]?(.*?)['\"]?\s*\)")
ELEMENTS = re.compile(
    "svg|a|g|defs|symbol|use|title|desc|path|line|polyline|polygon|rect|circle|ellipse|"
    "text|tspan|textPath|marker|pattern|clipPath|mask|linearGradient|radialGradient|stop"
)
PAGE = re.compile(r"/(?:[a-z][a-z0-9_]*/)*(?:#[\w-]+)?")
HIDING = ("display", "visibility", "opacity", "hidden")
# Neither a place on the page nor a picture from elsewhere.
STYLE = re.compile(
    r"(?:(?:(?:fill|stroke|font|text)[a-z-]*|opacity|stop-color|stop-opacity)"
    r"\s*:[^;:\"'@]*;?\s*)*"
)
PAINT = re.compile(r"(?<![-\w])(?:fill|stroke|color|stop-color)\s*:\s*([^;]+)")
THEMED = re.compile(
    r"none|inherit|transparent|currentColor|context-(fill|stroke)|(var|url)\(.*\)"
)


def check(root: Element, path: str) -> None:
    """Refuse a picture that runs code, loads something or hides in the dark.

    Args:
        root: The ``svg`` element, its tags without namespaces.
        path: Its path, for the message.

    Raises:
        ValueError: naming file and element.
    """
    if "viewBox" not in root.attrib:
        raise ValueError(f"{path}: <{root.tag}> must have a viewBox")
    for element in root.iter():
        _check(element, path)


def _check(element: Element, path: str) -> None:
    if not ELEMENTS.fullmatch(element.tag):
        raise ValueError(
            f"{path}: <{element.tag}> must not be in a picture, which is made of "
            "shapes, text, links and presentation attributes"
        )
    if element.tag == "a":
        href = element.attrib.get("href", "")
        if [*element.attrib] != ["href"] or not PAGE.fullmatch(href):
            raise ValueError(
                f"{path}: <a> must have the address of a page and nothing else, "
                f'as in <a href="/gae/inputs/#why">, got {element.attrib}'
            )
        return
    for name, value in element.attrib.items():
        if fault := _fault(name, value):
            raise ValueError(f'{path}: {name}="{value}" on <{element.tag}> {fault}')


def _fault(name: str, value: str) -> str | None:
    if name.lower().startswith("on"):
        return "is an event handler, and a picture must not run code"
    if name in HIDING:
        return "hides what is checked; leave the element out"
    targets = [value] if name == "href" else REFERENCE.findall(value)
    if not all(target.startswith("#") for target in targets):
        return "must point within the picture"
    if "\\" in value:
        return "must not hold a backslash, which can spell anything"
    if name == "style" and not STYLE.fullmatch(value):
        return "must be made of fill, stroke, font, text and opacity alone"
    colours = PAINT.findall(value if name == "style" else f"{name}:{value}")
    if not all(THEMED.fullmatch(colour.strip()) for colour in colours):
        return "must be currentColor or a CSS variable, to be seen in the dark"
    return None
