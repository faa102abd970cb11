"""What a picture may be made of: shapes and text that follow light and dark."""

import re
from collections.abc import Iterator, Mapping

from site_tools.say import Message

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


def faults(tag: str, attributes: Mapping[str, str]) -> Iterator[Message]:
    """What makes an element run code, load something or hide in the dark.

    Args:
        tag: Its name, without a namespace.
        attributes: Its attributes, the same.

    Example:
        >>> [fault.key for fault in faults("path", {"d": "M0 0", "fill": "red"})]
        ['picture_colour']
    """
    if not ELEMENTS.fullmatch(tag):
        yield Message("picture_element", {"tag": tag})
    elif tag == "a":
        if [*attributes] != ["href"] or not PAGE.fullmatch(attributes["href"]):
            yield Message("picture_link", {"attributes": dict(attributes)})
    else:
        if tag == "svg" and "viewBox" not in attributes:
            yield Message("picture_view_box", {})
        for name, value in attributes.items():
            if key := _fault(name, value):
                yield Message(key, {"attribute": f'{name}="{value}"', "tag": tag})


def _fault(name: str, value: str) -> str | None:
    if name.lower().startswith("on"):
        return "picture_handler"
    if name in HIDING:
        return "picture_hiding"
    targets = [value] if name == "href" else REFERENCE.findall(value)
    if not all(target.startswith("#") for target in targets):
        return "picture_reference"
    if "\\" in value:
        return "picture_backslash"
    if name == "style" and not STYLE.fullmatch(value):
        return "picture_style"
    colours = PAINT.findall(value if name == "style" else f"{name}:{value}")
    if not all(THEMED.fullmatch(colour.strip()) for colour in colours):
        return "picture_colour"
    return None
