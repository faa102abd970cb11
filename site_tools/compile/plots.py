"""Plots as matplotlib draws them, made pictures of the site.

The default colours become those of the site, which follow light and dark; black is ink,
the grey of a grid a line; what is white is left out. What is pale on paper would vanish
on a dark screen: a shade has a second depth for it.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from xml.etree.ElementTree import Element

from site_tools.messages import Refusal

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


def leave_out(element: Element, unwanted: Callable[[Element], bool]) -> None:
    """Drop what is unwanted below an element, but not the text that follows it."""
    last: Element | None = None
    for child in list(element):
        if not unwanted(child):
            leave_out(child, unwanted)
            last = child
            continue
        if last is None:
            element.text = (element.text or "") + (child.tail or "")
        else:
            last.tail = (last.tail or "") + (child.tail or "")
        element.remove(child)


def themed(svg: str, name: str) -> str:
    """The SVG of a plot as a picture."""
    root = ElementTree.fromstring(svg)
    leave_out(root, _is_unseen)
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
    """True for a white shape, or data on the file."""
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
