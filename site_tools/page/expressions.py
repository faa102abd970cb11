"""The expression that a figure is bound to: refused if it could not but agree."""

import ast
import builtins
from fractions import Fraction

from site_tools import numbers
from site_tools.messages import Refusal

QUOTATION_MARKS = tuple("\"'“”‘’„«")  # before an expression, where none is closed
CHOICES = ast.NamedExpr | ast.IfExp | ast.Lambda | ast.BoolOp


def check_binding(shown: str, expression: str) -> None:
    """Refuse what is no number, or an expression that cannot be its value."""
    try:
        numbers.agrees(shown, 0)
    except ValueError as error:
        raise Refusal("binding_number", why=error) from None
    check_expression(expression, shown)


def check_expression(expression: str, shown: str = "") -> None:
    """Refuse an expression that is wrong, constant, or decides its own value."""
    values = {"text": expression, "shown": shown}
    if not expression.strip():
        raise Refusal("binding_empty", **values)
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        if expression.startswith(QUOTATION_MARKS):
            raise Refusal("binding_marks", **values) from None
        raise Refusal("binding_syntax", why=error.msg, **values) from None
    nodes = list(ast.walk(tree))
    if any(isinstance(node, CHOICES) for node in nodes):
        raise Refusal("binding_choice", **values)
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if not names - set(dir(builtins)):
        raise Refusal("binding_idle", **values)
    if _holds_itself(tree, shown):
        raise Refusal("binding_idle", **values)


def _holds_itself(tree: ast.Expression, shown: str) -> bool:
    """True if a decimal is written into its expression, but for places and settings."""
    try:
        number = abs(numbers.read_number(shown.split("=")[-1])[0])
    except ValueError:
        return False
    if number.denominator == 1:
        return False
    own = [number, number * 100] if shown.endswith("%") else [number]
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            if Fraction(str(node.value)) in own:
                return True
        elif not isinstance(node, ast.Call | ast.Subscript):
            waiting += ast.iter_child_nodes(node)
    return False
