"""The elements and attributes that a picture may be made of.

Shapes and text that follow light and dark; nothing that runs, loads or hides. What is
neither an element nor a character is refused, so that no figure hides in it.
"""

import re
from collections.abc import Iterator, Mapping
from xml.parsers import expat

from bs4 import BeautifulSoup
from bs4.element import PreformattedString

from site_tools.messages import Message, Problem, problem
from site_tools.source.content import line_of

REFERENCE = re.compile(r"url\(\s*['\"]?(.*?)['\"]?\s*\)")
ELEMENTS = re.compile(
    "svg|a|g|defs|symbol|use|title|desc|path|line|polyline|polygon|rect|circle|ellipse|"
    "text|tspan|textPath|marker|pattern|clipPath|mask|linearGradient|radialGradient|stop",
    re.IGNORECASE,
)
PAGE_OR_SECTION = re.compile(r"/(?:[a-z][a-z0-9_]*/)*(?:#[\w-]+)?")
HIDING = ("display", "visibility", "opacity", "hidden")
# Neither a place on the page nor a picture from elsewhere.
STYLE = re.compile(
    r"(?:(?:(?:fill|stroke|font|text)[a-z-]*|opacity|stop-color|stop-opacity|"
    r"--on-paper|--in-dark)"  # the two depths of a shade
    r"\s*:[^;:\"'@]*;?\s*)*"
)
PAINT = re.compile(r"(?<![-\w])(?:fill|stroke|color|stop-color)\s*:\s*([^;]+)")
THEMED = re.compile(
    r"none|inherit|transparent|currentColor|context-(fill|stroke)|(var|url)\(.*\)"
)


def unreadable_picture(svg: str, tree: BeautifulSoup, path: str) -> Problem | None:
    """The problem that keeps a picture from being read: no element, or broken XML."""
    hidden = tree.find(string=lambda text: isinstance(text, PreformattedString))
    if isinstance(hidden, PreformattedString):  # a comment, a CDATA section, a DOCTYPE
        start = max(svg.find(f"{hidden.PREFIX}{hidden}"), 0)
        markup = hidden.PREFIX.strip()
        return problem(path, line_of(svg, start), "picture_markup", markup=markup)
    try:
        expat.ParserCreate().Parse(svg, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        return problem(path, error.lineno, "picture_xml", why=reason)
    return None


def element_faults(tag: str, attributes: Mapping[str, object]) -> Iterator[Message]:
    """Faults by which an element runs code, loads something or hides in the dark."""
    values = {name.lower(): str(value) for name, value in attributes.items()}
    if not ELEMENTS.fullmatch(tag):
        yield Message("picture_element", {"tag": tag})
    elif tag.lower() == "a":
        target = values.get("href", "")
        if [*values] != ["href"] or not PAGE_OR_SECTION.fullmatch(target):
            yield Message("picture_link", {"attributes": values})
    else:
        if tag == "svg" and "viewbox" not in values:
            yield Message("picture_view_box", {})
        for name, value in values.items():
            if key := _attribute_fault(name, value):
                yield Message(key, {"attribute": f'{name}="{value}"', "tag": tag})


def _attribute_fault(name: str, value: str) -> str | None:
    if name.startswith("on"):
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
