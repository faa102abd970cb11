"""Look at a run, or at two side by side, in the browser: curves and single tokens."""

import json
import os
import re
import sys
import webbrowser
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from torch import Tensor

from ppo_ref.check.dump import contents, reading
from ppo_ref.command.run_folder import CONFIG, STATISTICS, TOKENS
from ppo_ref.train import stored_runs

VIEWER = Path(__file__).parents[1] / "train" / "viewer"
HOST, MOST = "127.0.0.1", 2  # runs that are compared
# As a browser of this machine names it; any port, since SSH may lead here from another.
OURS = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?", re.IGNORECASE)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
}
# Nothing from elsewhere, nothing to elsewhere, whatever a file of the run says.
POLICY = "default-src 'self'; img-src data:; frame-ancestors 'none'; form-action 'none'"
Content = Callable[[], bytes]


def add(parser: ArgumentParser) -> None:
    """Name the arguments of the command."""
    help = (
        "the folder of a run, as runs/1, or a dump of a batch, as of check or as JSON; "
        "left out, the runs that come with ppo_ref"
    )
    parser.add_argument("runs", metavar="RUN", nargs="*", help=help)
    help = "of this machine; a free one if left out"
    parser.add_argument("--port", type=int, default=0, metavar="N", help=help)
    help = "print the address and open nothing"
    parser.add_argument("--no-browser", action="store_true", help=help)


def run(arguments: Namespace) -> int:
    """Serve the viewer to this machine until Ctrl-C; 0 is its end."""
    pages = served([Path(name) for name in arguments.runs])
    try:
        server = ThreadingHTTPServer((HOST, arguments.port), partial(Handler, pages))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(
            f"--port must be a free one, got {arguments.port}: {reason}"
        ) from None
    with server:
        address = f"http://{HOST}:{server.server_port}/"
        print(f"{address}  Ctrl-C ends it", flush=True)
        if not arguments.no_browser and _has_screen():
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


def served(runs: list[Path]) -> dict[str, Content]:
    """All that is answered, by path; files are read when they are asked for.

    So a run that goes on is shown as it is by then, and nothing else can be asked for.
    """
    if len(runs) > MOST:
        raise ValueError(f"view compares at most {MOST} runs, got {len(runs)}")
    given: dict[str, Content] = {}
    for path in runs:
        given |= _files(path)
    places = {name: f"given/{number}" for number, name in enumerate(given)}
    told = json.dumps(places, ensure_ascii=False).encode()
    own = {path.name: path.read_bytes for path in VIEWER.iterdir() if path.is_file()}
    kept = {f"stored/{x.name}.txt": x.read_bytes for x in stored_runs.FOLDER.iterdir()}
    mine = {places[name]: content for name, content in given.items()}
    return {
        **own,
        **kept,
        **mine,
        "": own["index.html"],
        "given.json": lambda: told,
    }


def _files(path: Path) -> dict[str, Content]:
    """The files of one run or dump, by the name under which they are shown."""
    shown = path.as_posix()
    if path.is_dir():
        if not (path / STATISTICS).exists():
            raise ValueError(
                f"{path} must be the folder of a run that has begun, but holds no "
                f"{STATISTICS}; python -m ppo_ref train makes one"
            )
        files = [path / name for name in (STATISTICS, TOKENS, CONFIG)]
        return {f"{shown}/{x.name}": x.read_bytes for x in files if x.exists()}
    if not path.is_file():
        raise ValueError(f"{path} must be a file or a folder, and is not there")
    if path.suffix in (".json", ".jsonl"):
        return {shown: path.read_bytes}
    rows = {name: x.tolist() for name, x in reading.read(path).items() if _is_table(x)}
    content = json.dumps(rows).encode()
    return {f"{shown}.json": lambda: content}


def _is_table(x: Tensor) -> bool:
    """Rows of numbers, which JSON can write."""
    return x.ndim == 2 and contents.kind_of(x) == "dense" and not x.is_complex()


class Handler(BaseHTTPRequestHandler):
    """Answers this machine's own browser with what is in a table, and nothing else."""

    def __init__(self, pages: Mapping[str, Content], *rest: object) -> None:
        self.pages = pages
        super().__init__(*rest)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer with the content of a path."""
        # A name that leads here from another site would let that site read along.
        host = ",".join(self.headers.get_all("Host", []))
        path = unquote(urlsplit(self.path).path).removeprefix("/")
        if not OURS.fullmatch(host) or path not in self.pages:
            return self._answer(HTTPStatus.NOT_FOUND, ".txt", b"not here\n")
        try:
            content = self.pages[path]()
        except OSError as error:
            reason = f"{path}: {error.strerror}\n".encode()
            return self._answer(HTTPStatus.NOT_FOUND, ".txt", reason)
        self._answer(HTTPStatus.OK, Path(path or "index.html").suffix, content)

    do_HEAD = do_GET

    def log_message(self, *args: object) -> None:
        """Say nothing: the address has been printed."""

    def _answer(self, status: HTTPStatus, suffix: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": KINDS.get(suffix, "text/plain; charset=utf-8"),
            "Content-Length": str(len(content)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _has_screen() -> bool:
    """True where a browser has windows; one in the terminal would block."""
    wanted = "DISPLAY", "WAYLAND_DISPLAY"
    return sys.platform == "darwin" or any(os.environ.get(name) for name in wanted)
