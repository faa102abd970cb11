"""Figures, pictures, copy buttons and the answer box of a rendered page."""

import logging
import posixpath
from pathlib import Path

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from site_tools.data.wheel import wheel
from site_tools.html import answer, copying, pictures
from site_tools.source import figures
from site_tools.source.block_reading import read_blocks
from site_tools.source.fences import scan

LOG = logging.getLogger("mkdocs.hooks.rendering")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Let pages link to the pictures, which lie beside the snippets."""
    snippets = Path(config.config_file_path).parent / "snippets"
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

    try:
        html = _copyable(html, page, config, files)
        html = pictures.inline(figures.render(html), read, lang)
        html = answer.wrap(html, page.meta.get("answers") or (), lang)
        return html + answer.also_asked(page.meta.get("aliases") or (), lang)
    except ValueError as error:
        raise PluginError(f"docs/{lang}/{page.file.src_uri}: {error}") from None


def _copyable(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The copy buttons, and the wheel that the first block of the page installs."""
    root, lang = Path(config.config_file_path).parent, config.theme["language"]
    if page.file.src_dir != config.docs_dir or not page.file.src_uri.endswith(".md"):
        return html
    path, text = f"docs/{lang}/{page.file.src_uri}", page.file.content_string
    fences, problems = scan(text, path)
    blocks, unread = read_blocks(fences, text, path, root / "snippets")
    if faults := [*problems, *unread]:
        LOG.warning("%s", faults[0])
        return html

    def package() -> str:
        file = next((f for f in files if f.src_uri.endswith(".whl")), None)
        if file is None:  # the first page that needs it
            made = wheel(root, root / ".cache" / "wheel")
            file = File.generated(config, made.name, abs_src_path=str(made))
            files.append(file)
        if config.site_url:
            return config.site_url + file.url
        return file.url_relative_to(page.file)

    return copying.complete(html, blocks, lang, package)


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """The pictures are in the pages now; as files nobody needs them."""
    for file in [file for file in files if file.src_uri.endswith(".svg")]:
        if file.generated_by:
            files.remove(file)
    return env
