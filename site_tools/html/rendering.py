"""Markdown to HTML exactly as the site does it, without the site."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from markdown import Markdown

from site_tools.source.prose import FRONT_MATTER, blank


def render(text: str, root: Path) -> str:
    """The HTML of a page, by the Markdown extensions of ``mkdocs.yml``.

    Args:
        text: The page, front matter included.
        root: The project's folder.
    """
    front = FRONT_MATTER.match(text)
    if front:
        text = blank(text, 0, front.end())
    converter = _converter(root)
    converter.reset()
    return converter.convert(text)


@lru_cache(maxsize=1)
def _converter(root: Path) -> Markdown:
    settings = read_settings(root)
    snippets = settings.get("pymdownx.snippets", {})
    snippets["base_path"] = [str(root / base) for base in snippets["base_path"]]
    return Markdown(extensions=list(settings), extension_configs=settings)


def read_settings(root: Path) -> dict[str, Any]:
    """The ``markdown_extensions`` of ``mkdocs.yml``; its tags are our own, so safe."""
    text = (root / "mkdocs.yml").read_text("utf-8")
    config: dict[str, Any] = yaml.load(text, Loader=_Loader)
    return {
        name: options or {} for name, options in config["markdown_extensions"].items()
    }


class _Loader(yaml.UnsafeLoader):
    """Knows the tag ``!ENV`` of MkDocs, whose values play no part in Markdown."""


_Loader.add_constructor("!ENV", lambda loader, node: None)
