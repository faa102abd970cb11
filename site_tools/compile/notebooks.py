"""A page as a notebook that readers take away, and that notebook as a page of the site.

mkdocs-jupyter renders the notebook; it brings the styles and scripts of JupyterLab,
over half a megabyte, some of them from elsewhere, and leaves formulas as they are
typed. Here is what the site has of its own.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from site_tools.compile import links
from site_tools.compile.plain import Wishes, pieces
from site_tools.compile.templates import words
from site_tools.page.pictures import plots
from site_tools.source.blocks import Kind

INSTALL = "%pip install -q {}"
RAISES = "raises-exception"  # with this mark a notebook goes on after an exception


def notebook(
    text: str,
    title: str,
    drawn: Sequence[Mapping[str, str]],
    lang: str,
    address: str,
    wheel: str,
    page_id: str,
) -> str:
    """A compiled page as a Jupyter notebook, its outputs as when it was verified.

    ``drawn`` has the plots of each running block by name. ``address`` is that of the
    site in this language, ``wheel`` that of ``ppo_ref``'s wheel; either may be "".
    """
    w = words(lang)
    packages = " ".join(filter(None, ("matplotlib" if drawn else "", wheel)))
    needs = [f"# {title}", w["notebook_from"].format(address).rstrip()]
    if not wheel and "ppo_ref" in text:
        needs.append(w["notebook_package"])
    cells = [_prose("\n\n".join(needs))]
    if packages:
        cells.append(_code_cell(INSTALL.format(packages), {}, {}))
    shown = {match["file"]: name for name, match in plots(text, page_id)}
    alts = {name: match["alt"] for name, match in plots(text, page_id)}
    leads_to = partial(_led_on, page_id=page_id, address=address)
    left = iter(drawn)
    for piece in pieces(text, Wishes(lang, leads_to, shown.__contains__)):
        if isinstance(piece, str):
            cells.append(_prose(piece))
        elif piece.kind is Kind.RUN:
            cell = _code_cell(piece.text, next(left, {}), alts)
            if piece.fails:
                cell["metadata"] = {"tags": [RAISES]}
            cells.append(cell)
        elif piece.kind is Kind.OUTPUT:
            _print(cells[-1], piece.text)
        else:
            cells.append(_prose(piece.markdown))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = {
        "cells": [cell | {"id": f"cell-{n}"} for n, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": kernel,
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _led_on(target: str, page_id: str, address: str) -> str:
    """Where a link leads from a file that lies anywhere: nowhere without an address."""
    inside = links.within(target, page_id)
    if inside is None:
        return target
    return address and address + inside


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code_cell(
    source: str, drawn: Mapping[str, str], alts: Mapping[str, str]
) -> dict[str, Any]:
    outputs = [
        {
            "output_type": "display_data",
            "metadata": {"image/svg+xml": {"alt": alts.get(name, name)}},
            "data": {"image/svg+xml": svg, "text/plain": f"<plot {name}>"},
        }
        for name, svg in drawn.items()
    ]
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None}
    return cell | {"metadata": {}, "source": source, "outputs": outputs}


def _print(cell: dict[str, Any], text: str) -> None:
    """Let the cell of a block have printed a text, before it drew."""
    stream = {"output_type": "stream", "name": "stdout", "text": f"{text}\n"}
    cell["outputs"].insert(0, stream)
