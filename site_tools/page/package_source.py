"""A function of ``ppo_ref`` as it stands, with what it takes to run on its own."""

import ast
from pathlib import Path

from site_tools.say import Refusal

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 52  # what a phone shows of a line


def source(name: str, root: Path = ROOT) -> str:
    """A function with the imports and the private helpers of its module it needs.

    Docstrings are left out. What is public in its module is imported from there.

    Args:
        name: Dotted, as in ``ppo_ref.alignment.response_outputs``.
        root: The project's folder.

    Raises:
        Refusal: if there is no such function.

    Example:
        >>> print(source("ppo_ref.kernels.scan.token_places"))
        from torch import Tensor
        <BLANKLINE>
        def token_places(response_mask: Tensor) -> Tensor:
            counts = response_mask.long()
            return counts.cumsum(-1).mul_(counts)
    """
    module, _, function = name.strip().rpartition(".")
    file = root / f"{module.replace('.', '/')}.py"
    if not module.startswith("ppo_ref.") or not file.is_file():
        raise Refusal("package_source_form", name=name.strip())
    text = file.read_text("utf-8")
    tree = ast.parse(text)
    defined = _definitions(tree)
    if not isinstance(defined.get(function), ast.FunctionDef):
        raise Refusal("package_source_unknown", module=module, name=function)
    codes, imported, shown = dict[str, str](), set[str](), [function]
    for each in shown:
        codes[each] = _code(defined[each], text.splitlines())
        nodes = [*ast.walk(ast.parse(codes[each]))]
        own = {node.arg for node in nodes if isinstance(node, ast.arg)} | {*shown}
        read = {node.id for node in nodes if isinstance(node, ast.Name)} - own
        private = [n for n in sorted(read) if n.startswith("_") and n in defined]
        shown += private
        imported |= read - {*private}
    public = sorted(n for n in imported if n in defined and n not in shown)
    lines = [*_imports(tree, imported), *_import(f"from {module} ", public)]
    parts = ["\n".join(lines), *(codes[n] for n in defined if n in codes)]
    return "\n\n".join(filter(None, parts))


def _definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """What a module defines, by name and in order."""
    defined: dict[str, ast.stmt] = {}
    for node in tree.body:
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                defined[name] = node
    return defined


def _code(node: ast.stmt, lines: list[str]) -> str:
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    code = lines[start - 1 : node.end_lineno]
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
        docstring = node.body[0]
        first, last = docstring.lineno - start, (docstring.end_lineno or 0) - start
        code = code[:first] + code[last + 1 :]
    return "\n".join(code)


def _imports(tree: ast.Module, names: set[str]) -> list[str]:
    """The import lines of a module, cut down to these names."""
    lines = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = {a: a.asname or a.name.partition(".")[0] for a in node.names}
            used = [ast.unparse(alias) for alias in bound if bound[alias] in names]
            start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
            lines += _import(start, used)
    return lines


def _import(start: str, names: list[str]) -> list[str]:
    line = f"{start}import {', '.join(names)}"
    if not names or len(line) <= WIDTH or not start:
        return [line] if names else []
    return [f"{start}import (", *(f"    {name}," for name in names), ")"]
