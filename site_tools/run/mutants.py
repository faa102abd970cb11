"""Changes of a block's code, one at a time, and which assertions each makes fail.

An assertion proves something if it fails once the code is wrong. A change is one
number, operator, sign or comparison of the code that leads to it. In the changed code
each assertion says that it fails, in place of ending the block, so that one run tells
of all of them.
"""

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
# Calls that a slip puts in place of one another.
CALLS = {
    "exp": "log",
    "log": "exp",
    "sum": "mean",
    "mean": "sum",
    "max": "min",
    "min": "max",
    "argmax": "argmin",
    "cumsum": "cumprod",
    "softmax": "log_softmax",
    "log_softmax": "softmax",
    "abs": "neg",
    "square": "abs",
    "sqrt": "abs",
}
# Parts of an assertion whose change would prove nothing of the code.
TESTS = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Attribute, ast.Name)
FAILS = "~ fails: "  # printed by an assertion in place of ending the block
REACHED = "~ reached: "  # printed in place of an assertion


@dataclass(frozen=True)
class Slip:
    """One change of a code: where, the words there, and the whole code with it."""

    line: int
    was: str
    now: str
    text: str


class ChangedCode:
    """A code whose assertions tell that they fail, and that can be changed."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)
        kept = _kept(tree)
        nodes = list(ast.walk(tree))
        self._nodes = [node for node in nodes if id(node) not in kept]
        claims = [node for node in nodes if isinstance(node, ast.Assert)]
        self.claims = sorted(claims, key=_line)
        numbers = {id(claim): place for place, claim in enumerate(self.claims)}
        self._tree = _Telling(numbers).visit(tree)
        ast.fix_missing_locations(self._tree)

    @property
    def text(self) -> str:
        """The code with nothing changed but its assertions."""
        return ast.unparse(self._tree) + "\n"

    def changes(self, claim: int) -> Iterator[Slip]:
        """The changes before the end of an assertion: the nearest, and one anywhere.

        They take turns: what an assertion compares may be defined at the very top.
        """
        last = self.claims[claim].end_lineno or 0
        near: list[ast.AST] = []
        for node in self._nodes:
            if getattr(node, "lineno", last + 1) <= last:
                near.append(node)
        near.sort(key=lambda node: (_is_text(node), -_line(node)))
        far = list(near)
        random.Random(claim).shuffle(far)  # the same each time
        far.sort(key=_is_text)  # texts last: most are names that a call asks for
        seen: set[str] = set()
        for pair in zip(near, far, strict=True):
            for node in pair:
                for change in self._changes_of(node):
                    if change.text not in seen:
                        seen.add(change.text)
                        yield change

    def _changes_of(self, node: ast.AST) -> Iterator[Slip]:
        for field, other in _others(node):
            was, old = ast.unparse(node), getattr(node, field)
            setattr(node, field, other)
            try:
                yield Slip(_line(node), was, ast.unparse(node), self.text)
            finally:
                setattr(node, field, old)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno"))  # noqa: B009  a node of any kind may have none


def _others(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Slips that could stand in a node: the field, and its other value."""
    if isinstance(node, ast.Constant):
        for value in _other_values(node.value):
            yield "value", value
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        if type(node.op) in OPERATORS:
            yield "op", OPERATORS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.USub):
            yield "op", ast.UAdd()
    elif isinstance(node, ast.BoolOp):
        yield "op", ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Compare):
        yield "ops", [OPPOSITES[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.Attribute) and node.attr in CALLS:
        yield "attr", CALLS[node.attr]
    elif isinstance(node, ast.Name) and node.id in ("max", "min"):
        yield "id", CALLS[node.id]


def _other_values(value: object) -> Sequence[object]:
    """The numbers beside a number, the other truth, a longer text; or none."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [value + "~"]
    return [value + 1, value - 1] if isinstance(value, int | float) else []


class _Telling(ast.NodeTransformer):
    """Puts in place of each assertion that it tells its number where it fails."""

    def __init__(self, numbers: dict[int, int]) -> None:
        self._numbers = numbers

    def visit_Assert(self, node: ast.Assert) -> ast.If:
        tells = _telling(FAILS, self._numbers[id(node)])
        negated = ast.UnaryOp(ast.Not(), node.test)
        return ast.copy_location(ast.If(negated, tells, []), node)


def _telling(words: str, number: int) -> list[ast.stmt]:
    return ast.parse(f"print('\\n{words}{number}')").body


def reaching(text: str) -> str:
    """The code where an assertion tells that it is reached, and is not evaluated."""
    tree = ast.parse(text)
    claims = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    for number, claim in enumerate(sorted(claims, key=_line)):
        claim.test = _telling(REACHED, number)[0].value  # type: ignore[attr-defined]
        claim.test = ast.BoolOp(ast.Or(), [claim.test, ast.Constant(True)])
        claim.msg = None
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _kept(tree: ast.Module) -> set[int]:
    """The nodes that no change may touch, by identity.

    What is printed decides no assertion. To turn the comparison of an assertion, or to
    move the value that it is compared with, would prove nothing of the code.
    """
    kept: set[int] = set()
    for node in ast.walk(tree):
        whole: list[ast.AST] = []
        if isinstance(node, ast.Expr) and _decides_nothing(node.value):
            whole.append(node)
        elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation:
            whole.append(node.annotation)
        elif isinstance(node, ast.Assert):
            whole += [node.msg] if node.msg else []
            for part in ast.walk(node.test):
                if isinstance(part, TESTS):
                    kept.add(id(part))
                if isinstance(part, ast.Compare):
                    sides = [part.left, *part.comparators]
                    whole += [side for side in sides if _is_literal(side)]
        for root in whole:
            kept.update(id(part) for part in ast.walk(root))
    return kept


def _decides_nothing(node: ast.expr) -> bool:
    """True for a call of print and for a docstring."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "print"
    return isinstance(node, ast.Constant)


def _is_literal(node: ast.expr) -> bool:
    """True where nothing of the code is read."""
    return not any(isinstance(part, ast.Name) for part in ast.walk(node))


def telling(printed: str, words: str = FAILS) -> set[int]:
    """The numbers of the assertions that told of their failure, or with other words."""
    told = set()
    for line in printed.splitlines():
        if line.startswith(words):
            told.add(int(line.removeprefix(words)))
    return told
