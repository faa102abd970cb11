"""Verify one page in each language it has: make check PAGE=topic/page."""

import difflib
import os
import pathlib
import sys

DOCS = pathlib.Path("docs")
LANGUAGES = ("zh", "en")


def page_id(text):
    """topic/page, also where a whole path was given."""
    path = pathlib.PurePosixPath(text.strip())
    if path.is_absolute() or ".." in path.parts:
        sys.exit(f"PAGE must be like topic/page, without a leading / or .., got {path}")
    if path.parts[:1] == ("docs",):
        path = pathlib.PurePosixPath(*path.parts[2:])
    return str(path.with_suffix("") if path.suffix == ".md" else path)


def all_pages():
    return sorted(
        {
            file.relative_to(DOCS / language).with_suffix("").as_posix()
            for language in LANGUAGES
            for file in (DOCS / language).rglob("*.md")
        }
    )


def files_of(text, command="check"):
    """The files of a page; SystemExit with the nearest page where there is none."""
    if not text.strip():
        sys.exit(
            f"No page given; as in: make {command} PAGE=alignment/value_before_token"
        )
    page = page_id(text)
    files = [DOCS / language / f"{page}.md" for language in LANGUAGES]
    found = [str(file) for file in files if file.is_file()]
    if not found:
        nearest = difflib.get_close_matches(page, all_pages(), n=1, cutoff=0)
        remedy = (
            f"; the nearest is: make {command} PAGE={nearest[0]}" if nearest else ""
        )
        sys.exit(f"No page {page} in docs/zh or docs/en{remedy}")
    return found


if __name__ == "__main__":
    files = files_of(os.environ.get("PAGE", ""))
    os.execv(sys.executable, [sys.executable, "-m", "pytest", "-q", *files])
