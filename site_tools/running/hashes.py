"""Hashes of code: what a verification or a stored run rests on."""

import ast
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from site_tools.ledger import digest
from site_tools.page.blocks import Block

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
            hashes[block.fence.line] = above = digest(json.dumps(covered))
    return hashes


def package_hash(folder: Path) -> str:
    """One hash of all modules and stored runs in the folder of a package."""
    runs = sorted(folder.rglob("*.jsonl"))
    return code_hash(folder, [*sorted(folder.rglob("*.py")), *runs])


def code_hash(root: Path, files: Iterable[Path]) -> str:
    """One hash of files and their paths below a folder.

    Docstrings and comments of modules do not count.
    """
    texts = {path: path.read_text("utf-8") for path in files}
    covered = {
        path.relative_to(root).as_posix(): _code(text) if path.suffix == ".py" else text
        for path, text in texts.items()
    }
    return digest(json.dumps(covered))


@lru_cache(maxsize=256)  # a live server asks at every build
def _code(source: str) -> Any:
    try:
        return _plain(ast.parse(source))
    except SyntaxError:  # half an edit
        return source


def _plain(node: Any) -> Any:
    """A syntax tree as lists, without lines, columns and docstrings.

    What is empty is left out, since newer Pythons add fields.
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
