"""The site while it is being written: both languages at one address, reloading.

Run it from the root: ``python -m site_tools.build.serve --port 8000``.

An edit of a page is rendered at once by the process that built its language; what else
depends on it follows with a whole build by a new process, which then takes over. Any
other change takes such a build at once.
"""

import argparse
import errno
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from mkdocs.livereload import LiveReloadServer

from site_tools.build.builder import SHOWN, Answer, Builder, prepare

HOST = "127.0.0.1"
# As a browser of this machine names it; any port, since SSH may lead here from another.
OURS = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?", re.IGNORECASE)
# As make build does; the verdicts that it leaves are watched.
VERIFY = """pages=$("$0" -m site_tools.run.passed)
test -z "$pages" || exec nice -n 10 "$0" -m pytest -q $pages"""
SAID = Path(".cache", "serve", "verification.txt")
CONFIGS = {"zh": "mkdocs.yml", "en": "mkdocs.en.yml"}
VERDICTS = ".cache/verified"
WATCHED = (*CONFIGS.values(), "docs", "snippets", "site_tools", "ppo_ref", VERDICTS)
POLL = 0.1  # seconds between two looks at all of them
WRITTEN = 0.02  # seconds in which an editor has written a file
QUIET = 3.0  # seconds without an edit, and a whole build begins

State = dict[str, int]


class Language:
    """One language: what is served, which follows edits, and what will replace it."""

    def __init__(self, lang: str, folder: Path) -> None:
        self.lang, self.folder = lang, folder
        self.own = (f"docs/{lang}/", "snippets/")
        self.live: Builder | None = None
        self.next: Builder | None = None
        self.due = 0.0  # when a whole build begins, maybe never
        self.failed = False  # so that it begins with the next change
        self.edited: set[str] = set()  # since the last one began
        self.count = 0

    def begin(self) -> None:
        """Build all of it aside."""
        self.say("building ...")
        self.began, self.due, self.failed = time.monotonic(), inf, False
        self.edited.clear()
        self.count += 1
        aside = self.folder / f"{self.lang}.{self.count}"
        self.next = Builder(self.lang, CONFIGS[self.lang], aside)

    def follow(self, edits: Sequence[str], others: Collection[str]) -> bool:
        """Show edits of pages, or build for all other changes; whether one is shown."""
        self.edited.update(edits)
        if others:
            self.want(0, now=any(not path.startswith(VERDICTS) for path in others))
            return False
        return any([self.show(path) for path in edits])

    def show(self, path: str) -> bool:
        """Have the edit of a page shown; whether there is something new to see."""
        start = time.monotonic()
        did, errors = self.live.ask(path) if self.live else Answer("same")
        if did == "shown":
            self.say(f"{path} shown in {time.monotonic() - start:.2f} s")
            self.want(QUIET)
        elif did == "failed":
            self.want(inf)
            self.fail(errors)
        elif did == "whole" or (self.failed and path.startswith(self.own)):
            self.want(0)
        return did == "shown"

    def want(self, delay: float, *, now: bool = True) -> None:
        """Build all of it after a delay; what is being built has become stale."""
        self.due, self.failed = time.monotonic() + delay, False
        if self.live and self.next and now:  # else it is better than nothing
            self.say("ended, to be built again")
            self.next.end()
            self.next = None

    def hear(self, ready: Collection[object]) -> bool:
        """Take over what has been built; whether there is something new to see."""
        if self.live and self.live.pipe in ready:  # it was asked nothing
            self.say(f"{self.live.answer().errors[0]}, building anew")
            self.live.end()
            self.live = None
            self.want(0)
        if not self.next or self.next.pipe not in ready:
            return False
        built, self.next = self.next, None
        if errors := built.answer().errors:
            built.end()
            self.fail(errors)
            return False
        self.replace(built)
        self.say(f"built in {time.monotonic() - self.began:.1f} s")
        for path in sorted(self.edited):
            self.show(path)
        return True

    def replace(self, built: Builder) -> None:
        """Serve what has been built; at every moment there is a whole site."""
        if self.lang == "zh":
            (built.folder / "en").symlink_to(Path("..", "en"))
        link = self.folder / f"{self.lang}.new"
        link.symlink_to(built.folder.name)
        link.rename(self.folder / self.lang)
        if self.live:
            self.live.end()
        self.live = built
        for old in {*self.folder.glob(f"{self.lang}.*")} - {built.folder}:
            shutil.rmtree(old, ignore_errors=True)

    def fail(self, errors: Sequence[str]) -> None:
        self.failed = True
        self.say("\n  ".join(["not built, and nothing replaced:", *errors]))

    def say(self, what: str) -> None:
        print(f"{self.lang}: {what}", flush=True)

    def end(self) -> None:
        for builder in filter(None, (self.live, self.next)):
            builder.end()


