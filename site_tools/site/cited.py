"""How others link to a page: the comment that they paste into a thread."""

import re
from collections.abc import Sequence
from pathlib import Path

from site_tools.page.blocks import Block
from site_tools.running import evidence
from site_tools.site.navigation import read_answer
from site_tools.site.templates import LINK, fill, words

BINDING = re.compile(r'(?<=`)\{ *data-is="[^"]*" *\}')


def cited(root: Path, path: str, text: str, lang: str) -> str:
    """What the answer box of a page says of citing it, as HTML."""
    if ".comment" not in text:
        return ""
    blocks, _ = evidence.blocks_of(root, path, text)
    verdict = read_answer(text, path, path).verdict
    return fill("page.cited", lang, comment(verdict, blocks, lang))


def comment(verdict: str, blocks: Sequence[Block], lang: str) -> str:
    """A verdict, the block that shows it and its output, as Markdown for a thread.

    The address comes last, and is added where the page is read.
    """
    block = next((block for block in blocks if "comment" in block.classes), None)
    if block is None or not verdict:
        return ""
    said = LINK.sub(r"\1", BINDING.sub("", verdict))
    stop = "" if said.endswith(tuple("?!？！")) else words(lang)["stop"]
    code = f"```python\n{block.text}\n```\n\n```text\n{block.expects}\n```"
    return f"{said}{stop}\n\n{code}\n\n"
