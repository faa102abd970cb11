"""Files that a page names stay where they belong, also through symbolic links."""

import os
from collections.abc import Iterator
from pathlib import Path

from site_tools.problems import Problem, problem

FOLDERS = ("docs", "snippets")


def inside(path: Path, folder: Path) -> bool:
    """Whether a path leads to a place in a folder.

    Args:
        path: Of a file that may be missing.
        folder: The folder.

    Example:
        >>> inside(Path("/a/b/../c"), Path("/a")), inside(Path("/a/../c"), Path("/a"))
        (True, False)
    """
    return path.resolve().is_relative_to(folder.resolve())


def links(root: Path) -> list[Problem]:
    """A problem for each symbolic link among pages, data and snippets.

    Args:
        root: The project's folder.
    """
    found = sorted(path for name in FOLDERS for path in _links(root / name))
    return [link(path, path.relative_to(root).as_posix()) for path in found]


def link(path: Path, name: str) -> Problem:
    """The problem that a symbolic link is.

    Args:
        path: The link.
        name: What it is called in the project.
    """
    return problem(name, 1, "symbolic_link", to=os.readlink(path))


def _links(folder: Path) -> Iterator[Path]:
    for at, folders, files in os.walk(folder):
        yield from (p for n in (*folders, *files) if (p := Path(at, n)).is_symlink())