class Sites:
    """Both languages in a folder, one of them being built at a time."""

    def __init__(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.folder = folder.absolute()
        self.seen = state(*WATCHED)
        self.languages = [Language(lang, self.folder) for lang in CONFIGS]

    def open(self) -> None:
        """Build Chinese; English while that can be read."""
        first = self.languages[0]
        while not (first.live or first.failed):
            self.step()

    def step(self) -> bool:
        """Look once at what has changed; whether there is something new to see."""
        builders = [b for each in self.languages for b in (each.live, each.next) if b]
        ready = wait([builder.pipe for builder in builders], POLL)
        news = [each.hear(ready) for each in self.languages]
        edits, others = self.look()
        if edits or others:
            news += [each.follow(edits, others) for each in self.languages]
        if not any(each.next for each in self.languages):
            due = (each for each in self.languages if each.due <= time.monotonic())
            if first := next(due, None):
                first.begin()
        return any(news)

    def look(self) -> tuple[list[str], set[str]]:
        """The pages whose text or code was edited, and all else that has changed."""
        before, now = self.seen, state(*WATCHED)
        if now != before:
            time.sleep(WRITTEN)
            now = state(*WATCHED)
        self.seen = now
        changed = {path for path, _ in before.items() ^ now.items()}
        edits = filter(SHOWN.fullmatch, changed & before.keys() & now.keys())
        return (some := sorted(edits)), changed.difference(some)

    def end(self) -> None:
        for each in self.languages:
            each.end()


def state(*places: str) -> State:
    """Every source at these places, with its time of change."""
    found = {}
    for path in (path for place in places for path in _files(place)):
        with suppress(OSError):  # an editor's file that came and went
            found[path] = os.stat(path).st_mtime_ns
    return found


def _files(place: str) -> Iterator[str]:
    if os.path.isfile(place):
        yield place
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (f"{folder}/{n}" for n in names if n[0] not in ".#" and n[-1] != "~")


class Server(LiveReloadServer):
    """Reloads what is new, says when it answers and that a page is missing."""

    def server_activate(self) -> None:
        super().server_activate()
        address = f"http://{HOST}:{self.server_port}"
        print(f"中文     {address}/", flush=True)
        print(f"English  {address}/en/, once it is built", flush=True)
        self.error_handler = self.missing_page
        self._watched_paths["."] = 1  # its pages ask whether there is something new

    def serve_request(
        self, environ: dict[str, Any], start_response: Callable[..., object]
    ) -> Iterable[bytes]:
        """Answer, unless another site's name led here: that site could read along."""
        host = environ.get("HTTP_HOST", "")
        if OURS.fullmatch(host):
            return super().serve_request(environ, start_response)
        kind = ("Content-Type", "text/plain; charset=utf-8")
        start_response("421 Misdirected Request", [kind])
        return [f"Host must be localhost, {HOST} or [::1], got {host!r}\n".encode()]

    def _build_loop(self) -> None:
        while True:
            if self.builder():
                with self._epoch_cond:
                    self._visible_epoch = round(1000 * time.monotonic())
                    self._wanted_epoch = self._visible_epoch
                    self._epoch_cond.notify_all()

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
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)  # as Ctrl-C
    Path(VERDICTS).mkdir(parents=True, exist_ok=True)
    prepare()
    sites = Sites(Path(".cache/serve", str(port)))
    try:
        sites.open()
        server = Server(sites.step, HOST, port, str(sites.folder / "zh"))
        with verifying():
            try:
                server.serve()
            finally:
                server.shutdown()
    finally:
        sites.end()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
