"""A module without its bodies: what it offers, in signatures and docstrings."""

import ast

DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def stub(source: str) -> str:
    """The public names of a module, as Python.

    Args:
        source: The module.

    Example:
        >>> print(stub("import torch\\ndef kl(a, b=1):\\n  'How far.'\\n  return a"))
        def kl(a, b=1):
            \"\"\"How far.\"\"\"
    """
    tree = ast.parse(source)
    tree.body = _public(tree.body)
    return ast.unparse(tree)


def _public(body: list[ast.stmt]) -> list[ast.stmt]:
    return [_bare(part) for part in body if _is_public(part)]


def _is_public(part: ast.stmt) -> bool:
    match part:
        case ast.Expr(value=ast.Constant(value=str())):  # what it is all about
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return not name.startswith("_") and len(name) > 1  # no type variable
        case ast.AnnAssign(target=ast.Name(id=name)):
            return not name.startswith("_")
    return isinstance(part, DEFINED) and not part.name.startswith("_")


def _bare(part: ast.stmt) -> ast.stmt:
    if isinstance(part, ast.ClassDef):
        part.body = _public(part.body) or [ast.Expr(ast.Constant(...))]
    elif isinstance(part, DEFINED):
        told = part.body[:1] if ast.get_docstring(part) is not None else []
        part.body = told or [ast.Expr(ast.Constant(...))]
    return part
