"""Pictures: one SVG for both languages, checked, and put into the page as text."""

import posixpath
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from bs4 import Tag
from markupsafe import Markup

from site_tools.compile import links
from site_tools.compile.plots import leave_out
from site_tools.finish.article import Article, fragment, having, shown
from site_tools.finish.widgets import ROOMS
from site_tools.messages import Refusal
from site_tools.page.svg import element_faults

PICTURE_FILE = re.compile(r"^[^:]+\.svg$")


def put_in_pictures(article: Article, folder: Path) -> None:
    """Put the SVG files of a page in the place of its images.

    They lie in the folder of the built language, where the generator copied them.
    """
    images = article.content.find_all("img", src=PICTURE_FILE)
    for number, image in enumerate(images, 1):
        path = posixpath.normpath(article.url + str(image["src"]))
        file = folder / path
        if path.startswith("..") or not file.is_file():
            raise ValueError(f"{image['src']}: a picture must be a file under snippets")
        name, alt = f"snippets/{path}", str(image.get("alt", ""))
        prefix = f"picture-{number}"
        made = svg(file.read_text("utf-8"), name, alt, article, prefix)
        picture = shown(made.html, f" {alt} ", "")
        paragraph = image.parent
        if not (paragraph and _is_alone(image, paragraph)):
            image.replace_with(picture)
            continue
        figure = article.soup.new_tag("figure", attrs={"class": "picture"})
        figure.append(picture)
        if made.figures:
            figure.extend(fragment(_provenance(made.figures)))
        if widget := image.get("data-lab"):
            around = article.soup.new_tag("div", attrs={"data-lab": str(widget)})
            around.append(figure)
            figure = around
        paragraph.replace_with(figure)
    _make_room(article)


def _is_alone(image: Tag, paragraph: Tag) -> bool:
    around = paragraph.get_text().strip()
    return paragraph.name == "p" and not around and len(paragraph.find_all()) == 1


def _provenance(figures: dict[tuple[str, str], None]) -> str:
    item = Markup("<li>{} = <code>{}</code></li>")
    items = "".join(item.format(said, what) for what, said in figures)
    return f'<ul class="provenance" data-unsearched="1">{items}</ul>'


def _make_room(article: Article) -> None:
    """Reserve the room of each widget: in place of its picture, or below its line."""
    for place in having(article.content, "data-lab"):
        room = ROOMS.get(str(place["data-lab"]))
        if room is None:
            continue
        style = {"class": "room", "style": room.style}
        if place.name == "div":
            place.attrs |= style
        else:
            place.insert_after("\n", article.soup.new_tag("div", attrs=style))


class Picture(NamedTuple):
    html: str
    figures: dict[tuple[str, str], None]  # the expression of each, and what is shown


def svg(text: str, path: str, alt: str, article: Article, prefix: str) -> Picture:
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
        for fault in element_faults(element.tag, element.attrib):
            raise Refusal("in_file", path=path, fault=fault)
    lang = article.lang
    leave_out(root, lambda element: element.get("lang", lang) != lang)
    _prefix_ids(root, prefix)
    _describe(root, alt, prefix)
    for link in root.iter("a"):
        if link.get("href", "").startswith("/"):
            link.set("href", links.relative(link.attrib["href"], article.url))
    figures = {
        (tag.attrib["data-is"], tag.text or ""): None
        for tag in root.iter("tspan")
        if "data-is" in tag.attrib
    }
    return Picture(ElementTree.tostring(root, encoding="unicode"), figures)


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
