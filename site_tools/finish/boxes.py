"""Code boxes: what is copied from each, and what installs the package."""

from collections.abc import Iterable, Iterator, Sequence

from bs4 import Tag

from site_tools.compile.templates import fill
from site_tools.finish.article import Article, fragment, tags
from site_tools.messages import Refusal
from site_tools.source.blocks import Block, Kind, copies


def complete_boxes(article: Article, blocks: Sequence[Block], wheel: str) -> None:
    """Give the code boxes of a page what is copied from them.

    Where another text is copied than the one shown, the theme's button finds it in
    ``data-copy``; one that goes on from the one before has only the rest, in
    ``data-more``, and assets/site.js puts the two together. A box whose code needs
    packages gets the button that copies it as a script for uv. The first one that needs
    ``ppo_ref`` gets the line that installs it from the site itself.
    """
    boxes = [copy for copy in copies(blocks) if copy.block.has_box]
    pres = tags(article.content, "pre")
    drawn = [pre.parent for pre in pres if pre.parent and _is_box(pre.parent)]
    if not len(boxes) == len(drawn) == len(pres):
        raise Refusal("boxes_differ", fences=len(boxes), boxes=len(pres))
    texts = [copy.text if copy.text != copy.block.text else "" for copy in boxes]
    installs = False
    rows = zip(drawn, boxes, copied_texts(texts), strict=True)
    for box, copy, (name, text) in rows:
        if copy.block.kind is Kind.OUTPUT:
            box["class"] = "language-output no-copy highlight"
        if text:
            box[name] = text
        if not copy.block.runs:
            continue
        if copy.needs:
            button = fill("page.as_script", article.lang, copy.needs)
            tags(box, "code")[0].insert_before(*fragment(button))
        if not installs and "ppo-ref" in copy.needs:
            installs = True
            above = fragment(install(blocks, wheel, article.lang))
            for node in reversed(above):
                box.insert(0, node)


def _is_box(tag: Tag) -> bool:
    return tag.name == "div" and tag.has_attr("class")


def install(blocks: Sequence[Block], wheel: str, lang: str) -> str:
    """The line that installs what a page imports, as HTML."""
    plots = any(block.runs and "matplotlib" in block.imported for block in blocks)
    name = wheel.rpartition("/")[2] if wheel.startswith("..") else wheel
    return fill("page.install", lang, wheel, name, "matplotlib " if plots else "")


def copied_texts(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The attribute that holds each text, and what it holds; nothing for no text."""
    before = ""
    for text in texts:
        if before and text.startswith(before):
            yield "data-more", text[len(before) :]
        else:
            yield "data-copy", text
        before = text or before
