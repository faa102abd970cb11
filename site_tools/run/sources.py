"""Hashes of what a verdict on a page rests on.

This is the text of the page in both languages, the snippets and pictures that they
name, and what all pages share: ``ppo_ref``, the project's data, and the code that
reads, runs and judges. ``compile`` is among it: a page is judged with its lists filled
in and its links resolved. Of a link the other page answers: a heading that somebody
links to cannot be lost without a change of its own page, which is then judged.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from site_tools.ledger import digest
from site_tools.messages import LANGUAGES

SHARED_SOURCES = (
    "*.yml",
    "docs/*.yml",
    "docs/facts/*.yml",
    "docs/verified/*.md",
    "docs/verified/*.yml",
    "pins/*.txt",
    "ppo_ref/**/*",
    "site_tools/*.py",
    "site_tools/data/*.py",
    "site_tools/confinement/*.py",
    "site_tools/source/*.py",
    "site_tools/page/*.py",
    "site_tools/run/*.py",
    "site_tools/compile/**/*",
    "site_tools/judge/*.py",
    "tests/pages.py",
    "tests/properties/*.py",
)


class Sources:
    """The files of a project as they are now, hashed page by page."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._snippets = [*matching(root, ["snippets/**/*"])]
        shared = [*matching(root, SHARED_SOURCES)]
        self._shared = self._hash(shared)
        self._shared_changed = 0
        for file in shared:
            self._shared_changed = max(self._shared_changed, file.stat().st_ctime_ns)

    def of(self, page_id: str) -> dict[str, str]:
        """Hashes of the sources of a page, as a ledger has them."""
        own = self._hash(self._own_files(page_id))
        return {"page": own, "project": self._shared}

    def changed(self, page_id: str) -> int:
        """When one of these files was last written or replaced, in nanoseconds."""
        last = self._shared_changed
        for file in self._own_files(page_id):
            last = max(last, file.stat().st_ctime_ns)
        return last

    def _hash(self, files: Iterable[Path]) -> str:
        lines = []
        for file in files:
            name = file.relative_to(self._root).as_posix()
            lines.append(f"{name} {digest(file.read_bytes())}\n")
        return digest("".join(lines))

    def _own_files(self, page_id: str) -> list[Path]:
        """Both languages of a page, and each snippet and picture that they name."""
        pages = [self._root / f"docs/{lang}/{page_id}.md" for lang in LANGUAGES]
        pages = [page for page in pages if page.is_file()]
        text = "".join(page.read_text("utf-8", errors="replace") for page in pages)
        return pages + [file for file in self._snippets if file.name in text]


def matching(root: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """The files that match these patterns, without what Python keeps for itself."""
    for pattern in patterns:
        for file in sorted(root.glob(pattern)):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file
