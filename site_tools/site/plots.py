"""A plot as matplotlib draws it, made a picture of the site.

The default colours become those of the site, which follow light and dark; black is
ink, the grey of a grid a line; what is white is left out.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from site_tools.page.notebooks import plots

WORDS = {"zh": "还没有画出来", "en": "not drawn yet"}
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
SVG = "http://www.w3.org/2000/svg"


def themed(svg: str, name: str) -> str:
    """The SVG of a plot as a picture.

    Args:
        svg: As matplotlib wrote it, text as text.
        name: Of the plot, for the message.

    Raises:
        ValueError: naming the plot and a colour that the site does not have.

    Example:
        >>> print(themed('<svg><text x="1.23456">λ</text></svg>', "toy"))
        <svg class="plot"><text x="1.2" style="text-anchor: start">λ</text></svg>
    """
    root = ElementTree.fromstring(svg)
    _clean(root)
    used = {*_references(root)}
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if element.get("id") not in used:
            element.attrib.pop("id", None)
        for key in element.attrib.keys() & {*NUMBERS}:
            short = LONG.sub(_short, element.attrib[key])
            element.set(key, " ".join(short.split()))
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        if element.tag in ("path", "use", "text", "tspan"):
            element.set("style", _style(element, name))
    root.set("class", "plot")
    return ElementTree.tostring(root, encoding="unicode")


def pictures(
    text: str, page_id: str, drawn: Mapping[str, str], lang: str
) -> dict[str, str]:
    """The plots that a page shows, as pictures by their paths.

    Args:
        text: The page.
        page_id: As in ``notebooks/toy``.
        drawn: What matplotlib wrote, by name; a stand-in serves for what is missing.
        lang: The language of the page.
    """
    return {
        f"{page_id}/{name}.svg": themed(drawn[name], name)
        if name in drawn
        else stand_in(lang)
        for name, _ in plots(text, page_id)
    }


def stand_in(lang: str) -> str:
    """What stands in the place of a plot until it has been drawn.

    Example:
        >>> print(stand_in("en"))
        <svg viewBox="0 0 360 60"><text x="180" y="34">not drawn yet</text></svg>
    """
    words = f'<text x="180" y="34">{WORDS[lang]}</text>'
    return f'<svg viewBox="0 0 360 60">{words}</svg>'


def _clean(element: Element) -> None:
    element.text, element.tail = (_bare(t) for t in (element.text, element.tail))
    for child in list(element):
        unseen = child.get("style") == "fill: none"
        if unseen or child.tag.rpartition("}")[2] in LEFT_OUT:
            element.remove(child)
        else:
            _clean(child)


def _bare(text: str | None) -> str:
    return text if text and text.strip() else ""


def _references(root: Element) -> Iterator[str]:
    for element in root.iter():
        for value in element.attrib.values():
            yield from re.findall(r"#([\w-]+)", value)


def _short(number: re.Match[str]) -> str:
    """A tenth of a point is less than a pixel."""
    return f"{float(number[0]):.1f}".removesuffix(".0")


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
    return "; ".join(f"{key}: {value}" for key, value in named.items())


def _colour(found: str, name: str) -> str:
    if found not in COLOURS:
        raise ValueError(
            f"plot {name}: colours must be C0, C1, C3, C4, black, grey or the grid's, "
            f"with any alpha, to be seen in the dark; got {found}"
        )
    return COLOURS[found]
