"""One language in a process of its own: built whole, then page by page as they change.

The process is forked from one that has imported MkDocs and its plugins, which takes
longer than to render a page, but nothing of this project: that is imported as it is.
"""

import logging
import multiprocessing
import re
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment
from mkdocs.commands.build import _build_page, _populate_page, build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import BuildError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils.meta import get_data

from site_tools.page.pictures import is_notebook
from site_tools.page.twins import twins_of

IMPORTED = [
    "mkdocs.commands.build",
    "mkdocs.livereload",
    "material.plugins.search.plugin",
    "mkdocs_jupyter.plugin",
    "mkdocstrings_handlers.python",
    "pymdownx.superfences",
]
FORKS = multiprocessing.get_context("forkserver")
# The text of a page, and what its code boxes and pictures are made from.
SHOWN = re.compile(r"(?:docs/(?:zh|en)|(?P<snippet>snippets))/(?P<page>.+)\.\w+")
RENDERING = "docs/theme/hooks/rendering.py"


class Answer(NamedTuple):
    """What a builder did: built, shown, same (nothing to do), whole (asks for a build).

    Or it failed, and why.
    """

    did: str
    errors: Sequence[str] = ()


def prepare() -> None:
    """Start the process that builders are forked from; Ctrl-C is not for them."""
    FORKS.set_forkserver_preload(IMPORTED)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    forkserver.ensure_running()
    signal.signal(signal.SIGINT, before)


class Builder:
    """The process as the server sees it."""

    def __init__(self, lang: str, config: str, folder: Path) -> None:
        self.folder = folder
        self.pipe, theirs = FORKS.Pipe()
        told = (lang, config, str(folder), theirs)
        self.process = FORKS.Process(target=work, args=told, daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, path: str) -> Answer:
        """Have the page shown that is made from this file."""
        with suppress(OSError):  # it has ended, as the answer says
            self.pipe.send(path)
        return self.answer()

    def answer(self) -> Answer:
        try:
            answer: Answer = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            return Answer("failed", [f"its process ended ({self.process.exitcode})"])
        return answer

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def work(lang: str, config: str, folder: str, server: Connection) -> None:
    """Build a language, then show pages, until the server ends."""
    site = Site(lang)
    with suppress(EOFError, OSError):
        server.send(site.build(config, folder))
        while True:
            server.send(site.show(server.recv()))


class Messages(logging.Handler):
    """Shows warnings, keeps errors for one message."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if record.levelno >= logging.ERROR:
            self.errors.append(said)
        else:
            print(f"  {said}", flush=True)


class Site(BasePlugin):
    """Says how far a build is, and keeps what it takes to render one of its pages."""

    made_by: MkDocsConfig
    env: Environment
    files: Files
    nav: Navigation

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.texts: dict[str, tuple[str, str]] = {}
        self.messages = Messages()
        logging.getLogger("mkdocs").addHandler(self.messages)

    def build(self, config: str, folder: str) -> Answer:
        """Build all of it."""

        def whole() -> None:
            self.made_by = load_config(config, site_dir=folder, site_url="")
            self.made_by.plugins["serve"] = self
            build(self.made_by)
            for file in self.read:  # as when pages were read, with their pictures
                if file.src_uri not in self.files.src_uris:
                    self.files.append(file)

        return self._attempt(whole, "built")

    def show(self, path: str) -> Answer:
        """Render the page that is made from this file, unless that shows it already.

        Its title is on other pages as well, and a notebook is more than a page.
        """
        made = SHOWN.fullmatch(path)
        uri = f"{made['page']}.md" if made else ""
        if uri not in self.texts:
            return Answer("whole" if made and made["snippet"] else "same")
        file = self.files.src_uris[uri]
        before, now = self.texts[uri], self._text(file)
        if before == now and made and not made["snippet"]:
            return Answer("same")
        metas = [get_data(text)[1] for text, _ in (before, now)]
        if metas[0] != metas[1] or is_notebook(uri):
            return Answer("whole")
        return self._attempt(lambda: self._render(file), "shown")

    def _attempt(self, make: Callable[[], None], done: str) -> Answer:
        """Make it, or say why not; no fault may end the process."""
        self.messages.errors = errors = []
        try:
            make()
        except BuildError as error:  # which is not told yet
            errors.append(str(error))
        except (Exception, SystemExit) as error:
            if not errors:
                errors.append(f"{type(error).__name__}: {error}")
        else:
            return Answer(done)
        return Answer("failed", errors)

    def _render(self, file: File) -> None:
        page, config = file.page, self.made_by
        assert page
        _populate_page(page, config, self.files)
        before = self.env.globals.get("katex_css")
        assets = config["hooks"][RENDERING].finish([page], self.env, config, self.files)
        if self.env.globals.get("katex_css") != before:
            for uri, content in assets.items():
                fresh = File.generated(config, uri, content=content)
                self._replace(fresh, fresh.copy_file)
        pages = self.files.documentation_pages()
        self._replace(
            file, lambda: _build_page(page, config, pages, self.nav, self.env)
        )
        level = config.validation.links.anchors
        page.validate_anchor_links(files=self.files, log_level=level)

    @staticmethod
    def _replace(file: File, write: Callable[[], None]) -> None:
        """Write a file of the site so that nobody reads a half of it."""
        live = file.abs_dest_path
        file.abs_dest_path = f"{live}.new"
        try:
            write()
            Path(file.abs_dest_path).rename(live)
        finally:
            file.abs_dest_path = live

    def _text(self, file: File) -> tuple[str, str]:
        """The source of a page, and how its languages stand to each other."""
        standing = str(twins_of(Path(), file.src_uri.removesuffix(".md")))
        return file.content_string, standing

    def on_nav(self, nav: Navigation, *, files: Files, **_: object) -> Navigation:
        # Each page is read, and then written.
        self.nav, self.steps, self.done = nav, 2 * len(files.documentation_pages()), 0
        return nav

    def on_pre_page(self, page: Page, **_: object) -> Page:
        self._step()
        return page

    def on_page_read_source(self, *, page: Page, **_: object) -> str | None:
        if page.file.src_dir is None:
            return None
        self.texts[page.file.src_uri] = now = self._text(page.file)
        return now[0]

    @event_priority(100)  # before the pictures are taken away
    def on_env(self, env: Environment, *, files: Files, **_: object) -> Environment:
        self.env, self.files, self.read = env, files, [*files]
        return env

    def on_post_page(self, output: str, **_: object) -> str:
        self._step()
        return output

    def _step(self) -> None:
        before, self.done = 10 * self.done // self.steps, self.done + 1
        if before < (now := 10 * self.done // self.steps) < 10:
            print(f"  {now}0 %", flush=True)
