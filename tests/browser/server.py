"""The built site, served below an address of its own as a host would serve it."""

import gzip
import io
import posixpath
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

SUBPATH = "/ppo/"


# The rest, fonts and pictures of pixels, is compressed already.
TEXT = ("text/", "image/svg", "application/json", "application/javascript")


class _Handler(SimpleHTTPRequestHandler):
    """Files below ``SUBPATH``, compressed; the site's own page for what is missing."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for its own end

    def send_head(self) -> io.BytesIO | None:
        path = Path(self.translate_path(self.path))
        if path.is_dir() and self.path.partition("?")[0].endswith("/"):
            path /= "index.html"
        if not path.is_file():  # a folder without its slash, or nothing
            return super().send_head()  # type: ignore[return-value]
        content, kind = path.read_bytes(), self.guess_type(path)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if kind.startswith(TEXT):
            content = _compressed(content)
            self.send_header("Content-Encoding", "gzip")
        if kind != "text/html":  # as hosts do; a crawl then fetches it once
            self.send_header("Cache-Control", "max-age=600")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return io.BytesIO(content)

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
        if self.command != "HEAD":  # else the next answer on this line begins with it
            self.wfile.write(page)

    def log_message(self, *args: object) -> None:
        pass


@lru_cache(maxsize=256)
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)


@contextmanager
def serve(site: Path) -> Iterator[str]:
    """The address of a site while it is served."""
    handler = partial(_Handler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{SUBPATH}"
        server.shutdown()
