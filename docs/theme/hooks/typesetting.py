"""All pages at once, after Markdown: formulas, and what the search will find."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink

from docs.theme import notebook_files
from site_tools.site import formulas, katex, katex_assets, search_index, theme_styles
from site_tools.site.formulas import Formula


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
    _index(pages.values(), typeset, config)
    for page in pages.values():
        page.content = formulas.render(page.content or "", typeset)
        for entry in _entries(page.toc):
            entry.title = formulas.render_in_title(entry.title, typeset)
        if page.present_anchor_ids is not None:  # links to labels are checked too
            page.present_anchor_ids.update(formulas.anchors(page.content))
    if typeset:
        assets = katex_assets.assets(typeset.values(), katex.PACKAGE / "dist", cache)
        for uri, content in assets.items():
            files.append(File.generated(config, uri, content=content))
        env.globals["katex_css"] = katex_assets.address(assets)
    return env


def on_post_build(config: MkDocsConfig) -> None:
    site = Path(config.site_dir)
    index = site / "search" / "search_index.json"
    index.write_text(search_index.dump(config.extra["search_entries"]), "utf-8")
    pages, scripts, sheets = (
        [file.read_text("utf-8") for file in site.glob(pattern)]
        for pattern in ("**/*.html", "assets/**/*.js", "assets/**/*.css")
    )
    used = theme_styles.words(pages, scripts)
    for sheet in site.glob("assets/stylesheets/main.*.css"):
        whole = sheet.read_text("utf-8")
        sheets.remove(whole)
        left = theme_styles.cut(whole, used)
        elsewhere = theme_styles.properties([*pages, *scripts, *sheets])
        sheet.write_text(theme_styles.without_unread(left, elsewhere), "utf-8")


def _index(
    pages: Iterable[Page], typeset: Mapping[Formula, str], config: MkDocsConfig
) -> None:
    """Read the pages for the search, and tell the theme not to.

    It would take longer than all the rest of the build, most of it over the tags of
    formulas and code; and our search (docs/theme/assets/search) wants plain text.
    """
    texts = {formula: formulas.text(html) for formula, html in typeset.items()}
    config.extra["search_entries"] = []
    for page in pages:
        page.meta["search"] = page.meta.get("search", {}) | {"exclude": True}
        if notebook_files.is_rendered(page.file.src_uri):
            continue  # what it says is found where it comes from
        html, aliases = page.content or "", page.meta.get("aliases") or ()
        config.extra["search_entries"] += search_index.entries(
            formulas.render(html, texts),
            page.url,
            page.title,
            aliases,
            page.meta["search"].get("boost", 1),
        )


def _entries(toc: Iterable[AnchorLink]) -> Iterator[AnchorLink]:
    for entry in toc:
        yield entry
        yield from _entries(entry.children)
