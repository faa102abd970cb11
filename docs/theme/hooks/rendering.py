"""A page after Markdown: pictures, links, the answer box, the code boxes."""

import logging
import posixpath
from collections.abc import Sequence
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
from site_tools.data.wheel import wheel
from site_tools.html import (
    addresses,
    answer,
    code_boxes,
    copying,
    head,
    marks,
    notice,
    pictures,
    plots,
    provenance,
    reference,
    symbols,
    terms,
)
from site_tools.html import notebooks as download
from site_tools.running import drawings, evidence
from site_tools.running.evidence import Evidence
from site_tools.source import figures, notebooks
from site_tools.source.blocks import Block

LOG = logging.getLogger("mkdocs.hooks.rendering")
MEANING = "about/verification.md"  # what a mark leads to
GLOSSARY = "reference/glossary.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Let pages link to the pictures, which lie beside the snippets."""
    snippets = _root(config) / "snippets"
    for path in sorted(snippets.rglob("*.svg")):
        uri = path.relative_to(snippets).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    for page in [file for file in files if notebooks.is_notebook(file.src_uri)]:
        if _written(page, config):
            for uri, svg in _plots(page, config).items():
                files.append(File.generated(config, uri, content=svg))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    lang, root = config.theme["language"], _root(config)
    page_id = page.file.src_uri.removesuffix(".md")

    def read(src: str) -> tuple[str, str]:
        file = files.get_file_from_path(posixpath.normpath(page.url + src))
        if file is None or file.src_dir is not None:
            raise ValueError(f"{src}: a picture must be a file under snippets")
        return f"snippets/{file.src_uri}", file.content_string

    try:
        if page_id.startswith(f"{reference.FOLDER}/"):
            html = reference.finish(html)
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
    except ValueError as error:
        raise PluginError(f"docs/{lang}/{page.file.src_uri}: {error}") from None
    return html


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """Copy buttons and marks; and the pictures, now in the pages, are no files."""
    known, wrong = evidence.gather(_root(config))
    for fault in wrong:
        LOG.info(fault)
    for file in files.documentation_pages():
        if file.page and _written(file, config):
            _complete_code_boxes(file.page, known, config, files)
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


def _complete_code_boxes(
    page: Page, known: Evidence, config: MkDocsConfig, files: Files
) -> None:
    lang, file = config.theme["language"], page.file
    path = f"docs/{lang}/{file.src_uri}"
    blocks, problems = evidence.blocks_of(_root(config), path, file.content_string)
    if problems:
        LOG.warning(str(problems[0]))
        return
    meaning = files.get_file_from_path(MEANING)
    href = meaning.url_relative_to(file) if meaning else None

    def package() -> str:
        return _wheel(file, config, files)

    try:
        html = copying.complete(page.content or "", blocks, lang, package)
        boxes = marks.marks(known, path, blocks, lang, href)
        page.content = code_boxes.decorate(html, boxes)
        if notebooks.is_notebook(file.src_uri):
            _offer_notebook(page, blocks, config, files)
    except ValueError as error:
        LOG.warning(f"{path}: {error}")
    undrawn = drawings.missing(_root(config), path, blocks, known.setting)
    for problem in [*evidence.unverified(known, path, blocks), *undrawn]:
        LOG.log(logging.WARNING if config.strict else logging.DEBUG, str(problem))


def _plots(page: File, config: MkDocsConfig) -> dict[str, str]:
    """The plots of a notebook, as the last run that verified it left them."""
    lang, page_id = config.theme["language"], page.src_uri.removesuffix(".md")
    path = f"docs/{lang}/{page.src_uri}"
    drawn: dict[str, str] = {}
    for found in drawings.plots(_root(config), path):
        drawn |= found
    try:
        return plots.pictures(page.content_string, page_id, drawn, lang)
    except ValueError as error:
        raise PluginError(f"{path}: {error}") from None


def _offer_notebook(
    page: Page, blocks: Sequence[Block], config: MkDocsConfig, files: Files
) -> None:
    """Put the file beside the page, and the link to it at the top."""
    lang, page_id = config.theme["language"], page.file.src_uri.removesuffix(".md")
    drawn = drawings.plots(_root(config), f"docs/{lang}/{page.file.src_uri}")
    wheel = _wheel(page.file, config, files) if config.site_url else ""
    text = page.file.content_string
    made = download.notebook(text, str(page.title), blocks, drawn, lang, wheel, page_id)
    name = f"{posixpath.basename(page_id)}.ipynb"
    files.append(File.generated(config, f"{page_id}/{name}", content=made))
    page.content = download.offer(page.content or "", name, lang)


def _wheel(page: File, config: MkDocsConfig, files: Files) -> str:
    """The address of ppo_ref's wheel, which the first page that needs it brings."""
    file = next((file for file in files if file.src_uri.endswith(".whl")), None)
    if file is None:
        try:
            made = wheel(_root(config), _root(config) / ".cache" / "wheel")
        except ValueError as error:
            raise PluginError(str(error)) from None
        file = File.generated(config, made.name, abs_src_path=str(made))
        files.append(file)
    return config.site_url + file.url if config.site_url else file.url_relative_to(page)


def _written(file: File, config: MkDocsConfig) -> bool:
    """Whether it is a page of docs, not one made from the package."""
    return file.src_dir == config.docs_dir and file.src_uri.endswith(".md")


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent
