"""Hashes of what a verification rests on: the blocks of a page, and the package."""

import ast
import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from site_tools.page.blocks import Block

DIGITS = 16
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def block_hashes(blocks: Sequence[Block]) -> dict[int, str]:
    """A hash for each running block of a page, by the line of its fence.

    It covers the block's code, classes and stated output, and all blocks above it,
    whose names it may use; not its line, and not the prose around it.
    """
    hashes: dict[int, str] = {}
    above = ""
    for block in blocks:
        if block.runs:
            classes = sorted(block.classes)
            covered = [above, block.kind.name, classes, block.text, block.expects]
            hashes[block.fence.line] = above = _digest(json.dumps(covered))
    return hashes


def package_hash(folder: Path) -> str:
    """One hash of all modules and stored runs of a package.

    Args:
        folder: The folder of the package.
    """
    runs = sorted(folder.rglob("*.jsonl"))
    return code_hash(folder, [*sorted(folder.rglob("*.py")), *runs])


def code_hash(root: Path, files: Iterable[Path]) -> str:
    """One hash of these files, of modules without their docstrings and comments.

    Args:
        root: A folder; the files' paths below it count too.
        files: Modules and data.
    """
    texts = {path: path.read_text("utf-8") for path in files}
    covered = {
        path.relative_to(root).as_posix(): _code(text) if path.suffix == ".py" else text
        for path, text in texts.items()
    }
    return _digest(json.dumps(covered))


@lru_cache(maxsize=256)  # a live server asks at every build
def _code(source: str) -> Any:
    try:
        return _plain(ast.parse(source))
    except SyntaxError:  # half an edit
        return source


def _plain(node: Any) -> Any:
    """A syntax tree as lists; what is empty is left out, as newer Pythons add fields.

    Lines, columns and docstrings are left out too.
    """
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, DOCUMENTED) and (
        ast.get_docstring(node, clean=False) is not None
    ):
        fields["body"] = fields["body"][1:]
    filled = {name: value for name, value in fields.items() if value not in (None, [])}
    return [type(node).__name__, *([k, _plain(v)] for k, v in filled.items())]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
