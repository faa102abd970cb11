"""The Markdown of the site: a page's HTML, and the tree of what its file shows."""

import re
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import yaml
from bs4 import BeautifulSoup
from markdown import Markdown

from site_tools.source.content import blank
from site_tools.source.files import FRONT_MATTER

INCLUDES = "pymdownx.snippets"
FENCED = "pymdownx.superfences"
# Most tags of a page: those of its coloured code. A tree without them is made sooner.
COLOURED = re.compile(r'<span class="\w{1,3}">([^<]*)</span>')


def render(text: str, root: Path) -> str:
    """The HTML of a page, by the Markdown extensions of ``mkdocs.yml``."""
    return _convert(text, _site_converter(root))


def parse_shown(html: str) -> BeautifulSoup:
    """The tree of a rendered page, without the colours of its code."""
    return BeautifulSoup(COLOURED.sub(r"\1", html), "html.parser")


@lru_cache(maxsize=256)
def parse_page(text: str, root: Path) -> BeautifulSoup:
    """The tree of a page with every fence as it stands in the file; not to be changed.

    Includes are not resolved, and the site's own fences, as ``fact``, are boxes of what
    they hold: so a page can be read without the data and lists that it shows.
    """
    return parse_shown(_convert(text, _file_converter(root)))


def _convert(text: str, converter: Markdown) -> str:
    front = FRONT_MATTER.match(text)
    if front:
        text = blank(text, 0, front.end())
    converter.reset()
    return converter.convert(text)


class _Loader(yaml.CUnsafeLoader):
    """Reads ``mkdocs.yml`` as MkDocs does; no ``!ENV`` plays a part in Markdown."""


_Loader.add_constructor("!ENV", lambda loader, node: None)
Extensions = dict[str, dict[str, Any]]


def _extensions(root: Path) -> Extensions:
    config = yaml.load((root / "mkdocs.yml").read_text("utf-8"), Loader=_Loader)
    extensions: Extensions = config["markdown_extensions"]
    extensions[INCLUDES]["base_path"] = [str(root / "snippets")]
    return extensions


@lru_cache(maxsize=4)
def _site_converter(root: Path) -> Markdown:
    return _make_converter(_extensions(root))


@lru_cache(maxsize=4)
def _file_converter(root: Path) -> Markdown:
    extensions = _extensions(root)
    del extensions[INCLUDES]
    for fence in extensions[FENCED]["custom_fences"]:
        fence["format"] = _box
    return _make_converter(extensions)


def _make_converter(extensions: Extensions) -> Markdown:
    settings = {name: options or {} for name, options in extensions.items()}
    return Markdown(extensions=list(settings), extension_configs=settings)


def _box(text: str, language: str, css_class: str, *_: Any, **__: Any) -> str:
    return f'<pre class="{css_class}"><code>{escape(text)}</code></pre>'


def format_output(text: str, *_: Any, **__: Any) -> str:
    """The box of what a block printed."""
    box = f"<pre><code>{escape(text)}</code></pre>"
    return f'<div class="language-output no-copy highlight">{box}</div>'


def format_derived(text: str, language: str, *_: Any, attrs: Any, **__: Any) -> str:
    """The place of what is made from data; ``compile.lists`` fills it."""
    lang = escape(attrs.get("data-language", ""))
    return (
        f'<div class="from-data" data-derived="{language}" '
        f'data-language="{lang}" data-argument="{escape(text)}"></div>'
    )
