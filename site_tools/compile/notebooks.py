"""A page as a notebook that readers take away, and that notebook as a page of the site.

mkdocs-jupyter renders the notebook; it brings the styles and scripts of JupyterLab,
over half a megabyte, some of them from elsewhere, and leaves formulas as they are
typed. Here is what the site has of its own.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from site_tools.compile.templates import words
from site_tools.page.pictures import plots
from site_tools.source.blocks import Block, Kind
from site_tools.source.files import FRONT_MATTER

HEADING_WITH_ID = re.compile(r"^(#+ .*?)\s*\{\s*#[\w-]+\s*\}\s*$", re.MULTILINE)
INNER = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?://)[^)\s]*\)")
FOLDED = re.compile(r'^\?\?\?\+? (?:(question) "(.*)"|.*)$', re.MULTILINE)
INDENT = re.compile(r"^ {4}", re.MULTILINE)
BOUND = re.compile(r"`([^`\n]+)`\{[^}\n]*\}")


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

    ``drawn`` has the plots of each running block by name, ``wheel`` the address of
    ``ppo_ref``'s wheel, if the site has one.
    """
    w = words(lang)
    lines = FRONT_MATTER.sub(lambda m: "\n" * m[0].count("\n"), text).split("\n")
    needs = w["notebook_needs"].format(wheel).rstrip()
    if not wheel:
        needs += f"\n\n{w['notebook_package']}"
    cells = [_prose(f"# {title}\n\n{needs}")]
    alts = {name: picture["alt"] for name, picture in plots(text, page_id)}
    at, shown = 0, iter(drawn)
    for block in blocks:
        first = block.fence.line - 1
        cells.append(_prose(_notebook_text("\n".join(lines[at:first]), page_id)))
        at = first + len(block.fence.lines) + 2
        if block.runs:
            cells.append(_code_cell(block, next(shown, {}), alts))
        elif block.kind is not Kind.OUTPUT:
            cells.append(_prose(f"```\n{block.text}\n```"))
    cells.append(_prose(_notebook_text("\n".join(lines[at:]), page_id)))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    written = (cell for cell in cells if cell["source"])
    made = {
        "cells": [cell | {"id": f"cell-{n}"} for n, cell in enumerate(written)],
        "metadata": {
            "kernelspec": kernel,
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _notebook_text(text: str, page_id: str) -> str:
    """Prose without what only the site understands; a link into it keeps its words."""
    for _, picture in reversed([*plots(text, page_id)]):
        text = text[: picture.start()] + text[picture.end() :]
    text = INDENT.sub("", text)
    # A question is asked before it is answered; other titles say what to open.
    bold = FOLDED.sub(lambda fold: f"**{fold[2]}**" if fold[2] else "", text)
    text = INNER.sub(r"\1", HEADING_WITH_ID.sub(r"\1", bold))
    return BOUND.sub(r"\1", text).strip()


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code_cell(
    block: Block, drawn: Mapping[str, str], alts: Mapping[str, str]
) -> dict[str, Any]:
    outputs: list[dict[str, Any]] = [
        {
            "output_type": "display_data",
            "metadata": {"image/svg+xml": {"alt": alts.get(name, name)}},
            "data": {"image/svg+xml": svg, "text/plain": f"<plot {name}>"},
        }
        for name, svg in drawn.items()
    ]
    if block.expects:
        printed = f"{block.expects}\n"
        stream = {"output_type": "stream", "name": "stdout", "text": printed}
        outputs.insert(0, stream)
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None}
    return cell | {"metadata": {}, "source": block.text, "outputs": outputs}
