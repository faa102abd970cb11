"""A page as a notebook that readers take away, and that notebook as a page of the site.

mkdocs-jupyter renders the notebook; it brings the styles and scripts of JupyterLab,
over half a megabyte, some of them from elsewhere, and leaves formulas as they are
typed. Here is what the site has of its own.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from site_tools.page.blocks import Block, Kind
from site_tools.page.files import FRONT_MATTER
from site_tools.page.pictures import plots
from site_tools.site.templates import fill, words

NEXT = re.compile(r"^(#+ .*?)\s*\{\s*#[\w-]+\s*\}\s*$", re.MULTILINE)
SECTION = re.compile(r"^## .*\{\s*#([\w-]+)\s*\}\s*$", re.MULTILINE)
INNER = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?://)[^)\s]*\)")
FOLDED = re.compile(r'^\?\?\?\+? (?P<kind>\w+)(?: "(?P<title>.*)")?$', re.MULTILINE)
INDENT = re.compile(r"^ {4}", re.MULTILINE)
BOUND = re.compile(r"`([^`\n]+)`\{[^}\n]*\}")

FOREIGN = re.compile(
    r"<(style|script|clipboard-copy)\b.*?</\1>|<!--.*?-->"
    r'|<div class="(?:jp-\w+Prompt|clipboard-copy-txt)\b[^>]*>.*?</div>',
    re.DOTALL,
)
CODE = re.compile(r"<pre>(?!<code)(.*?)</pre>", re.DOTALL)
PLAIN = (
    (' tabindex="0"', ""),
    ('class="highlight-ipynb hl-python"', 'class="language-python highlight"'),
    ('class="anchor-link"', 'class="headerlink"'),
)
HEADING = re.compile(
    r'<h2 id="[^"]*">(?P<title>.*?)<a class="anchor-link" href="[^"]*">', re.DOTALL
)
SETTLED = re.compile(r'<h2 id="([^"]*)">(.*?)<a class="headerlink"', re.DOTALL)
UNDESCRIBED = re.compile(r'(?<=<img alt=")[^"]*(?=" src="data:image/svg)')
VERBATIM = re.compile(r"(<pre\b.*?</pre>|<code\b.*?</code>)", re.DOTALL)
DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"\$([^$\n]+)\$")


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
    w = words(lang)
    lines = FRONT_MATTER.sub(lambda m: "\n" * m[0].count("\n"), text).split("\n")
    needs = w["notebook_needs"].format(wheel).rstrip()
    cells = [_prose(f"# {title}\n\n{needs}")]
    if not wheel:
        cells = [_prose(f"# {title}\n\n{needs}\n\n{w['notebook_package']}")]
    alts = {name: picture["alt"] for name, picture in plots(text, page_id)}
    at, shown = 0, iter(drawn)
    for block in blocks:
        first = block.fence.line - 1
        cells += _told("\n".join(lines[at:first]), page_id)
        at = first + len(block.fence.lines) + 2
        if block.runs:
            cells.append(_code(block, next(shown, {}), alts))
        elif block.kind is not Kind.OUTPUT:
            cells.append(_prose(f"```\n{block.text}\n```"))
    cells += _told("\n".join(lines[at:]), page_id)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = {
        "cells": [cell | {"id": f"cell-{n}"} for n, cell in enumerate(cells)],
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
    block: Block, drawn: Mapping[str, str], alts: Mapping[str, str]
) -> dict[str, Any]:
    outputs: list[dict[str, Any]] = []
    if block.expects:
        printed = f"{block.expects}\n"
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed})
    for name, svg in drawn.items():
        outputs.append(
            {
                "output_type": "display_data",
                "metadata": {"image/svg+xml": {"alt": alts.get(name, name)}},
                "data": {"image/svg+xml": svg, "text/plain": f"<plot {name}>"},
            }
        )
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "source": block.text,
        "outputs": outputs,
    }


def settle(html: str, notebook: str, href: str, title: str, lang: str) -> str:
    """The notebook without what is foreign, its formulas as the site typesets them.

    Example:
        >>> made = "<style>x</style><p>$a$</p><pre>$b$</pre>"
        >>> notebook = '{"cells": [], "metadata": {"sections": []}}'
        >>> html = settle(made, notebook, "a.ipynb", "A", "en")
        >>> html.partition("</p>")[2].strip()
        '<p><span class="arithmatex">\\\\(a\\\\)</span></p><pre><code>$b$</code></pre>'
    """
    cells = json.loads(notebook)
    ids, alts = iter(cells["metadata"]["sections"]), _descriptions(cells)
    html = CODE.sub(r"<pre><code>\1</code></pre>", FOREIGN.sub("", html))
    html = HEADING.sub(lambda match: _heading(match["title"], next(ids)), html)
    html = UNDESCRIBED.sub(lambda _: escape(next(alts)), html)
    for theirs, ours in PLAIN:
        html = html.replace(theirs, ours)
    pieces = VERBATIM.split(html)
    pieces[::2] = map(_formulas, pieces[::2])
    return fill("page.in_jupyter", lang, href, title) + "".join(pieces)


def sections(html: str) -> list[dict[str, Any]]:
    """The sections of a settled notebook, as MkDocs takes a table of contents.

    Example:
        >>> html = '<h2 id="why">Why <em>not</em>?<a class="headerlink" href="#why">'
        >>> sections(html)
        [{'level': 2, 'id': 'why', 'name': 'Why not?', 'children': []}]
    """
    return [
        {"level": 2, "id": id_, "name": re.sub("<[^>]*>", "", title), "children": []}
        for id_, title in SETTLED.findall(html)
    ]


def _heading(title: str, name: str) -> str:
    return f'<h2 id="{name}">{title}<a class="anchor-link" href="#{name}">'


def _descriptions(notebook: Mapping[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if "image/svg+xml" in output.get("data", ()):
                yield output["metadata"]["image/svg+xml"]["alt"]


def _formulas(html: str) -> str:
    html = DISPLAY.sub(r'<div class="arithmatex">\\[\1\\]</div>', html)
    return INLINE.sub(r'<span class="arithmatex">\\(\1\\)</span>', html)
