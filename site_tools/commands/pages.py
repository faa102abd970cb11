"""The pages that a contributor names."""

import difflib
from pathlib import Path, PurePosixPath

from site_tools.commands.talk import Refusal
from site_tools.page.page import LANGUAGES

EXAMPLE = "alignment/value_before_token"
LONGEST = 200  # what comes behind is in the name of no file


def page_id(text: str) -> str:
    """topic/page, also where the path of a file was given.

    Raises:
        Refusal: where it leads out of the pages.

    Example:
        >>> page_id("docs/zh/gae/variance.md"), page_id("gae/variance")
        ('gae/variance', 'gae/variance')
    """
    path = PurePosixPath(text.strip()[:LONGEST])
    if path.is_absolute() or ".." in path.parts or "\\" in text:
        raise Refusal(
            f"A page must be like topic/page, without a leading / or .., got {text}"
        )
    if path.parts[:1] == ("docs",):
        path = PurePosixPath(*path.parts[2:])
    return str(path.with_suffix("") if path.suffix == ".md" else path)


def page_ids(root: Path) -> list[str]:
    """Every page that there is in either language."""
    found = set()
    for language in LANGUAGES:
        folder = root / "docs" / language
        files = folder.rglob("*.md")
        found |= {f.relative_to(folder).with_suffix("").as_posix() for f in files}
    return sorted(found)


def files_of(text: str, root: Path) -> list[str]:
    """The files of a page, relative to the project.

    Raises:
        Refusal: where there is none, with the nearest page.
    """
    page = page_id(text)
    files = [f"docs/{language}/{page}.md" for language in LANGUAGES]
    found = [file for file in files if (root / file).is_file()]
    if not found:
        nearest = difflib.get_close_matches(page, page_ids(root), n=1, cutoff=0)
        raise Refusal(f"No page {page}; the nearest is {(nearest or [EXAMPLE])[0]}")
    return found
