"""The site while it is being written: both languages at one address, reloading.

Run it from the root of the repository: ``python -m docs.theme.serve --port 8000``.
"""

import argparse
import errno
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from mkdocs.livereload import LiveReloadServer

from docs.theme.building import CODE, MARKS, WATCHED, Sites, state

HOST = "127.0.0.1"
VERIFY = [sys.executable, "-m", "site_tools.running.background"]
SOURCES = ("docs/zh", "docs/en", "snippets", *CODE)


class Server(LiveReloadServer):
    """Says when the addresses answer, and that a page is missing."""

    def server_activate(self) -> None:
        super().server_activate()
        address = f"http://{HOST}:{self.server_port}"
        print(f"中文     {address}/\nEnglish  {address}/en/", flush=True)
        self.error_handler = self.missing_page

    def missing_page(self, code: int) -> bytes | None:
        page = Path(self.root, "404.html")
        return page.read_bytes() if page.exists() else None


class Verifying(threading.Thread):
    """Verifies what is stale whenever a source has changed, in a process of its own.

    The process ends when its standard input does, so that it cannot outlive this one.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen = state()
        self.news = threading.Event()
        self.process: subprocess.Popen[bytes] | None = None
        self.ending = False

    def look(self) -> None:
        """Have it verify again if a source has changed since the last look."""
        sources = state(*SOURCES)
        if sources != self.seen:
            self.seen = sources
            self.news.set()

    def run(self) -> None:
        while self.news.wait() and not self.ending:
            self.news.clear()
            self.process = subprocess.Popen(
                VERIFY,
                stdin=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for this process, which ends it
                env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            )
            self.process.wait()

    def end(self) -> None:
        self.ending = True
        self.news.set()
        if self.process and self.process.stdin:
            self.process.stdin.close()
            self.process.wait()


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
    sites.refresh()
    site = str(sites.folder / "zh")
    verifying = Verifying()

    def refresh() -> None:
        sites.refresh()
        verifying.look()

    Path(MARKS).mkdir(parents=True, exist_ok=True)
    server = Server(refresh, HOST, port, site, polling_interval=0.2)
    for place in WATCHED:
        if Path(place).exists():
            server.watch(place)
    server._want_rebuild = True  # what changed between the build and the watch
    verifying.start()
    try:
        server.serve()
    finally:
        verifying.end()
        server.shutdown()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
