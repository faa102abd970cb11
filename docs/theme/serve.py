"""The site while it is being written: both languages at one address, reloading.

Run it from the root of the repository: ``python -m docs.theme.serve --port 8000``.
"""

import argparse
import errno
import importlib
import linecache
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.config_options import Hooks
from mkdocs.livereload import LiveReloadServer

HOST = "127.0.0.1"
# As make build does; the marks that it leaves are watched.
VERIFY = '"$0" -m tests.verified || exec nice -n 10 "$0" -m pytest -q docs'
SAID = Path(".cache", "serve", "verification.txt")
CONFIGS = {"zh": "mkdocs.yml", "en": "mkdocs.en.yml"}
DATA = ("docs/facts", "docs/locks", "docs/verified", "docs/*.yml")
MARKS = ".cache/verified"
SHARED = (*CONFIGS.values(), "docs/theme", *DATA, "snippets", MARKS)
CODE = ("site_tools", "ppo_ref")
# All of docs: to watch a folder would end when it is renamed, even if it comes back.
WATCHED = (*CONFIGS.values(), "docs", "snippets", *CODE, MARKS)

State = dict[str, int]


class Messages(logging.Handler):
    """Shows how far a build is and its warnings, keeps its errors for one message."""

    def begin(self, lang: str) -> None:
        self.errors: list[str] = []
        self.done = 0
        # Each page is read, and then written.
        self.steps = 2 * max(1, len([*Path("docs", lang).rglob("*.md")]))

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if record.levelno >= logging.ERROR:
            self.errors.append(said)
        elif record.levelno >= logging.WARNING:
            print(f"  {said}", flush=True)
        elif said.startswith(("Reading: ", "Building page ")):
            before, self.done = 10 * self.done // self.steps, self.done + 1
            if before < (now := 10 * self.done // self.steps) < 10:
                print(f"  {now}0 %", flush=True)


class Sites:
    """Both languages in a folder, each as it was last built without an error."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.built: dict[str, State] = {}
        self.code: State = {}
        self.messages = Messages()
        logging.getLogger("mkdocs").addHandler(self.messages)
        logging.getLogger("mkdocs").setLevel(logging.DEBUG)
        logging.getLogger("mkdocs.livereload").setLevel(logging.ERROR)

    def refresh(self) -> None:
        """Build what changed, until nothing has changed while building."""
        while self.step():
            pass

    def step(self) -> bool:
        """Build one language that changed, if any did."""
        code = state(*CODE, "docs/theme/hooks")
        if code != self.code:
            forget_code()
            self.code = code
        for lang in CONFIGS:
            if (sources := self.sources(lang)) != self.built.get(lang):
                self.built[lang] = sources
                self.attempt(lang)
                return True
        return False

    def sources(self, lang: str) -> State:
        """What one language is made from; of the others, only how they stand to it."""
        pages = {path: 0 for code in CONFIGS for path in state(f"docs/{code}")}
        own = state(*SHARED, *CODE, f"docs/{lang}")
        return pages | own | {told: 0 for told in standing()}

    def attempt(self, lang: str) -> None:
        """Build one language, or say why not; no fault may end the server."""
        print(f"{lang}: building ...", flush=True)
        start = time.monotonic()
        self.messages.begin(lang)
        try:
            self.replace(lang)
        except (Exception, SystemExit) as error:
            told = self.messages.errors or [f"{type(error).__name__}: {error}"]
            kept = f"{lang}: not built, and nothing replaced:"
            print(kept, *told, sep="\n  ", flush=True)
            return
        print(f"{lang}: built in {time.monotonic() - start:.1f} s", flush=True)

    def replace(self, lang: str) -> None:
        """Build aside, and take it only if that went well."""
        aside, live = self.folder / f"{lang}.new", self.folder / lang
        shutil.rmtree(aside, ignore_errors=True)
        build(load_config(CONFIGS[lang], site_dir=str(aside), site_url=""))
        if lang == "zh":
            (aside / "en").symlink_to(Path("..", "en"))
        shutil.rmtree(live, ignore_errors=True)
        aside.rename(live)


def state(*places: str) -> State:
    """Every source under these places or patterns, with its time of change."""
    found = {}
    roots = [root for place in places for root in Path().glob(place)]
    for path in (path for root in roots for path in _files(root)):
        with suppress(OSError):  # an editor's file that came and went
            found[str(path)] = path.stat().st_mtime_ns
    return found


def standing() -> list[str]:
    """How the languages of each page stand to each other, which both of them show."""
    with suppress(Exception):  # code or a lock that is broken: the build tells it
        # As they are now: see forget_code.
        from site_tools.page import accord, files

        root = Path.cwd()
        return [str(accord.read(root, page)) for page in files.page_ids(root)]
    return []


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (Path(folder, name) for name in names if name[0] != ".")


def forget_code() -> None:
    """Let the next build import the code of this project anew."""
    Hooks._load_hook.cache_clear()
    linecache.clearcache()
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] in CODE]:
        del sys.modules[name]


class Server(LiveReloadServer):
    """Says when the addresses answer, and that a page is missing."""

    def server_activate(self) -> None:
        super().server_activate()
        address = f"http://{HOST}:{self.server_port}"
        print(f"中文     {address}/", flush=True)
        print(f"English  {address}/en/, once it is built", flush=True)
        self.error_handler = self.missing_page

    def missing_page(self, code: int) -> bytes | None:
        page = Path(self.root, "404.html")
        return page.read_bytes() if page.exists() else None


@contextmanager
def verifying() -> Iterator[None]:
    """Verify every page, unless that is done, and no longer than the server runs."""
    SAID.parent.mkdir(parents=True, exist_ok=True)
    with SAID.open("w") as said:
        command = ["sh", "-c", VERIFY, sys.executable]
        apart = {"stdout": said, "stderr": said, "start_new_session": True}
        process = subprocess.Popen(command, **apart)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def check_port(port: int) -> None:
    if not 0 < port < 65536:
        sys.exit(f"port must lie between 1 and 65535, got {port}")
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = "is taken" if taken else f"cannot be used ({error.strerror})"
        sys.exit(f"port {port} {why}; set another one: make serve PORT={port + 1}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the site while it is written.")
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    check_port(port)
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
    sys.dont_write_bytecode = True  # a quick edit would meet a stale cache
    sites = Sites(Path(".cache/serve", str(port)))
    sites.step()  # Chinese; English while that can be read
    site = str(sites.folder / "zh")
    Path(MARKS).mkdir(parents=True, exist_ok=True)
    server = Server(sites.refresh, HOST, port, site, polling_interval=0.2)
    for place in WATCHED:
        if Path(place).exists():
            server.watch(place)
    server._want_rebuild = True  # English, and what has changed since
    with verifying():
        try:
            server.serve()
        finally:
            server.shutdown()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
