"""The code that a stored run rests on: of the package, no more than is imported."""

import ast
from collections.abc import Iterator
from pathlib import Path

from site_tools.running.hashes import code_hash

PACKAGE = "ppo_ref"


def closure_hash(root: Path, file: Path) -> str:
    """A hash of a file and all it imports of the package, docstrings left out.

    Args:
        root: The project's folder.
        file: Where the imports begin.
    """
    return code_hash(root, closure(root, file))


def closure(root: Path, file: Path) -> list[Path]:
    """A file and the modules of the package that it imports, and those they import.

    The ``__init__`` of a folder counts with what is imported from the folder.

    Args:
        root: The project's folder.
        file: Where the imports begin.
    """
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            names = _imported(ast.parse(path.read_text("utf-8")), path, root)
            waiting += [path for name in names for path in _files(root, name)]
    return sorted(found)


def _imported(tree: ast.Module, path: Path, root: Path) -> Iterator[str]:
    """Every dotted name that is imported, and each name imported from it."""
    own = path.relative_to(root).with_suffix("").parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = own[: -node.level] if node.level else ()
            stem = [*above, *filter(None, [node.module])]
            yield from (".".join([*stem, alias.name]) for alias in node.names)


def _files(root: Path, name: str) -> Iterator[Path]:
    """The modules of the package that importing a dotted name runs."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return
    for count in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:count])
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                yield path
