"""Formulas, all pages at once: after Markdown, before the search index is made."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.toc import AnchorLink

from site_tools.html import formulas, katex


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    lang = config.theme["language"]
    pages = {
        f"docs/{lang}/{file.src_uri}": file.page
        for file in files.documentation_pages()
        if file.page
    }
    contents = {path: page.content or "" for path, page in pages.items()}
    cache = Path(config.config_file_path).parent / ".cache" / "katex"
    try:
        typeset = katex.typeset(contents, cache)
    except (ValueError, FileNotFoundError) as error:
        raise PluginError(str(error)) from None
    for path, page in pages.items():
        page.content = formulas.render(contents[path], typeset)
        for entry in _entries(page.toc):
            entry.title = formulas.render_in_title(entry.title, typeset)
        if page.present_anchor_ids is not None:  # links to labels are checked too
            page.present_anchor_ids.update(formulas.anchors(page.content))
    if typeset:
        for uri, content in katex.assets().items():
            files.append(File.generated(config, uri, content=content))
    return env


def _entries(toc: Iterable[AnchorLink]) -> Iterator[AnchorLink]:
    for entry in toc:
        yield entry
        yield from _entries(entry.children)
