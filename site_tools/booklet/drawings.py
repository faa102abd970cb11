"""Pictures of the book: each an SVG_NAMESPACE file that needs no style sheet beside it.

On the site a picture is drawn by rules of site.css. A file takes these rules along,
with the colours of the day and the site's fonts in the place of variables, which
readers of books need not know.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from xml.etree.ElementTree import Element

from site_tools.compile.plots import leave_out
from site_tools.messages import Refusal

SITE_STYLES = "docs/theme/assets/site.css"
SVG_NAMESPACE = "http://www.w3.org/2000/svg"
PICTURE_RULE = re.compile(r"^\.picture (?P<where>svg[^{]*?) (?P<what>\{[^}]*\})$", re.M)
STYLE_VARIABLE = re.compile(r"^ *(--[\w-]+): (?:var\(--day, )?([^;)]+)", re.MULTILINE)
VARIABLE_USED = re.compile(r"var\((--[\w-]+)\)")
MARGIN = 12  # what reaches over the edge is seen on the site, and cut in a file
ONE_OF = re.compile(r":is\((.*)\)")


def picture_file(file: Path, lang: str, styles: Path) -> bytes:
    """A picture in one language, as a file of its own."""
    rules, variables = picture_rules(styles.read_text("utf-8"))
    text = file.read_text("utf-8")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise Refusal("picture_malformed", path=file.name, error=error) from None
    leave_out(root, lambda element: element.get("lang", lang) != lang)
    for element in root.iter():
        _make_plain(element)
        if f"#{element.get('id')}" not in text:
            element.attrib.pop("id", None)  # it may be there twice, for a test
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    _widen(root, file.name)
    root.attrib.setdefault("fill", "currentColor")
    root.attrib |= {"xmlns": SVG_NAMESPACE, "xml:lang": lang}
    style = Element("style")
    style.text = rules
    root.insert(0, style)
    made = ElementTree.tostring(root, encoding="unicode")
    return VARIABLE_USED.sub(lambda used: variables[used[1]], made).encode()


def _widen(root: Element, name: str) -> None:
    """Leave room around a picture for what reaches over its edge."""
    box = root.get("viewBox", "")
    try:
        left, top, width, height = map(float, box.split())
    except ValueError:
        raise Refusal("picture_box", path=name, box=box) from None
    left, top = left - MARGIN, top - MARGIN
    width, height = width + 2 * MARGIN, height + 2 * MARGIN
    root.set("viewBox", f"{left:g} {top:g} {width:g} {height:g}")


def _make_plain(element: Element) -> None:
    """Take away namespaces, links, and what only scripts and checks read."""
    element.tag = element.tag.rpartition("}")[2]
    if element.tag == "a":  # an image leads nowhere
        element.tag, element.attrib = "g", {}
    for name, value in [*element.attrib.items()]:
        del element.attrib[name]
        inner = name.rpartition("}")[2]
        if inner != "lang" and not inner.startswith("data-"):
            element.set(inner, value)


@lru_cache(maxsize=1)
def picture_rules(css: str) -> tuple[str, Mapping[str, str]]:
    """The rules of a style sheet on what is in a picture; and its variables by day."""
    rules = []
    for rule in PICTURE_RULE.finditer(css):
        where = rule["where"]
        # Old readers do not know :is().
        if several := ONE_OF.search(where):
            each = several[1].split(", ")
            where = ", ".join(where.replace(several[0], name) for name in each)
        if "--" not in where:
            rules.append(f"{where} {rule['what']}")
    variables = {
        name: value.replace('"', "'") for name, value in STYLE_VARIABLE.findall(css)
    }
    return "\n".join(rules), variables
