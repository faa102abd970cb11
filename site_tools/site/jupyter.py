"""A notebook as mkdocs-jupyter renders it, made part of the site.

It brings the styles and scripts of JupyterLab, over half a megabyte, some of them from
elsewhere, and leaves formulas as they are typed; here is what the site has of its own.
"""

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any

WORDS = {
    "zh": (
        "Jupyter 里看到的样子。每块代码怎么验证过、数字从哪来，见{}。",
        "下载 .ipynb",
    ),
    "en": (
        "As Jupyter shows it. How each block was verified, and what its figures come "
        "from, is on {}.",
        "Download .ipynb",
    ),
}
FOREIGN = re.compile(
    r"<(style|script|clipboard-copy)\b.*?</\1>|<!--.*?-->"
    r'|<div class="(?:jp-\w+Prompt|clipboard-copy-txt)\b[^>]*>.*?</div>',
    re.DOTALL,
)
STOPS = re.compile(r' tabindex="0"')
CODE = re.compile(r"<pre>(.*?)</pre>", re.DOTALL)
HIGHLIGHTED = 'class="highlight-ipynb hl-python"'
HEADING = re.compile(
    r'<h2 id="[^"]*">(?P<title>.*?)<a class="anchor-link" href="[^"]*">', re.DOTALL
)
SETTLED = re.compile(r'<h2 id="([^"]*)">(.*?)<a class="headerlink"', re.DOTALL)
TAG = re.compile(r"<[^>]*>")
ANCHOR = 'class="anchor-link"'
UNDESCRIBED = re.compile(r'(?<=<img alt=")[^"]*(?=" src="data:image/svg)')
VERBATIM = re.compile(r"(<pre\b.*?</pre>|<code\b.*?</code>)", re.DOTALL)
DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"\$([^$\n]+)\$")


def settled(html: str, notebook: str, href: str, title: str, lang: str) -> str:
    """The notebook without what is foreign, its formulas as the site typesets them.

    Args:
        html: As mkdocs-jupyter made it.
        notebook: What it made it from, where the plots are described.
        href: The address of the file.
        title: Of the page that it comes from.
        lang: The language of the site.

    Example:
        >>> made = "<style>x</style><p>$a$</p><pre>$b$</pre>"
        >>> notebook = '{"cells": [], "metadata": {"sections": []}}'
        >>> html = settled(made, notebook, "a.ipynb", "A", "en")
        >>> html.partition("</p>")[2].strip()
        '<p><span class="arithmatex">\\\\(a\\\\)</span></p><pre><code>$b$</code></pre>'
    """
    html = STOPS.sub("", FOREIGN.sub("", html))
    html = html.replace(HIGHLIGHTED, 'class="language-python highlight"')
    html = CODE.sub(_code, html)
    ids = iter(json.loads(notebook)["metadata"]["sections"])
    html = HEADING.sub(lambda match: _heading(match["title"], next(ids)), html)
    html = html.replace(ANCHOR, 'class="headerlink"')
    said = _descriptions(notebook)
    html = UNDESCRIBED.sub(lambda _: escape(next(said)), html)
    pieces = VERBATIM.split(html)
    pieces[::2] = map(_formulas, pieces[::2])
    told, download = WORDS[lang]
    back = told.format(f'<a href="../">{escape(title)}</a>')
    link = f'<a href="{escape(href)}" download>{download}</a>'
    return f'<p class="download">{back} {link}</p>\n{"".join(pieces)}'


def sections(html: str) -> list[dict[str, Any]]:
    """The sections of a notebook that is settled, as MkDocs takes a table of contents.

    Example:
        >>> html = '<h2 id="why">Why <em>not</em>?<a class="headerlink" href="#why">'
        >>> sections(html)
        [{'level': 2, 'id': 'why', 'name': 'Why not?', 'children': []}]
    """
    return [
        {"level": 2, "id": name, "name": TAG.sub("", title), "children": []}
        for name, title in SETTLED.findall(html)
    ]


def _heading(title: str, name: str) -> str:
    return f'<h2 id="{name}">{title}<a class="anchor-link" href="#{name}">'


def _descriptions(notebook: str) -> Iterator[str]:
    for cell in json.loads(notebook)["cells"]:
        for output in cell.get("outputs", ()):
            if "image/svg+xml" in output.get("data", ()):
                yield output["metadata"]["image/svg+xml"]["alt"]


def _code(match: re.Match[str]) -> str:
    text = match[1]
    return match[0] if text.startswith("<code") else f"<pre><code>{text}</code></pre>"


def _formulas(html: str) -> str:
    html = DISPLAY.sub(r'<div class="arithmatex">\\[\1\\]</div>', html)
    return INLINE.sub(r'<span class="arithmatex">\\(\1\\)</span>', html)
