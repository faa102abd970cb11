"""Figures, pictures and the answer box of a rendered page."""

import posixpath
from pathlib import Path

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from site_tools.html import answer, pictures, provenance, reference, symbols
from site_tools.source import figures


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Let pages link to the pictures, which lie beside the snippets."""
    snippets = _root(config) / "snippets"
    for path in sorted(snippets.rglob("*.svg")):
        uri = path.relative_to(snippets).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    lang = config.theme["language"]

    def read(src: str) -> tuple[str, str]:
        file = files.get_file_from_path(posixpath.normpath(page.url + src))
        if file is None or file.src_dir is not None:
            raise ValueError(f"{src}: a picture must be a file under snippets")
        return f"snippets/{file.src_uri}", file.content_string

    if page.file.src_uri.startswith(f"{reference.FOLDER}/"):
        html = reference.finish(html)
    try:
        if "<code>ppo_ref." in html:
            sources = reference.read(_root(config) / reference.FOLDER)
            html = symbols.link(html, page.url, symbols.symbols(sources))
        html = pictures.inline(figures.render(html), read, lang)
        html = answer.wrap(html, page.meta.get("answers") or (), lang)
        html = provenance.offer(html, lang)
        return html + answer.also_asked(page.meta.get("aliases") or (), lang)
    except ValueError as error:
        raise PluginError(f"docs/{lang}/{page.file.src_uri}: {error}") from None


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """The pictures are in the pages now; as files nobody needs them."""
    for file in [file for file in files if file.src_uri.endswith(".svg")]:
        if file.generated_by:
            files.remove(file)
    return env


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent
