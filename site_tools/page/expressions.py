"""What a figure may be bound to: an expression over the names of the page's blocks."""

import ast
import builtins


def check_expression(expression: str) -> None:
    """Refuse an expression that is wrong, constant, or decides its own value.

    Raises:
        ValueError: saying what must hold.

    Example:
        >>> check_expression("0.651")
        Traceback (most recent call last):
        ValueError: data-is must use a name that a block of the page defines, got 0.651
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(
            f"data-is must be an expression, got {expression}: {error.msg}"
        ) from None
    nodes = list(ast.walk(tree))
    if any(isinstance(node, ast.NamedExpr | ast.IfExp | ast.Lambda) for node in nodes):
        raise ValueError(
            f"data-is must be a plain expression without := or if, got {expression}"
        )
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if not names - set(dir(builtins)):
        raise ValueError(
            "data-is must use a name that a block of the page defines, "
            f"got {expression}"
        )
