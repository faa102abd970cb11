"""What a figure may be bound to: an expression over the names of the page's blocks."""

import ast
import builtins
from collections.abc import Iterator
from fractions import Fraction

from site_tools import numbers
from site_tools.say import Refusal

CHOICES = ast.NamedExpr | ast.IfExp | ast.Lambda | ast.BoolOp
EXTREMES = {"max", "min", "maximum", "minimum", "clamp", "clip"}


def check_expression(expression: str, shown: str = "") -> None:
    """Refuse an expression that is wrong, constant, or decides its own value.

    Args:
        expression: What stands in ``data-is``.
        shown: The figure bound to it, which may not stand in it.

    Raises:
        Refusal: saying what must hold.

    Example:
        >>> check_expression("truth * 0 + 0.98", "0.98")
        Traceback (most recent call last):
        site_tools.say.Refusal: data-is must give a value that its names decide, \
got truth * 0 + 0.98
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        raise Refusal("binding_syntax", text=expression, why=error.msg) from None
    nodes = list(ast.walk(tree))
    if any(isinstance(node, CHOICES) for node in nodes):
        raise Refusal("binding_choice", text=expression)
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if not names - set(dir(builtins)):
        raise Refusal("binding_constant", text=expression)
    if any(map(_takes_no_part, nodes)) or _holds_itself(tree, shown):
        raise Refusal("binding_idle", text=expression)


def _takes_no_part(node: ast.AST) -> bool:
    """Whether it multiplies by 0."""
    match node:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return any(
                isinstance(n, ast.Constant) and not n.value for n in (left, right)
            )
    return False


def _holds_itself(tree: ast.Expression, shown: str) -> bool:
    """Whether the figure is written into its expression.

    It may be a place, or the setting of a function of the page. A whole number may be
    a factor too, and not what is added or one of those of which the largest is taken.
    """
    try:
        number = abs(numbers.read(shown.split("=")[-1])[0])
    except ValueError:
        return False
    own = {number, number * 100} if shown.endswith("%") else {number}
    parts: list[ast.AST] = [tree]
    if number.denominator == 1:
        parts = [part for node in ast.walk(tree) for part in _compared(node)]
    values = (value for part in parts for value in _literals(part))
    return any(Fraction(str(value)) in own for value in values if value)


def _literals(node: ast.AST) -> Iterator[float]:
    match node:
        case ast.Constant(value=int() | float() as value):
            yield value
        case ast.Subscript(value=inner):
            yield from _literals(inner)
        case ast.Call(func=function, args=args):
            yield from _literals(function)
            if _is_library(function):
                yield from (value for arg in args for value in _literals(arg))
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _literals(child)


def _is_library(function: ast.AST) -> bool:
    """Whether what is called is Python's or PyTorch's, and not of the page."""
    if isinstance(function, ast.Attribute) and function.attr in EXTREMES:
        return True
    while isinstance(function, ast.Attribute):
        function = function.value
    names = {"torch", "math", *dir(builtins)}
    return isinstance(function, ast.Name) and function.id in names


def _compared(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
            return [part for part in (left, right) if isinstance(part, ast.Constant)]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args):
            return args if name in EXTREMES else []
    return []
