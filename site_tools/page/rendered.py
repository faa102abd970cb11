"""The Markdown of the site: a page's HTML, and its tree."""

import re
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import yaml
from bs4 import BeautifulSoup
from markdown import Markdown

from site_tools.source.blocks import DERIVED_FENCES
from site_tools.source.content import blank
from site_tools.source.files import FRONT_MATTER

FENCED = "pymdownx.superfences"
# Most tags of a page: those of its coloured code. A tree without them is made sooner.
COLOURED = re.compile(r'<span class="\w{1,3}">([^<]*)</span>')


@lru_cache(maxsize=256)
def render(text: str, root: Path) -> str:
    """The HTML of a page, by the Markdown extensions of ``mkdocs.yml``.

    The site's own fences, as ``fact``, leave their places, which ``compile.lists``
    fills: so a page can be read without the data and lists that it shows.
    """
    front = FRONT_MATTER.match(text)
    if front:
        text = blank(text, 0, front.end())
    converter = _converter(root)
    converter.reset()
    return converter.convert(text)


@lru_cache(maxsize=256)
def parse_shown(html: str) -> BeautifulSoup:
    """The tree of a page, without the colours of its code; not to be changed."""
    return BeautifulSoup(COLOURED.sub(r"\1", html), "html.parser")


class _Loader(yaml.CUnsafeLoader):
    """Reads ``mkdocs.yml`` as MkDocs does; no ``!ENV`` plays a part in Markdown."""


_Loader.add_constructor("!ENV", lambda loader, node: None)


@lru_cache(maxsize=4)
def _converter(root: Path) -> Markdown:
    config = yaml.load((root / "mkdocs.yml").read_text("utf-8"), Loader=_Loader)
    settings: dict[str, dict[str, Any]] = config["markdown_extensions"]
    settings[FENCED]["custom_fences"] = [
        {"name": name, "class": name, "format": _place} for name in DERIVED_FENCES
    ]
    return Markdown(extensions=list(settings), extension_configs=settings)


def _place(text: str, language: str, *_: Any, attrs: Any, **__: Any) -> str:
    """The place of what is made from data."""
    lang = escape(attrs.get("data-language", ""))
    return (
        f'<div class="from-data" data-derived="{language}" '
        f'data-language="{lang}" data-argument="{escape(text)}"></div>'
    )
