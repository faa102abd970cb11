"""A notebook as readers see it and as they take it away."""

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from site_tools.page.blocks import Block, Kind
from site_tools.page.notebooks import plots
from site_tools.page.prose import FRONT_MATTER

WORDS = {
    "zh": ("下载 notebook（.ipynb，输出和图都在里面）", "看 Jupyter 里的样子"),
    "en": (
        "Download the notebook (.ipynb, with output and plots)",
        "See it in Jupyter",
    ),
}
NEEDS = {
    "zh": "来自「PPO 实证问答」。运行前先装：\n\n    pip install matplotlib {}",
    "en": "From “PPO, Verified”. Install first:\n\n    pip install matplotlib {}",
}
ELSEWHERE = {
    "zh": "\n\n`ppo_ref` 按这份 notebook 所在网页上的那一行安装。",
    "en": "\n\nand `ppo_ref` by the line on the page that this notebook comes from.",
}
NEXT = re.compile(r"^(#+ .*?)\s*\{\s*#[\w-]+\s*\}\s*$", re.MULTILINE)
SECTION = re.compile(r"^## .*\{\s*#([\w-]+)\s*\}\s*$", re.MULTILINE)
INNER = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?://)[^)\s]*\)")
FOLDED = re.compile(r'^\?\?\?\+? (?P<kind>\w+)(?: "(?P<title>.*)")?$', re.MULTILINE)
INDENT = re.compile(r"^ {4}", re.MULTILINE)
BOUND = re.compile(r"`([^`\n]+)`\{[^}\n]*\}")


def offer(html: str, href: str, lang: str) -> str:
    """The page with the links to its notebook at the top.

    Example:
        >>> offer("<p>It.</p>", "toy.ipynb", "en")[44:78]
        '<a href="jupyter/toy.ipynb" downlo'
    """
    told, shown = WORDS[lang]
    link = f'<a href="jupyter/{escape(href)}" download>{told}</a>'
    link += f' · <a href="jupyter/">{shown}</a>'
    return f'<p class="download" data-search-exclude="1">{link}</p>\n{html}'


def notebook(
    text: str,
    title: str,
    blocks: Sequence[Block],
    drawn: Sequence[Mapping[str, str]],
    lang: str,
    wheel: str,
    page_id: str,
) -> str:
    """A page as a Jupyter notebook, its outputs as they were when it was verified.

    Args:
        text: The page.
        title: Its title.
        blocks: Its blocks, in order.
        drawn: Per running block its plots by name.
        lang: Its language.
        wheel: The address of ``ppo_ref``'s wheel, if the site has one.
        page_id: As in ``notebooks/toy``.
    """
    lines = FRONT_MATTER.sub(lambda m: "\n" * m[0].count("\n"), text).split("\n")
    needs = NEEDS[lang].format(wheel).rstrip() + ("" if wheel else ELSEWHERE[lang])
    cells = [_prose(f"# {title}\n\n{needs}")]
    said = {name: picture["alt"] for name, picture in plots(text, page_id)}
    at, running = 0, 0
    for block in blocks:
        first = block.fence.line - 1
        cells += _told("\n".join(lines[at:first]), page_id)
        at = first + len(block.fence.lines) + 2
        if block.runs:
            shown = drawn[running] if running < len(drawn) else {}
            cells.append(_code(block, shown, said))
            running += 1
        elif block.kind is not Kind.OUTPUT:
            cells.append(_prose(f"```\n{block.text}\n```"))
    cells += _told("\n".join(lines[at:]), page_id)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = {
        "cells": cells,
        "metadata": {
            "kernelspec": kernel,
            "language_info": {"name": "python"},
            "sections": SECTION.findall(text),  # the ids that both languages share
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _told(text: str, page_id: str) -> list[dict[str, Any]]:
    """Prose without what only the site understands; a link into it keeps its words."""
    for _, picture in reversed([*plots(text, page_id)]):
        text = text[: picture.start()] + text[picture.end() :]
    text = FOLDED.sub(_unfolded, INDENT.sub("", text))
    text = INNER.sub(r"\1", NEXT.sub(r"\1", text))
    text = BOUND.sub(r"\1", text).strip()
    return [_prose(text)] if text else []


def _unfolded(fold: re.Match[str]) -> str:
    """A question is asked before it is answered; other titles say what to open."""
    return f"**{fold['title']}**" if fold["kind"] == "question" else ""


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(
    block: Block, drawn: Mapping[str, str], said: Mapping[str, str]
) -> dict[str, Any]:
    outputs: list[dict[str, Any]] = []
    if block.expects:
        printed = f"{block.expects}\n"
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed})
    outputs += [
        {
            "output_type": "display_data",
            "metadata": {"image/svg+xml": {"alt": said.get(name, name)}},
            "data": {"image/svg+xml": svg, "text/plain": f"<plot {name}>"},
        }
        for name, svg in drawn.items()
    ]
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "source": block.text,
        "outputs": outputs,
    }
