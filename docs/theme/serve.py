"""The site while it is being written: both languages at one address, reloading.

Run it from the root of the repository: ``python -m docs.theme.serve --port 8000``.
"""

import argparse
import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mkdocs.livereload import LiveReloadServer

from docs.theme.building import MARKS, WATCHED, Sites

HOST = "127.0.0.1"
# As make build does; the marks that it leaves are watched.
VERIFY = '"$0" -m tests.verified || exec nice -n 10 "$0" -m pytest -q docs'
SAID = Path(".cache", "serve", "verification.txt")


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
    sites.refresh()
    site = str(sites.folder / "zh")
    Path(MARKS).mkdir(parents=True, exist_ok=True)
    server = Server(sites.refresh, HOST, port, site, polling_interval=0.2)
    for place in WATCHED:
        if Path(place).exists():
            server.watch(place)
    server._want_rebuild = True  # what changed between the build and the watch
    with verifying():
        try:
            server.serve()
        finally:
            server.shutdown()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
