"""Figures, pictures, the answer box and the marks of a rendered page."""

import logging
import posixpath
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from site_tools.checks import accord
from site_tools.checks.anatomy import is_question
from site_tools.data import derived
from site_tools.html import (
    addresses,
    answer,
    code_boxes,
    head,
    marks,
    notice,
    pictures,
    provenance,
    reference,
    symbols,
    terms,
)
from site_tools.running import evidence
from site_tools.source import figures

LOG = logging.getLogger("mkdocs.hooks.rendering")
MEANING = "about/verification.md"  # what a mark leads to
GLOSSARY = "reference/glossary.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Let pages link to the pictures, which lie beside the snippets."""
    snippets = Path(config.config_file_path).parent / "snippets"
    for path in sorted(snippets.rglob("*.svg")):
        uri = path.relative_to(snippets).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    lang, root = config.theme["language"], Path(config.config_file_path).parent
    page_id = page.file.src_uri.removesuffix(".md")

    def read(src: str) -> tuple[str, str]:
        file = files.get_file_from_path(posixpath.normpath(page.url + src))
        if file is None or file.src_dir is not None:
            raise ValueError(f"{src}: a picture must be a file under snippets")
        return f"snippets/{file.src_uri}", file.content_string

    if page.file.src_uri.startswith(f"{reference.FOLDER}/"):
        html = reference.finish(html)
    try:
        if "<code>ppo_ref." in html:
            sources = reference.read(root / reference.FOLDER)
            html = symbols.link(html, page.url, symbols.symbols(sources))
        html = pictures.inline(figures.render(html), read, lang)
        html = answer.wrap(html, page.meta.get("answers") or (), lang)
        if is_question(page_id) and files.get_file_from_path(GLOSSARY):
            html = terms.link(html, derived.all_names(), lang)
        html = provenance.offer(html, lang)
        html += answer.also_asked(page.meta.get("aliases") or (), lang)
        html = addresses.resolve(html, page.url)
        if _written(page.file, config):
            html = notice.add(html, accord.read(root, page_id), lang, page.url)
        return html
    except ValueError as error:
        raise PluginError(f"docs/{lang}/{page.file.src_uri}: {error}") from None


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """Marks beside the blocks; and the pictures, now in the pages, are no files."""
    _mark(config, files)
    for file in [file for file in files if file.src_uri.endswith(".svg")]:
        if file.generated_by:
            files.remove(file)
    return env


def on_page_context(
    context: dict[str, Any], page: Page, config: MkDocsConfig, **_: object
) -> dict[str, Any]:
    """What a search result and a share card say of the page."""
    about = page.meta.get("description") or head.description(page.content or "")
    page.meta["description"] = escape(about)  # the theme puts it in as it is
    context["card"] = head.properties(
        title=config.site_name if page.is_homepage else str(page.title),
        about=about,
        lang=config.theme["language"],
        site=config.site_name,
        home=page.is_homepage,
        url=page.canonical_url,
    )
    return context


def _mark(config: MkDocsConfig, files: Files) -> None:
    lang, root = config.theme["language"], Path(config.config_file_path).parent
    known, wrong = evidence.gather(root)
    for fault in wrong:
        LOG.info(fault)
    meaning = files.get_file_from_path(MEANING)
    for file in files.documentation_pages():
        if file.page is None or not _written(file, config):
            continue
        path = f"docs/{lang}/{file.src_uri}"
        blocks = evidence.blocks_of(root, path, file.content_string)
        href = meaning.url_relative_to(file) if meaning else None
        boxes = marks.marks(known, path, blocks, lang, href)
        try:
            file.page.content = code_boxes.decorate(file.page.content or "", boxes)
        except ValueError as error:
            LOG.warning(f"{path}: no marks: {error}")
        for problem in evidence.unverified(known, path, blocks):
            LOG.log(logging.WARNING if config.strict else logging.DEBUG, str(problem))


def _written(file: File, config: MkDocsConfig) -> bool:
    """Whether it is a page of docs, not one made from the package nor a notebook."""
    return file.src_dir == config.docs_dir and file.src_uri.endswith(".md")
