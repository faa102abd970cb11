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
from site_tools.site import finding, formulas
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
        typeset = formulas.typeset(contents, cache)
    except ValueError as error:
        raise PluginError(str(error)) from None
    _describe(pages.values(), typeset, config)
    for page in pages.values():
        page.content = formulas.render(page.content or "", typeset)
        for entry in _entries(page.toc):
            entry.title = formulas.render_in_title(entry.title, typeset)
        if page.present_anchor_ids is not None:  # links to labels are checked too
            page.present_anchor_ids.update(formulas.ID.findall(page.content))
    if typeset:
        dist = formulas.PACKAGE / "dist"
        shown = [
            [typeset[f] for f in set(formulas.find(html))] for html in contents.values()
        ]
        assets = formulas.assets(filter(None, shown), dist, cache)
        for uri, content in assets.items():
            files.append(File.generated(config, uri, content=content))
        env.globals["katex_css"] = formulas.address(assets)
    return env


def on_post_build(config: MkDocsConfig) -> None:
    index = Path(config.site_dir) / "search" / "search_index.json"
    found = finding.dump(config.extra["search_entries"], config.theme["language"])
    index.write_text(found, "utf-8")


def _describe(
    pages: Iterable[Page], typeset: Mapping[Formula, str], config: MkDocsConfig
) -> None:
    """Read the pages for the search and for who links to them; tell the theme not to.

    It would take longer than all the rest of the build, most of it over the tags of
    formulas and code; and our search (docs/theme/assets/search) wants plain text.
    """
    searched = {formula: formulas.searched(html) for formula, html in typeset.items()}
    config.extra["search_entries"] = []
    for page in pages:
        html, meta = page.content or "", page.meta
        meta["description"] = meta.get("description") or finding.description(html)
        meta["search"] = meta.get("search", {}) | {"exclude": True}
        if notebook_files.is_rendered(page.file.src_uri):
            continue  # what it says is found where it comes from
        config.extra["search_entries"] += finding.entries(
            formulas.as_text(html, searched.__getitem__),
            page.url,
            page.title,
            meta.get("aliases") or (),
            meta["search"].get("boost", 1),
        )


def _entries(toc: Iterable[AnchorLink]) -> Iterator[AnchorLink]:
    for entry in toc:
        yield entry
        yield from _entries(entry.children)
