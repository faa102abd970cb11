"""A function of ``ppo_ref`` as it stands, with what it takes to run on its own."""

import ast
from collections.abc import Mapping
from pathlib import Path

from site_tools.page.bindings import bindings

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 52  # what a phone shows of a line
Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


def source(body: str, values: Mapping[str, str], root: Path = ROOT) -> str:
    """A function with the imports and the private helpers of its module it needs.

    Docstrings are left out. What is public in its module is imported from there.

    Args:
        body: Dotted name, as in ``ppo_ref.alignment.response_outputs``.
        values: Attributes of the fence; none is known.
        root: The project's folder.

    Raises:
        ValueError: if there is no such function.

    Example:
        >>> print(source("ppo_ref.packing.token_places", {}))
        from torch import Tensor
        <BLANKLINE>
        def token_places(response_mask: Tensor) -> Tensor:
            counts = response_mask.long()
            return counts.cumsum(-1).mul_(counts)
    """
    module, _, name = body.strip().rpartition(".")
    file = root / f"{module.replace('.', '/')}.py"
    if not module.startswith("ppo_ref.") or not file.is_file():
        raise ValueError(f"source: must be ppo_ref.module.function, got {body.strip()}")
    text = file.read_text("utf-8")
    tree = ast.parse(text)
    definitions = _definitions(tree)
    if not isinstance(definitions.get(name), ast.FunctionDef):
        raise ValueError(f"source: {module} has no function {name}")
    codes, imported = {}, set[str]()
    missing = [name]
    for wanted in missing:
        codes[wanted] = _code(definitions[wanted], text.splitlines())
        found = bindings(codes[wanted])
        needed = sorted((found.reads | found.later) - {*missing})
        private = [n for n in needed if n.startswith("_") and n in definitions]
        missing += private
        imported |= {*needed} - {*private}
    imports = "\n".join(_imports(tree, imported, module, imported & {*definitions}))
    parts = [imports, *(codes[n] for n in definitions if n in codes)]
    return "\n\n".join(filter(None, parts))


def _definitions(tree: ast.Module) -> dict[str, Definition]:
    """What a module defines, by name and in order."""
    found: dict[str, Definition] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = node
            case ast.Assign(targets=[ast.Name(id=name)]):
                found[name] = node
            case ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = node
    return found


def _code(node: Definition, lines: list[str]) -> str:
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    code = lines[start - 1 : node.end_lineno]
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
        docstring = node.body[0]
        first, last = docstring.lineno - start, (docstring.end_lineno or 0) - start
        code = code[:first] + code[last + 1 :]
    return "\n".join(code)


def _imports(
    tree: ast.Module, names: set[str], module: str, public: set[str]
) -> list[str]:
    """The import lines of a module, cut down to these names, then its own."""
    lines = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = {a: a.asname or a.name.partition(".")[0] for a in node.names}
            used = [ast.unparse(alias) for alias in bound if bound[alias] in names]
            start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
            lines += _import(start, used)
    return lines + _import(f"from {module} ", sorted(public))


def _import(start: str, names: list[str]) -> list[str]:
    line = f"{start}import {', '.join(names)}"
    if not names or len(line) <= WIDTH or not start:
        return [line] if names else []
    return [f"{start}import (", *(f"    {name}," for name in names), ")"]
