"""What stands in a box of its own: code and tables, from HTML to Markdown."""

import re
from collections.abc import Callable

from bs4.element import Tag

LANGUAGE = re.compile(r"language-(\S+)")
FENCE = re.compile(r"^ *(`{3,})", re.MULTILINE)
NAMES = {"output": "text"}
REASON = {"zh": "没有运行过：", "en": "Never run: "}
# What a reader of the site sees at the box, by its class.
KINDS = {
    "cont": {"zh": "（接着上面的代码）", "en": "(continues the code above)"},
    "raises": {"zh": "（应当像下面这样报错）", "en": "(must fail as shown)"},
}


def said(box: Tag, lang: str) -> list[str]:
    """What stands above a box of code, as a line: how it was run, or why not.

    Args:
        box: The element around it.
        lang: The language of the words.
    """
    classes = box.get_attribute_list("class")
    words = [KINDS[kind][lang] for kind in KINDS if kind in classes]
    if reason := box.get("data-reason"):
        words.append(f"{REASON[lang]}{reason}")
    return [" ".join(words)] if words else []


def code_box(tag: Tag) -> str:
    """A ``pre`` as a fence, which is longer than any in it."""
    box = tag.find_parent("div", class_="highlight")
    classes = " ".join(box.get_attribute_list("class")) if box else ""
    found = LANGUAGE.search(classes)
    name = NAMES.get(found[1], found[1]) if found else "text"
    text = tag.get_text().removesuffix("\n")
    fence = max([*FENCE.findall(text), "``"], key=len) + "`"
    return f"{fence}{name}\n{text}\n{fence}"


def table(tag: Tag, inline: Callable[[Tag], str]) -> str:
    """A table, its first row the head.

    Args:
        tag: The table.
        inline: Gives a cell as one line of Markdown.
    """
    rows = [
        [inline(cell).replace("|", r"\|") for cell in row.find_all(["th", "td"])]
        for row in tag.find_all("tr")
    ]
    head, *body = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])
