"""Where a reader can go: the navigation, the other language, the page's source."""

from pathlib import Path
from typing import Any

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from site_tools.build import notebook_files
from site_tools.compile import finding, navigation, reference, ways
from site_tools.compile.templates import words
from site_tools.finish import formulas
from site_tools.source import files
from site_tools.source.files import page_ids, read_front_matter


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    lang, docs = config.theme["language"], Path(config.docs_dir)
    if config.site_url:
        config.site_url += ways.SITES[lang].folder
    if repository := config.extra.get("repository"):
        config.edit_uri = f"{repository}/edit/main/docs/{lang}/"
    for problem in files.symbolic_links(docs.parent.parent):
        raise PluginError(str(problem))
    try:
        pages = files.front_matters(docs)
    except ValueError as error:
        raise PluginError(str(error)) from None
    try:
        package = Path(config.config_file_path).parent / reference.FOLDER
        config.extra["reference"] = made = reference.pages(
            reference.read(package), lang
        )
        for path in made.keys() & pages.keys():
            raise ValueError(
                f"{path}: made from {reference.source(path)[0][1]}; mend that"
            )
        pages |= {path: read_front_matter(made[path], path)[0] for path in made}
        shown = {
            path: meta
            for path, meta in pages.items()
            if not config.not_in_nav.match_file(path)
        }
        config.nav = navigation.build(shown, lang, page_ids(docs.parent.parent))
    except ValueError as error:
        raise PluginError(f"docs/{lang}: {error}") from None
    config.extra_css.remove("assets/_mkdocstrings.css")  # site.css says what is needed
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference; refuse what MkDocs would publish and no test reads."""
    for file in files:
        ours = file.src_dir == config.docs_dir and file.inclusion.is_included()
        if ours and not file.src_uri.endswith(".md"):
            raise PluginError(
                f"docs/{config.theme['language']}/{file.src_uri}: only pages (.md) may "
                "lie here; code and pictures go to snippets/"
            )
    for path, text in config.extra["reference"].items():
        files.append(File.generated(config, path, content=text))
    return files


@event_priority(-50)  # once every other hook has put its anchors into the pages
def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """Lead on from where pages and anchors were."""
    docs, lang = Path(config.docs_dir).parent, config.theme["language"]
    pages = {
        file.src_uri.rpartition(".")[0]: file.page
        for file in files.documentation_pages()
        if file.page
    }
    known = pages.keys() | {*page_ids(docs.parent)}
    ids = formulas.ID.findall
    anchors = {name: ids(page.content or "") for name, page in pages.items()}
    urls = {page.url: name for name, page in pages.items()}
    targets = finding.cards(config.extra["search_entries"], urls)
    for name, page in pages.items():
        about = str(page.meta.get("description", ""))
        targets[name] = ways.Target(page.url, str(page.title), about)
    try:
        moves = ways.redirects(_text(docs / "redirects.yml"), known)
        ways.check_anchors(moves, anchors)
        short = ways.short(_text(docs / "short.yml"), known, moves)
        ways.check_anchors(short, anchors, ways.SHORT)
    except ValueError as error:
        raise PluginError(f"docs/{error}") from None
    home = config.site_url or ""
    led = ways.led_on({**moves, **short}, targets, lang, home, config.site_name)
    stubs, config.extra["beginnings"] = led
    for path, html in stubs.items():
        files.append(File.generated(config, path, content=html))
    return env


def _text(file: Path) -> str:
    return file.read_text("utf-8") if file.exists() else ""


def on_page_context(
    context: dict[str, Any], page: Page, config: MkDocsConfig, **_: object
) -> dict[str, Any]:
    lang, path = config.theme["language"], notebook_files.source(page.file.src_uri)
    written = _languages(page, config)
    context["twin"] = ways.twin(lang, page.url, ways.other(lang) in written)
    if config.site_url:
        context["alternates"] = _alternates(page, config)
    generated = reference.source(path)
    sources = generated or [(code, f"docs/{code}/{path}") for code in written]
    repository, title = config.extra.get("repository") or "", str(page.title)
    page_id = path.rpartition(".")[0]
    beginnings = config.extra["beginnings"]
    page.content = (
        beginnings.get(page.file.src_uri.removesuffix(".md"), "") + page.content
    )
    context["contributing"] = ways.edits(repository, sources, page_id, title, lang)
    if page.edit_url:  # of a notebook as Jupyter shows it, the page it is made from
        page.edit_url = f"{config.edit_uri}{path}"
    context["words"], context["page_id"] = words(lang), page_id
    return context


def on_post_page(output: str, **_: object) -> str:
    return ways.name_landmarks(output)


def on_template_context(
    context: dict[str, Any], template_name: str, config: MkDocsConfig, **_: object
) -> dict[str, Any]:
    if template_name == "sitemap.xml" and config.site_url:
        pages = [file.page for file in context["pages"] if file.page]
        found = {page.url: _alternates(page, config) for page in pages}
        context["alternates"] = found
    return context


def _alternates(page: Page, config: MkDocsConfig) -> dict[str, str]:
    folder = ways.SITES[config.theme["language"]].folder
    root = (config.site_url or "").removesuffix(folder)
    return ways.alternates(root, page.url, _languages(page, config))


def _languages(page: Page, config: MkDocsConfig) -> list[str]:
    """Those that have this page; what is generated is there in every one."""
    docs, name = Path(config.docs_dir).parent, notebook_files.source(page.file.src_uri)
    every = name == page.file.src_uri and bool(page.file.generated_by)
    return [code for code in ways.SITES if every or (docs / code / name).exists()]
