"""What a figure may be bound to: an expression over the names of the page's blocks."""

import ast
import builtins
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
    if any(map(_takes_no_part, nodes)) or _holds_itself(nodes, shown):
        raise Refusal("binding_idle", text=expression)


def _takes_no_part(node: ast.AST) -> bool:
    """Whether it multiplies by 0."""
    match node:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return any(
                isinstance(n, ast.Constant) and not n.value for n in (left, right)
            )
    return False


def _holds_itself(nodes: list[ast.AST], shown: str) -> bool:
    """Whether the figure is written into its expression.

    A whole number may: as a place, a factor or a dimension. Not where it is added, or
    one of those of which the largest is taken.
    """
    try:
        number = numbers.read(shown.split("=")[-1])[0]
    except ValueError:
        return False
    if number.denominator == 1:
        nodes = [part for node in nodes for part in _compared(node)]
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    own = {abs(number), abs(number) * 100}
    return any(
        Fraction(str(value)) in own
        for value in values
        if isinstance(value, int | float) and value
    )


def _compared(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
            return [left, right]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args):
            return args if name in EXTREMES else []
    return []
