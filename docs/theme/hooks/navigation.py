"""Where a reader can go: the navigation, the other language, the page's source."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page
from mkdocs.utils import meta

from site_tools.html import navigation, twins


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    lang, docs = config.theme["language"], Path(config.docs_dir)
    if config.site_url:
        config.site_url += twins.SITES[lang].folder
    if repository := config.extra.get("repository"):
        config.edit_uri = f"{repository}/edit/main/docs/{lang}/"
    texts = {path: (docs / path).read_text("utf-8") for path in _paths(docs)}
    pages = {path: meta.get_data(text)[1] for path, text in texts.items()}
    known = {path for code in twins.SITES for path in _paths(docs.parent / code)}
    try:
        config.nav = navigation.build(pages, lang, known)
    except ValueError as error:
        raise PluginError(f"docs/{lang}: {error}") from None
    return config


def on_page_context(
    context: dict[str, Any], page: Page, config: MkDocsConfig, **_: object
) -> dict[str, Any]:
    lang, beside = config.theme["language"], Path(config.docs_dir).parent
    translated = (beside / twins.other(lang) / page.file.src_uri).exists()
    context["twin"] = twins.twin(lang, page.url, translated)
    if config.site_url and translated:
        root = config.site_url.removesuffix(twins.SITES[lang].folder)
        context["alternates"] = twins.alternates(root, page.url)
    return context


def _paths(docs: Path) -> Iterator[str]:
    for path in (*docs.rglob("*.md"), *docs.glob("notebooks/*.py")):
        yield path.relative_to(docs).as_posix()
