"""A copy of this repository in which one question page has become many."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = (
    "mkdocs.yml",
    "mkdocs.en.yml",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "docs",
    "snippets",
    "site_tools",
    "ppo_ref",
)
PAGE = "alignment/value_before_token.md"
PAIRS = 200
PORT = 8642


def grow(root: Path, pairs: int = PAIRS) -> None:
    """Put a copy under ``root`` with so many question pages in each language.

    No two pages have the same title or the same formulas, so that nothing which is
    kept between pages makes many pages cheaper than they will be.
    """
    root.mkdir(parents=True, exist_ok=True)
    unwanted = shutil.ignore_patterns("__pycache__")
    for name in SOURCES:
        source, target = ROOT / name, root / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=unwanted)
        else:
            shutil.copy(source, target)
    for lang in ("zh", "en"):
        pages = root / "docs" / lang
        text = (pages / PAGE).read_text("utf-8")
        there = sum(1 for _ in pages.rglob("*.md"))
        for number in range(pairs - there):
            other = text.replace("question: ", f"question: {number} ", 1)
            other = other.replace(r"\gamma", rf"\gamma_{{{number}}}")
            (pages / PAGE).with_stem(f"copy_{number}").write_text(other, "utf-8")


def seconds_to_build(root: Path) -> tuple[float, float]:
    """Build both languages as ``make build`` does: by the clock, and of a processor.

    Raises:
        subprocess.CalledProcessError: if they do not build.
    """
    start, used = time.monotonic(), _processor_seconds()
    subprocess.run(
        [sys.executable, "-m", "site_tools.build.publish", "--draft"],
        cwd=root,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.monotonic() - start, _processor_seconds() - used


def seconds_to_see_edits(root: Path, count: int) -> list[float]:
    """Serve it as ``make serve`` does; how soon each edit of a page is served."""
    command = [sys.executable, "-m", "site_tools.build.serve", "--port", str(PORT)]
    quiet = {"NO_MKDOCS_2_WARNING": "1"}
    server = subprocess.Popen(
        command, cwd=root, env=os.environ | quiet, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout
    [*takewhile(lambda line: not line.startswith("en: built in"), server.stdout)]
    page = (root / "docs" / "en" / PAGE).with_stem("copy_1")
    text = page.read_text("utf-8")
    seconds = []
    for number in range(count):
        time.sleep(2)  # as somebody types
        edit = f"Edit {number} is here."
        page.write_text(f"{text}\n{edit}\n", "utf-8")
        start = time.monotonic()
        while edit not in _served("en/alignment/copy_1/"):
            time.sleep(0.01)
        seconds.append(time.monotonic() - start)
    server.send_signal(signal.SIGINT)
    server.communicate()
    return seconds


def _served(path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/{path}") as answer:
        return str(answer.read().decode())


def _processor_seconds() -> float:
    """Of all children that have ended, theirs included."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
