"""Which names a piece of code reads, and which it leaves behind.

On the safe side: a name counts as read where it may be, as bound where it must be.
"""

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from symtable import SymbolTable, symtable

BUILTINS = frozenset(dir(builtins))
COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")


@dataclass(frozen=True)
class Bindings:
    """The names of a piece of code, those of Python itself left out.

    Args:
        reads: Read while it runs, before it has bound them.
        later: Read by its functions, whenever these are called.
        binds: Bound on every way through it.
        may_bind: Bound on some way.
        imports: What its import statements bind: module and name, by bound name.
        changes: Whether it may change an object in place.
    """

    reads: frozenset[str]
    later: frozenset[str]
    binds: frozenset[str]
    may_bind: frozenset[str]
    imports: dict[str, tuple[str | None, str]]
    changes: bool


def bindings(code: str) -> Bindings:
    """Read the names of a module's worth of code.

    Raises:
        SyntaxError: if it is not Python.

    Example:
        >>> found = bindings("for t in range(n): s = t\\ndef f(): return g(s)")
        >>> sorted(found.reads), sorted(found.later), sorted(found.binds)
        (['n'], ['g', 's'], ['f'])
    """
    tree, table = ast.parse(code), symtable(code, "<code>", "exec")
    reader = _Reader()
    reader.visit(tree)
    return Bindings(
        frozenset(reader.reads - BUILTINS),
        frozenset(set(_later(table)) - BUILTINS),
        frozenset(reader.bound),
        frozenset(s.get_name() for s in table.get_symbols() if s.is_assigned()),
        {
            _bound(alias): (getattr(node, "module", None), alias.name)
            for node in tree.body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        },
        any(map(_changes, ast.walk(tree))),
    )


class _Reader(ast.NodeVisitor):
    """Follows the code in the order in which it runs."""

    def __init__(self) -> None:
        self.reads: set[str] = set()
        self.bound: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.bound.add(node.id)
        elif node.id not in self.bound:
            self.reads.add(node.id)

    def visit_alias(self, node: ast.alias) -> None:
        self.bound.add(_bound(node))

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> None:
        if node.value:
            self.visit(node.value)
        self.generic_visit(node)

    visit_AnnAssign = visit_NamedExpr = visit_Assign

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id not in self.bound:
            self.reads.add(node.target.id)
        self.generic_visit(node)

    def visit_For(self, node: ast.AST) -> None:
        """What may be skipped or left half done binds nothing for certain."""
        if isinstance(node, ast.For | ast.AsyncFor):
            self.visit(node.iter)
        before = self.bound.copy()
        for generator in getattr(node, "generators", []):
            self.visit(generator)
        self.generic_visit(node)
        self.bound = before

    visit_AsyncFor = visit_While = visit_If = visit_IfExp = visit_BoolOp = visit_For
    visit_Try = visit_TryStar = visit_Match = visit_For
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_For

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_For(node)
        self.bound.add(node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Its body is another matter: it runs when it is called."""
        for part in (*node.decorator_list, node.args, node.returns):
            if part is not None:
                self.visit(part)
        self.bound.add(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _later(table: SymbolTable, called: bool = False) -> Iterator[str]:
    """Global names in functions; other comprehensions run at once."""
    for child in table.get_children():
        function = str(child.get_type()) == "function"
        inside = called or (function and child.get_name() not in COMPREHENSIONS)
        for name in child.get_symbols() if inside and function else ():
            if name.is_global() and name.is_referenced():
                yield name.get_name()
        yield from _later(child, inside)


def _changes(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(ctx=context) | ast.Subscript(ctx=context):
            return not isinstance(context, ast.Load)
        case ast.Expr(value=ast.Call(func=called)):
            return not (isinstance(called, ast.Name) and called.id == "print")
        case ast.Call(func=ast.Attribute(attr=name)):
            return name.endswith("_") and not name.endswith("__")
        case ast.AugAssign() | ast.Global() | ast.keyword(arg="out"):
            return True
    return False
