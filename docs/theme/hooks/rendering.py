"""A page after Markdown: pictures, links, answer box, code boxes, formulas, search."""

import json
import logging
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink, get_toc

from site_tools.build import notebook_files
from site_tools.compile import (
    article,
    finding,
    navigation,
    notebooks,
    pictures,
    reference,
    ways,
)
from site_tools.compile.downloads import wheel
from site_tools.compile.lists import fill_lists
from site_tools.compile.navigation import Answer, Answered
from site_tools.compile.templates import fill
from site_tools.data.dialogues import Asked
from site_tools.data.names import read_names
from site_tools.data.topics import TOPICS
from site_tools.finish import formulas
from site_tools.finish.formulas import Formula
from site_tools.judge import words
from site_tools.judge.allowed import html_faults
from site_tools.judge.front_matter import is_question
from site_tools.messages import Refusal
from site_tools.page import bindings
from site_tools.page.pictures import is_notebook
from site_tools.page.rendered import parse_shown
from site_tools.page.twins import twins_of
from site_tools.run.passed import Passed, read_passed, unverified
from site_tools.source.blocks import blocks_of
from site_tools.source.files import split_aliases

LOG = logging.getLogger("mkdocs.hooks.rendering")
MEANING = "about/verification.md"  # what the line of a verdict leads to
GLOSSARY = "reference/glossary.md"
# Folder, pattern, and where in the site: beside the widgets lies what they load. What
# is called text is sent compressed by every host.
PUBLISHED = (
    ("snippets", "*.svg", "{}"),
    ("ppo_ref/check", "doctor.json", "assets/lab/{}"),
    ("ppo_ref/train/viewer", "lab.*", "assets/lab/{}"),
    ("ppo_ref/train/viewer", "run*.*", "assets/lab/{}"),
    ("ppo_ref/train/stored", "*.jsonl", "assets/lab/stored/{}.txt"),
)
# In scripts only whole lines: // stands in addresses too.
COMMENT = re.compile(r"^[ \t]*//.*\n|/\*[^*]*(?:\*(?!/)[^*]*)*\*/\n?", re.MULTILINE)
ARTICLE = re.compile(r"(<article\b.*</article>)", re.DOTALL)
BLANKS = re.compile(r"[ \t]*\n\s*")
# The theme's colours, of which site.css has those that pages show.
PALETTE = re.compile(r'<link [^>]*/palette\.\w+\.min\.css">')
# The name of the generator, and the settings of the theme's script.
GENERATOR = re.compile(r'<meta name="generator"[^>]*>')
SETTINGS = re.compile(r'(?<=<script id="__config" type="application/json">)[^<]*')
# Choose a tab as the page is read.
TABS = re.compile(r"<script>var (?:tabs|target)=.*?</script>")
# Parts of code that have the colour of all the rest: names and blanks.
PLAIN = re.compile(r'<span class="[nw]">([^<]*)</span>')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Let pages link to the pictures, and publish what the package shows of runs."""
    root = _root(config)
    for folder, pattern, place in PUBLISHED:
        for path in sorted((root / folder).rglob(pattern)):
            uri = place.format(path.relative_to(root / folder).as_posix())
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    ours = str(root / "docs" / "theme")
    for file in files:
        widget = file.src_uri.startswith("assets/lab/")
        if (widget or file.src_dir == ours) and file.src_uri.endswith((".js", ".css")):
            file.content_string = lean(file.content_string)
    config.extra["passed"] = known = read_passed(root)
    for page in [file for file in files if is_notebook(file.src_uri)]:
        if _written(page, config):
            wheel = _wheel(page, config, files) if config.site_url else ""
            for file in notebook_files.files(page, config, known, wheel):
                files.append(file)
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    lang, root = config.theme["language"], _root(config)
    if notebook_files.is_rendered(page.file.src_uri):
        name, made = Path(str(page.file.abs_src_path)).name, page.file.content_string
        html, found = notebooks.settle(html, made, name, str(page.title), lang)
        page.toc = get_toc(found)
        return html
    page_id = page.file.src_uri.removesuffix(".md")

    def read(src: str) -> tuple[str, str]:
        file = files.get_file_from_path(posixpath.normpath(page.url + src))
        if file is None or file.src_dir is not None:
            raise ValueError(f"{src}: a picture must be a file under snippets")
        return f"snippets/{file.src_uri}", file.content_string

    try:
        html = fill_lists(html, root)
        if _written(page.file, config):
            for fault in html_faults(parse_shown(html)):
                raise Refusal("not_in_a_page", fault=fault)
        if page_id.startswith(f"{reference.FOLDER}/"):
            html = reference.finish(html)
        shared = _shared(files, root, lang)
        if "<code>ppo_ref." in html:
            html = reference.link_symbols(html, page.url, shared.symbols)
        html = pictures.inline(bindings.show_figures(html), read, lang)
        answers = page.meta.get("answers") or ()
        html = article.fold_refutations(html)
        source = page.file.content_string
        quoted = article.cited(root, f"docs/{lang}/{page_id}.md", source, lang)
        html = article.answer_box(html, answers, lang, shared.asked, quoted)
        html = article.cite_sections(html, page_id, root, lang)
        if is_question(page_id) and files.get_file_from_path(GLOSSARY):
            html = article.link_terms(html, read_names(root), lang)
        html = article.provenance(html, lang)
        html = article.reading(html, page_id, lang, shared.taught)
        html += article.threads(page_id, shared.threads, lang)
        html += article.aliases(split_aliases(page.meta.get("aliases"))[""], lang)
        html = ways.relative(html, page.url)
        if _written(page.file, config):
            html = article.notice(html, twins_of(root, page_id), lang, page.url)
    except ValueError as error:
        raise PluginError(f"docs/{lang}/{page.file.src_uri}: {error}") from None
    return html


class Shared(NamedTuple):
    """What all pages of one build are rendered with."""

    symbols: dict[str, str]
    asked: dict[str, tuple[Asked, Asked | None]]
    taught: list[Answer]
    threads: list[Answered]


@lru_cache(maxsize=1)
def _shared(build: Files, root: Path, lang: str) -> Shared:
    """Read once; the files of a build stand for it."""
    return Shared(
        reference.symbols(reference.read(root / reference.FOLDER)),
        navigation.asked(root, lang),
        navigation.answers(root, lang, (navigation.COURSE, *TOPICS, navigation.LAB)),
        navigation.answered(root, lang),
    )


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """Finish all pages; and their pictures, now in them, are no files."""
    config.extra["formulas"] = {}
    pages = [file.page for file in files.documentation_pages() if file.page]
    for uri, content in finish(pages, env, config, files).items():
        files.append(File.generated(config, uri, content=content))
    for file in [file for file in files if file.src_uri.endswith(".svg")]:
        if file.generated_by:
            files.remove(file)
    return env


def finish(
    pages: Sequence[Page], env: Environment, config: MkDocsConfig, files: Files
) -> dict[str, str | bytes]:
    """Copy buttons, verdicts, formulas; what formulas of the whole site are shown with.

    The live site finishes a page again when its text has changed.
    """
    for page in pages:
        if _written(page.file, config):
            _complete_code_boxes(page, config, files)
    _typeset(pages, config)
    shown = [*filter(None, config.extra["formulas"].values())]
    if not shown:
        return {}
    cache = _root(config) / ".cache" / "katex"
    assets = formulas.assets(shown, formulas.PACKAGE / "dist", cache)
    env.globals["katex_css"] = formulas.address(assets)
    return assets


def on_post_build(config: MkDocsConfig) -> None:
    folder, found = Path(config.site_dir) / "search", config.extra["search_entries"]
    whole = finding.dump(found, config.theme["language"])
    (folder / "search_index.json").write_text(whole, "utf-8")
    (folder / "first.json").write_text(finding.dump_first(found), "utf-8")


def on_page_context(
    context: dict[str, Any], page: Page, config: MkDocsConfig, **_: object
) -> dict[str, Any]:
    """What a search result and a share card say of the page."""
    context["about"] = page.meta.get("description", "")
    page.meta["description"] = escape(context["about"])  # the theme takes it as it is
    return context


def on_post_page(output: str, **_: object) -> str:
    return lean_page(output)


def lean(code: str) -> str:
    """A script or a style sheet without its comments, a sixth of what is sent."""
    return COMMENT.sub("", code)


def lean_page(html: str) -> str:
    """A page without what its reader never sees; in an article, blanks may be code."""
    if 'class="tabbed-set' not in html:
        html = TABS.sub("", html)
    html = SETTINGS.sub(_short_json, GENERATOR.sub("", html), count=1)
    parts = ARTICLE.split(PALETTE.sub("", html))
    parts[::2] = [BLANKS.sub("\n", part) for part in parts[::2]]
    return PLAIN.sub(r"\1", "".join(parts))


def _short_json(match: re.Match[str]) -> str:
    """The same JSON, with Chinese as it is and no blanks; none of it may end a tag."""
    text = json.dumps(json.loads(match[0]), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", r"\u003c")


def _complete_code_boxes(page: Page, config: MkDocsConfig, files: Files) -> None:
    lang, file = config.theme["language"], page.file
    known: Passed = config.extra["passed"]
    path = f"docs/{lang}/{file.src_uri}"
    blocks, problems = blocks_of(_root(config), path, file.content_string)
    if problems:
        LOG.warning(str(problems[0]))
        return
    meaning = files.get_file_from_path(MEANING)
    href = meaning.url_relative_to(file) if meaning else ""

    def package() -> str:
        return _wheel(file, config, files)

    try:
        html = article.complete_boxes(page.content or "", blocks, lang, package)
        page.content = html + article.verdict(known.verdict_line(path), lang, href)
        if is_notebook(file.src_uri):
            name = notebook_files.name(path.removesuffix(".md"))
            page.content = fill("page.take_notebook", lang, name) + page.content
    except ValueError as error:
        LOG.warning(f"{path}: {error}")
    begun = words.todo(_root(config), path, file.content_string)
    for problem in [*unverified(known, path), *begun]:
        LOG.log(logging.WARNING if config.strict else logging.DEBUG, str(problem))


def _typeset(pages: Sequence[Page], config: MkDocsConfig) -> None:
    """The formulas of these pages, all at once; and what the search will find."""
    lang = config.theme["language"]
    contents = {
        f"docs/{lang}/{page.file.src_uri}": page.content or "" for page in pages
    }
    try:
        typeset = formulas.typeset(contents, _root(config) / ".cache" / "katex")
    except ValueError as error:
        raise PluginError(str(error)) from None
    _describe(pages, typeset, config)
    for path, html in contents.items():
        config.extra["formulas"][path] = {typeset[f] for f in formulas.find(html)}
    for page in pages:
        page.content = formulas.render(page.content or "", typeset)
        for entry in _entries(page.toc):
            entry.title = formulas.render_in_title(entry.title, typeset)
        if page.present_anchor_ids is not None:  # links to labels are checked too
            page.present_anchor_ids.update(formulas.ID.findall(page.content))


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
