"""Where a reader can go: the navigation, the other language, the page's source."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from site_tools.html import navigation, twins
from site_tools.source.front_matter import read_front_matter


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    lang, docs = config.theme["language"], Path(config.docs_dir)
    if config.site_url:
        config.site_url += twins.SITES[lang].folder
    if repository := config.extra.get("repository"):
        config.edit_uri = f"{repository}/edit/main/docs/{lang}/"
    known = {path for code in twins.SITES for path in _paths(docs.parent / code)}
    pages = {path: _front_matter(docs / path, lang, path) for path in _paths(docs)}
    try:
        config.nav = navigation.build(pages, lang, known)
    except ValueError as error:
        raise PluginError(f"docs/{lang}: {error}") from None
    return config


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Refuse what MkDocs would publish and no test reads."""
    for file in files:
        ours = file.src_dir == config.docs_dir and file.inclusion.is_included()
        if ours and not file.src_uri.endswith(".md"):
            raise PluginError(
                f"docs/{config.theme['language']}/{file.src_uri}: only pages (.md) may "
                "lie here; code and pictures go to snippets/"
            )


def on_page_context(
    context: dict[str, Any], page: Page, config: MkDocsConfig, **_: object
) -> dict[str, Any]:
    lang = config.theme["language"]
    translated = twins.other(lang) in _languages(page, config)
    context["twin"] = twins.twin(lang, page.url, translated)
    if config.site_url:
        context["alternates"] = _alternates(page, config)
    return context


def on_template_context(
    context: dict[str, Any], template_name: str, config: MkDocsConfig, **_: object
) -> dict[str, Any]:
    if template_name == "sitemap.xml" and config.site_url:
        pages = [file.page for file in context["pages"] if file.page]
        found = {page.url: _alternates(page, config) for page in pages}
        context["alternates"] = found
    return context


def _alternates(page: Page, config: MkDocsConfig) -> dict[str, str]:
    folder = twins.SITES[config.theme["language"]].folder
    root = (config.site_url or "").removesuffix(folder)
    return twins.alternates(root, page.url, _languages(page, config))


def _languages(page: Page, config: MkDocsConfig) -> list[str]:
    """Those that have this page."""
    docs, name = Path(config.docs_dir).parent, page.file.src_uri
    own = config.theme["language"]
    return [c for c in twins.SITES if c == own or (docs / c / name).exists()]


def _paths(docs: Path) -> Iterator[str]:
    for path in docs.rglob("*.md"):
        inner = path.relative_to(docs)
        if path.is_file() and not any(part.startswith(".") for part in inner.parts):
            yield inner.as_posix()


def _front_matter(page: Path, lang: str, path: str) -> dict[str, Any]:
    name = f"docs/{lang}/{path}"
    try:
        text = page.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise PluginError(f"{name}: must be UTF-8, got {error}") from None
    front, problems = read_front_matter(text, name)
    if problems:
        raise PluginError("\n".join(map(str, problems)))
    if not front and text.startswith("---"):
        raise PluginError(f"{name}: front matter must lie between two lines ---")
    return front
