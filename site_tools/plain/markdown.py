"""A rendered page as Markdown, block by block."""

import re
from collections.abc import Callable
from itertools import groupby

from bs4 import BeautifulSoup
from bs4.element import PageElement, Tag

from site_tools.plain.boxes import code_box, said, table
from site_tools.plain.inline import Resolve, inline

BLOCKS = re.compile(
    "address|article|aside|blockquote|details|div|dl|figure|form|h[1-6]|hr|li|nav|ol|p|"
    "pre|section|summary|table|ul"
)
HEADING = re.compile(r"h([1-6])")
# The colours of code are most of a page's elements, and of the time to read them.
BOX = re.compile(r"<pre>.*?</pre>", re.DOTALL)
COLOUR = re.compile(r"</?span[^>]*>")
PICTURE = {"zh": "图：", "en": "Picture: "}


class Converter:
    """Turns rendered pages of one language into Markdown.

    Args:
        lang: The language of the few words that it adds.
        resolve: Where the links of the page lead.
    """

    def __init__(self, lang: str, resolve: Resolve) -> None:
        self.lang, self.resolve = lang, resolve
        self._kinds: dict[str, Callable[[Tag], list[str]]] = {
            "p": self._paragraph,
            "ul": self._list,
            "ol": self._list,
            "dl": self._terms,
            "table": self._table,
            "pre": lambda tag: [code_box(tag)],
            "details": self._folded,
            "blockquote": self._quoted,
        }

    def convert(self, html: str) -> str:
        """The page, its blocks apart by an empty line.

        Example:
            >>> html = "<h2>Yes</h2><ul><li>a</li><li><p>b</p><p>c</p></li></ul>"
            >>> print(Converter("en", lambda link: link).convert(html))
            ## Yes
            <BLANKLINE>
            - a
            - b
            <BLANKLINE>
              c
        """
        plain = BOX.sub(lambda box: COLOUR.sub("", box[0]), html)
        return "\n\n".join(self.blocks(BeautifulSoup(plain, "html.parser")))

    def blocks(self, tag: Tag) -> list[str]:
        """The blocks in an element; text between them is a paragraph of its own."""
        found: list[str] = []
        for is_block, parts in groupby(tag.contents, _is_block):
            if is_block:
                found += [text for part in parts for text in self._block(part)]
            else:
                found.append(inline(parts, self.resolve))
        return [text for text in found if text.strip()]

    def _block(self, part: PageElement) -> list[str]:
        assert isinstance(part, Tag)  # _is_block
        classes = part.get_attribute_list("class")
        if level := HEADING.fullmatch(part.name):
            return [f"{'#' * int(level[1])} {self._inline(part)}"]
        if "admonition" in classes:
            return self._quoted(part)
        if "tabbed-set" in classes:
            return self._tabs(part)
        if "arithmatex" in classes:
            return [f"$$\n{part.get_text().strip()[2:-2].strip()}\n$$"]
        inside = self._kinds.get(part.name, self.blocks)(part)
        return [*said(part, self.lang), *inside]

    def _inline(self, tag: Tag) -> str:
        return inline(tag.contents, self.resolve)

    def _paragraph(self, tag: Tag) -> list[str]:
        if len(tag) == 1 and (picture := tag.img):
            return [f"{PICTURE[self.lang]}{picture.get('alt')}"]
        text = self._inline(tag)
        titles = "admonition-title" in tag.get_attribute_list("class")
        return [f"**{text}**" if titles else text]

    def _list(self, tag: Tag) -> list[str]:
        numbered, items = tag.name == "ol", []
        for number, item in enumerate(tag.find_all("li", recursive=False), 1):
            mark = f"{number}. " if numbered else "- "
            text = "\n\n".join(self.blocks(item))
            items.append(mark + _indented(text, " " * len(mark)).lstrip(" "))
        return ["\n".join(items)]

    def _terms(self, tag: Tag) -> list[str]:
        lines, terms = [], list[str]()
        for part in tag.find_all(["dt", "dd"]):
            if part.name == "dt":
                terms.append(self._inline(part))
                continue
            said = "\n\n".join(self.blocks(part))
            term = f"**{', '.join(terms)}**: " if terms else ""
            lines.append(_indented(f"{term}{said}", "  ").lstrip(" "))
            terms = []
        return ["\n".join(f"- {line}" for line in lines)]

    def _table(self, tag: Tag) -> list[str]:
        return [table(tag, self._inline)]

    def _folded(self, tag: Tag) -> list[str]:
        title, *rest = self.blocks(tag)
        return [title if title.startswith("#") else f"**{title}**", *rest]

    def _quoted(self, tag: Tag) -> list[str]:
        text = "\n\n".join(self.blocks(tag))
        return ["\n".join(f"> {line}".rstrip() for line in text.split("\n"))]

    def _tabs(self, tag: Tag) -> list[str]:
        labels = [f"**{self._inline(label)}**" for label in tag.find_all("label")]
        inside = [self.blocks(block) for block in tag.find_all(class_="tabbed-block")]
        pairs = zip(labels, inside, strict=True)
        return [text for label, blocks in pairs for text in (label, *blocks)]


def _is_block(part: PageElement) -> bool:
    return isinstance(part, Tag) and bool(BLOCKS.fullmatch(part.name))


def _indented(text: str, by: str) -> str:
    return "\n".join(f"{by}{line}" if line else "" for line in text.split("\n"))
