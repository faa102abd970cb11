"""Changes of a block's code, one at a time, and which assertions each makes fail.

An assertion proves something if it fails once the code is wrong. A change is one
number, operator, sign or comparison of the code that leads to it, or a call that is
left out. In the changed code each assertion says that it fails, in place of ending the
block, so that one run tells of all of them.
"""

import ast
import random
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
SAMENESS = ("equal", "allclose", "isclose")  # calls that compare two things
# Parts of an assertion whose change would prove nothing of the code.
TESTS = (ast.Compare, ast.BoolOp, ast.Attribute, ast.Name, ast.Call)
FAILS = "~ fails: "  # printed by an assertion in place of ending the block
REACHED = "~ reached: "  # printed in place of an assertion


@dataclass(frozen=True)
class Slip:
    """One change of a code: where, the words there, and the whole code with it."""

    line: int
    was: str
    now: str
    text: str


class _Change(NamedTuple):
    """Another value of a field of a node, and the words that it stands for."""

    node: ast.AST
    field: str
    value: object
    was: ast.AST  # the node itself, or the part of it that the value leaves out
    now: ast.AST


class ChangedCode:
    """A code whose assertions tell that they fail, and that can be changed."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)
        kept = _kept(tree)
        nodes = list(ast.walk(tree))
        claims = [node for node in nodes if isinstance(node, ast.Assert)]
        self.claims = sorted(claims, key=_line)
        self._changes: list[_Change] = []
        for node in nodes:
            if id(node) not in kept:
                self._changes += _slips(node)
            self._changes += _left_out(node, kept)
        self._differences = [_made_the_same(claim.test) for claim in self.claims]
        numbers = {id(claim): place for place, claim in enumerate(self.claims)}
        self._tree = _Telling(numbers).visit(tree)
        ast.fix_missing_locations(self._tree)

    @property
    def text(self) -> str:
        """The code with nothing changed but its assertions."""
        return ast.unparse(self._tree) + "\n"

    def changes(self, claim: int) -> Iterator[Slip]:
        """The changes before the end of an assertion: the nearest, and one anywhere.

        They take turns: what an assertion compares may be defined at the very top. A
        claim that two things differ is first asked of one thing and itself.
        """
        if same := self._differences[claim]:
            yield self._with(same)
        last = self.claims[claim].end_lineno or 0
        near = [change for change in self._changes if _line(change.was) <= last]
        near.sort(key=lambda change: (_is_text(change.was), -_line(change.was)))
        far = list(near)
        random.Random(claim).shuffle(far)  # the same each time
        far.sort(key=lambda change: _is_text(change.was))  # names that a call asks for
        seen: set[str] = set()
        for pair in zip(near, far, strict=True):
            for change in pair:
                slip = self._with(change)
                if slip.text not in seen:
                    seen.add(slip.text)
                    yield slip

    def _with(self, change: _Change) -> Slip:
        """The code with one change."""
        was, old = ast.unparse(change.was), getattr(change.node, change.field)
        setattr(change.node, change.field, change.value)
        try:
            return Slip(_line(change.was), was, ast.unparse(change.now), self.text)
        finally:
            setattr(change.node, change.field, old)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno"))  # noqa: B009  a node of any kind may have none


def _slips(node: ast.AST) -> Iterator[_Change]:
    """Slips that could stand in a node."""
    for field, value in _others(node):
        yield _Change(node, field, value, node, node)


def _others(node: ast.AST) -> Iterator[tuple[str, object]]:
    """The fields of a node that a slip could change, each with its other value."""
    if isinstance(node, ast.Constant):
        for value in _other_values(node.value):
            yield "value", value
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        if type(node.op) in OPERATORS:
            yield "op", OPERATORS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "op", ast.UAdd()
    elif isinstance(node, ast.BoolOp):
        yield "op", ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Compare):
        yield "ops", [OPPOSITES[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.Attribute) and node.attr in CALLS:
        yield "attr", CALLS[node.attr]
    elif isinstance(node, ast.Name) and node.id in ("max", "min"):
        yield "id", CALLS[node.id]


def _left_out(node: ast.AST, kept: Container[int]) -> Iterator[_Change]:
    """Leaves out a statement, a call or an inversion that a node holds.

    Of a call stays what a method was called on, or the one argument of a function: so a
    copy is left out, and a conversion.
    """
    if isinstance(node, ast.Expr):
        return  # whole statements are left out
    for field, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else [value]
        for place, part in enumerate(parts):
            stays = _stays(part)
            if stays is None or id(part) in kept:
                continue
            others = [*parts[:place], stays, *parts[place + 1 :]]
            other = others if isinstance(value, list) else stays
            yield _Change(node, field, other, part, stays)


def _stays(part: object) -> ast.AST | None:
    """The rest of a part that is left out; None if it cannot be."""
    if isinstance(part, ast.Expr):
        return ast.Pass()
    if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Invert):
        return part.operand
    if not isinstance(part, ast.Call) or part.keywords or len(part.args) > 1:
        return None
    if part.args:
        return part.args[0]
    return part.func.value if isinstance(part.func, ast.Attribute) else None


def _made_the_same(test: ast.expr) -> _Change | None:
    """A claim that two things differ, asked of one of them and itself."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[-1], ast.NotEq):
        one, other = [test.left, *test.comparators][-2:]
        return _Change(test, "comparators", [*test.comparators[:-1], one], other, one)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        for part in ast.walk(test.operand):
            if not isinstance(part, ast.Call) or not part.args:
                continue
            called = part.func
            if isinstance(called, ast.Attribute) and called.attr in SAMENESS:
                one, other = called.value, part.args[0]
                return _Change(part, "args", [one, *part.args[1:]], other, one)
    return None


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
                if isinstance(part, TESTS) or _is_not(part):
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


def _is_not(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


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
