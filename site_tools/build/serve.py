"""The site while it is being written: both languages at one address, reloading.

Run it from the root: ``python -m site_tools.build.serve --port 8000``.

Each language is served by the generator's own live server, in a process of its own,
from the folder that its pages are compiled into: a saved page is compiled again, and
the generator does the rest. One front door leads to both. A language that is still
being built says so, and comes by itself.
"""

import argparse
import errno
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from site_tools.compile.site import CONFIGS
from site_tools.finish.formulas import KATEX_PACKAGE

HOST = "127.0.0.1"
# As a browser of this machine names it; any port, since SSH may lead here from another.
OURS = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?", re.IGNORECASE)
# As make build does; the verdicts that it leaves are watched.
VERIFY = """pages=$("$0" -m site_tools.run.passed)
test -z "$pages" || exec nice -n 10 "$0" -m pytest -q $pages"""
SAID = Path(".cache", "serve", "verification.txt")
MARKS = ".cache/verified"
WATCHED = (*CONFIGS.values(), "docs", "snippets", "site_tools", "ppo_ref", MARKS)
PAGE_SOURCE = re.compile(r"docs/(?:zh|en)/.+\.md|snippets/.+")
POLL = 0.1  # seconds between two looks at all of them
WRITING_TAKES = 0.02  # seconds in which an editor has written a file
WAITING = Path(__file__).with_name("waiting.html")
KATEX = "/assets/katex/"
PATIENCE = 65  # seconds; the generator answers a page that waits for news within 60

State = dict[str, int]


class Language:
    """One language: the process that compiles, builds and serves it."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.start()

    def start(self) -> None:
        self.port = free_port()
        command = [sys.executable, "-m", "site_tools.build.live_server", self.lang]
        command.append(f"{HOST}:{self.port}")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    def recompile(self, paths: Collection[str]) -> None:
        """Have the pages compiled that are made from these files."""
        pipe = self.process.stdin
        assert pipe
        with suppress(OSError):  # it has ended, and is started again
            pipe.write("\t".join(paths) + "\n")
            pipe.flush()

    def restart(self) -> None:
        self.end()
        self.start()

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()


class Sites:
    """Both languages, and what was there when somebody last looked."""

    def __init__(self) -> None:
        self.seen = state(*WATCHED)
        self.languages = {lang: Language(lang) for lang in CONFIGS}

    def step(self) -> None:
        """Look once at what has changed, and have it shown."""
        changed = self.look()
        if any(not PAGE_SOURCE.fullmatch(path) for path in changed):
            for each in self.languages.values():
                each.restart()
        elif changed:
            for each in self.languages.values():
                each.recompile(changed)

    def look(self) -> list[str]:
        """The files that have changed, come or gone."""
        before, now = self.seen, state(*WATCHED)
        if now != before:
            time.sleep(WRITING_TAKES)
            now = state(*WATCHED)
        self.seen = now
        return sorted({path for path, _ in before.items() ^ now.items()})

    def watch(self) -> None:
        while True:
            self.step()
            time.sleep(POLL)

    def end(self) -> None:
        for each in self.languages.values():
            each.end()


class Door(BaseHTTPRequestHandler):
    """Leads each request to the language that it asks for."""

    sites: Sites

    def do_GET(self) -> None:
        """Answer, unless another site's name led here: that site could read along."""
        host = ", ".join(self.headers.get_all("Host", []))
        if not OURS.fullmatch(host):
            told = f"Host must be localhost, {HOST} or [::1], got {host!r}\n"
            self.reply(421, "text/plain; charset=utf-8", told.encode())
            return
        if self.path == "/en":  # from there no relative link would be right
            self.reply(302, "text/plain", b"", "/")
            return
        lang, path = self.wanted()
        inner = path.partition("?")[0]
        if inner.startswith(KATEX):
            self.formula_file(inner.removeprefix(KATEX))
            return
        try:
            self.pass_on(self.sites.languages[lang].port, path)
        except OSError:  # nobody listens there yet
            kind = "text/html; charset=utf-8"
            self.reply(503, kind, WAITING.read_bytes())

    do_HEAD = do_GET

    def wanted(self) -> tuple[str, str]:
        """The language that a request asks for, and the path within it."""
        path = self.path
        if path.startswith(
            "/livereload/"
        ):  # a page asks whether there is something new
            page = urlsplit(self.headers.get("Referer", "")).path
            return ("en" if page.startswith("/en/") else "zh"), path
        if path.startswith("/en/"):
            return "en", path.removeprefix("/en")
        return "zh", path

    def pass_on(self, port: int, path: str) -> None:
        connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE)
        with closing(connection):
            connection.request(self.command, path)
            answer = connection.getresponse()
            self.reply(
                answer.status,
                answer.getheader("Content-Type", "text/html; charset=utf-8"),
                answer.read(),
                answer.getheader("Location", ""),
            )

    def formula_file(self, name: str) -> None:
        """The styles of formulas, or a font; what is published has its own cut."""
        file = KATEX_PACKAGE / "dist" / name.replace("katex.css", "katex.min.css")
        if ".." in name or not file.is_file():
            self.reply(404, "text/plain", b"")
            return
        kind = "text/css" if file.suffix == ".css" else "font/woff2"
        self.reply(200, kind, file.read_bytes())

    def reply(self, status: int, kind: str, body: bytes, to: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if to:
            english = self.path.startswith("/en")
            self.send_header("Location", f"/en{to}" if english else to)
        self.end_headers()
        if self.command != "HEAD":
            with suppress(OSError):  # the reader has left
                self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the languages tell what they do."""


class DoorServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of readers who left."""


@contextmanager
def verifying() -> Iterator[None]:
    """Verify every page, unless that is done, and no longer than the server runs."""
    SAID.parent.mkdir(parents=True, exist_ok=True)
    with SAID.open("w") as said:
        command = ["sh", "-c", VERIFY, sys.executable]
        process = subprocess.Popen(
            command, stdout=said, stderr=said, start_new_session=True
        )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def state(*places: str) -> State:
    """Every source at these places, with its time of change."""
    found = {}
    for path in (path for place in places for path in _watched_files(place)):
        with suppress(OSError):  # an editor's file that came and went
            found[path] = os.stat(path).st_mtime_ns
    return found


def _watched_files(place: str) -> Iterator[str]:
    if os.path.isfile(place):
        yield place
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (f"{folder}/{n}" for n in names if n[0] not in ".#" and n[-1] != "~")


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


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
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)  # as Ctrl-C
    Path(MARKS).mkdir(parents=True, exist_ok=True)
    Door.sites = sites = Sites()
    server = DoorServer((HOST, port), Door)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"中文     http://{HOST}:{port}/", flush=True)
    print(f"English  http://{HOST}:{port}/en/", flush=True)
    try:
        with verifying():
            sites.watch()
    finally:
        sites.end()
        server.shutdown()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
