"""The search without a server: its scripts, and its index as one of them."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urldefrag

from site_tools.offline.links import INDEX

BEFORE = Path(__file__).with_name("search.js").read_text("utf-8")
INDEX_AS_JSON = "search/search_index.json"
INDEX_AS_SCRIPT = "search/search_index.js"


def start(script: str) -> str:
    """``start.js`` with a stand-in for the Worker that it starts."""
    return BEFORE + script


def worker(script: str) -> str:
    """``worker.js`` as a function of what a Worker finds as globals."""
    globals_ = "fetch, postMessage, addEventListener, location"
    return f"const searchWorker = ({globals_}) => {{\n{script}}}\n"


def index(text: str) -> str:
    """The index as a script, its pages named by their files.

    Example:
        >>> index('{"docs": [{"location": "gae/#why"}, {"location": ""}]}')[20:-2]
        '{"docs":[{"location":"gae/index.html#why"},{"location":"index.html"}]}'
    """
    found = json.loads(text)
    for entry in found["docs"]:
        path, anchor = urldefrag(entry["location"])
        entry["location"] = path + INDEX + (f"#{anchor}" if anchor else "")
    dumped = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"const searchIndex = {dumped};\n"


# By the end of a file's path.
CHANGED: dict[str, Callable[[str], str]] = {
    "assets/search/start.js": start,
    "assets/search/worker.js": worker,
    INDEX_AS_JSON: index,
}
