"""Markdown to HTML exactly as the site does it, without the site."""

from collections.abc import Callable
from functools import lru_cache
from html import escape
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import yaml
from markdown import Markdown

from site_tools.page.prose import FRONT_MATTER, blank

SNIPPETS = "pymdownx.snippets"
FENCES = "pymdownx.superfences"


def render(text: str, root: Path) -> str:
    """The HTML of a page, by the Markdown extensions of ``mkdocs.yml``.

    Args:
        text: The page, front matter included.
        root: The project's folder.
    """
    return _convert(text, _converter(root / "mkdocs.yml", root / "snippets"))


@lru_cache(maxsize=256)
def render_as_written(text: str, root: Path) -> str:
    """The same with every fence as it stands in the file.

    Includes are not resolved, and the site's own fences, as ``fact``, are boxes of what
    they hold: so a page can be read without the data and lists that it shows.
    """
    return _convert(text, _converter(root / "mkdocs.yml", None))


def _convert(text: str, converter: Markdown) -> str:
    front = FRONT_MATTER.match(text)
    if front:
        text = blank(text, 0, front.end())
    converter.reset()
    return converter.convert(text)


@lru_cache(maxsize=4)
def _converter(config: Path, snippets: Path | None) -> Markdown:
    settings = _settings(config)
    if snippets:
        settings[SNIPPETS]["base_path"] = [str(snippets)]
    else:
        del settings[SNIPPETS]
    for fence in settings[FENCES]["custom_fences"]:
        fence["format"] = resolve_name(fence["format"]) if snippets else _box
    return Markdown(extensions=list(settings), extension_configs=settings)


def _box(
    text: str, language: str, css_class: str, options: Any, md: Any, **_: Any
) -> str:
    return f'<pre class="{css_class}"><code>{escape(text)}</code></pre>'


def _settings(config: Path) -> dict[str, Any]:
    """The ``markdown_extensions`` of ``mkdocs.yml``; our functions by their names."""
    settings: dict[str, Any] = yaml.load(config.read_text("utf-8"), Loader=_Loader)
    extensions: dict[str, Any] = settings["markdown_extensions"]
    return {name: options or {} for name, options in extensions.items()}


class _Loader(yaml.SafeLoader):
    """Knows the tags of mkdocs.yml; of ``!ENV`` the values play no part in Markdown."""


def _apply(loader: yaml.SafeLoader, name: str, node: Any) -> Any:
    called: Callable[..., Any] = resolve_name(name)
    return called(**loader.construct_mapping(node, deep=True).get("kwds", {}))


_Loader.add_constructor("!ENV", lambda loader, node: None)
_Loader.add_multi_constructor(
    "tag:yaml.org,2002:python/name:", lambda loader, name, node: name
)
_Loader.add_multi_constructor("tag:yaml.org,2002:python/object/apply:", _apply)
