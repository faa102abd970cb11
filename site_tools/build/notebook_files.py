"""What a notebook brings to the site: its plots, and the file that Jupyter opens.

mkdocs-jupyter publishes that file and renders it, as a page below the notebook's own.
"""

import posixpath
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, InclusionLevel

from site_tools.compile.notebooks import notebook
from site_tools.compile.pictures import themed
from site_tools.compile.templates import fill
from site_tools.ledger import store
from site_tools.page.pictures import plots
from site_tools.run.passed import Passed
from site_tools.source.blocks import blocks_of
from site_tools.source.content import read_content

RENDERED = "jupyter.ipynb"


def files(
    page: File, config: MkDocsConfig, known: Passed, wheel: str
) -> Iterator[File]:
    """The files of one notebook, as the last run that verified it left its plots.

    ``wheel`` is the address of ``ppo_ref``'s wheel, if the site has one.
    """
    lang, root = config.theme["language"], Path(config.config_file_path).parent
    page_id = page.src_uri.removesuffix(".md")
    path, text = f"docs/{lang}/{page.src_uri}", page.content_string
    drawn = known.plots(path)
    shown = {name: svg for each in drawn for name, svg in each.items()}
    for plot, _ in plots(text, page_id):
        svg = fill("page.not_drawn", lang)
        try:
            svg = themed(shown[plot], plot) if plot in shown else svg
        except ValueError as error:
            raise PluginError(f"{path}: {error}") from None
        yield File.generated(config, f"{page_id}/{plot}.svg", content=svg)
    blocks, problems = blocks_of(root, path, text)
    if not problems:  # told when the page is rendered
        title = str(read_content(text).meta.get("title", page_id))
        made = notebook(text, title, blocks, drawn, lang, wheel, page_id)
        place = root / ".cache" / "notebooks" / lang / name(page_id)
        if not place.exists() or place.read_text("utf-8") != made:
            store(place, made.encode())
        yield _rendered(page_id, place, config)


def _rendered(page_id: str, place: Path, config: MkDocsConfig) -> File:
    from mkdocs_jupyter.plugin import NotebookFile  # slow to import

    file = File.generated(config, f"{page_id}/{RENDERED}", abs_src_path=str(place))
    wrapped = NotebookFile(file, **config)  # its own hook has run before this site's
    # It answers these from its class, not from the file that it wraps.
    wrapped.abs_src_path = file.abs_src_path
    wrapped.inclusion = InclusionLevel.NOT_IN_NAV
    return wrapped


def name(page_id: str) -> str:
    """What the file is called."""
    return f"{posixpath.basename(page_id)}.ipynb"


def source(uri: str) -> str:
    """The page that a page is made from: itself, unless mkdocs-jupyter renders it."""
    page, _, last = uri.rpartition("/")
    return f"{page}.md" if last == RENDERED else uri


def is_rendered(uri: str) -> bool:
    """Whether mkdocs-jupyter makes this page."""
    return source(uri) != uri
