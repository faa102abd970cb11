"""Which names a piece of code reads, and which it leaves behind.

By its text alone, and on the safe side: a name counts as read where it may be, and
as bound only where every way through the code binds it.
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
        changes: Whether it may change an object in place: it stores into one, calls
            something for its effect, or a method whose name says so.
    """

    reads: frozenset[str]
    later: frozenset[str]
    binds: frozenset[str]
    may_bind: frozenset[str]
    changes: bool


def bindings(code: str) -> Bindings:
    """Read the names of a module's worth of code.

    Raises:
        SyntaxError: if it is not Python.

    Example:
        >>> found = bindings("for t in range(n): s = t\\ndef f(): return g(s)")
        >>> sorted(found.reads), sorted(found.later), sorted(found.binds)
        (['n'], ['g', 's'], ['f'])
        >>> sorted(found.may_bind)
        ['f', 's', 't']
    """
    tree, table = ast.parse(code), symtable(code, "<code>", "exec")
    reader = _Reader()
    reader.visit(tree)
    symbols = [s for s in table.get_symbols() if s.is_assigned() or s.is_imported()]
    return Bindings(
        frozenset(reader.reads - BUILTINS),
        frozenset(set(_later(table)) - BUILTINS),
        frozenset(reader.bound),
        frozenset(symbol.get_name() for symbol in symbols),
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
        self.bound.add(node.asname or node.name.partition(".")[0])

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> None:
        if node.value:
            self.visit(node.value)
        self.generic_visit(node)

    visit_AnnAssign = visit_NamedExpr = visit_Assign

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        for name in ast.walk(node.target):
            if isinstance(name, ast.Name) and name.id not in self.bound:
                self.reads.add(name.id)
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


def _later(table: SymbolTable, called: bool = False) -> Iterator[str]:
    """Global names in functions; a comprehension outside them runs at once."""
    for child in table.get_children():
        function = str(child.get_type()) == "function"
        inside = called or (function and child.get_name() not in COMPREHENSIONS)
        if inside and function:
            symbols = child.get_symbols()
            globals_ = (s for s in symbols if s.is_global() and s.is_referenced())
            yield from (symbol.get_name() for symbol in globals_)
        yield from _later(child, inside)


def _changes(node: ast.AST) -> bool:
    match node:
        case (
            ast.Attribute(ctx=ast.Store() | ast.Del())
            | ast.Subscript(ctx=ast.Store() | ast.Del())
        ):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return False
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Global():
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name.endswith("_") and not name.endswith("__")
        case ast.keyword(arg="out"):
            return True
    return False
