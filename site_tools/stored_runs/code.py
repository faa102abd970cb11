"""The hash of the code that runs are made from."""

import ast
import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from site_tools.ledger import digest

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_hash(root: Path, files: Iterable[Path]) -> str:
    """One hash of files and their paths below a folder, without docstrings."""
    covered: dict[str, Any] = {}
    for path in files:
        text = path.read_text("utf-8")
        name = path.relative_to(root).as_posix()
        covered[name] = _without_docstrings(text) if path.suffix == ".py" else text
    return digest(json.dumps(covered))


@lru_cache(maxsize=256)
def _without_docstrings(source: str) -> Any:
    try:
        return _as_lists(ast.parse(source))
    except SyntaxError:  # half an edit
        return source


def _as_lists(node: Any) -> Any:
    """A syntax tree as lists, without lines, docstrings, and fields that are empty."""
    # Newer Pythons add such fields.
    if isinstance(node, list):
        return [_as_lists(item) for item in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if (
        isinstance(node, DOCUMENTED)
        and ast.get_docstring(node, clean=False) is not None
    ):
        fields["body"] = node.body[1:]
    filled = {name: value for name, value in fields.items() if value not in (None, [])}
    return [type(node).__name__, *([k, _as_lists(v)] for k, v in filled.items())]
