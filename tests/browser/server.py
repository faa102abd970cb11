"""The built site, served below an address of its own as a host would serve it."""

import posixpath
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

SUBPATH = "/ppo/"


class _Handler(SimpleHTTPRequestHandler):
    """Files below ``SUBPATH``; the site's own page for what is missing."""

    def translate_path(self, path: str) -> str:
        inside = posixpath.normpath(unquote(path.partition("?")[0].partition("#")[0]))
        if not f"{inside}/".startswith(SUBPATH):
            return str(Path(self.directory, "outside"))
        return str(Path(self.directory, f"{inside}/".removeprefix(SUBPATH)))

    def send_error(self, code: int, *args: object, **kwargs: object) -> None:
        page = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serve(site: Path) -> Iterator[str]:
    """The address of a site while it is served."""
    handler = partial(_Handler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{SUBPATH}"
        server.shutdown()
