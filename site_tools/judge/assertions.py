"""Assertions whose form alone shows that they cannot fail.

They are named without a run. Whether one with a sound form would notice a mistake in
the code, only a run of changed code could show.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from site_tools.messages import Message, Problems
from site_tools.page.page import Page
from site_tools.source.blocks import Block

# Exceptions among which that of an assertion is.
CAUGHT = ("AssertionError", "Exception", "BaseException")
TOO_WIDE = ("Exception", "BaseException")
# Questions that a tensor answers only when they are called.
QUESTIONS = ("all", "any", "allclose", "equal", "isfinite", "isnan")
COMPARISONS = ("allclose", "equal", "isclose", "array_equal", "assert_close")
TOLERANCES = ("atol", "rtol", "abs", "rel", "abs_tol", "rel_tol")
RELATIVE = ("rtol", "rel", "rel_tol")
WIDE_TOLERANCE = 0.5  # a relative tolerance that admits half as much again
NEVER_NEGATIVE = ("abs", "len", "square", "norm")
FORM = "assertion_forms"


def check_assertions(page: Page) -> Problems:
    """Assertions that hold, or fail, whatever the blocks compute."""
    used = _names_used(page.blocks)
    for block in page.blocks:
        if block.runs and block.nodes:
            yield from _check_block(page, block, used)


def _check_block(page: Page, block: Block, used: set[str]) -> Problems:
    tree = ast.parse(block.text)
    _empty_loops(tree)
    found = [*_idle(tree, used), *_uncalled(tree, used)]
    for node, form in sorted(found, key=lambda each: each[0].lineno):
        text, number, snippet = block.lines[node.lineno - 1]
        yield page.problem(
            number,
            "assertion_idle",
            snippet=snippet,
            text=text.strip(),
            why=Message(FORM, part=form),
        )


Found = tuple[ast.stmt | ast.expr, str]  # where, and by which form


def _empty_loops(tree: ast.Module) -> None:
    """Loop over ``[]`` itself where a name is bound to it and is only looped over."""
    nodes = [*ast.walk(tree)]
    loops = [node for node in nodes if isinstance(node, ast.For | ast.comprehension)]
    named = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    for node in nodes:
        if isinstance(node, ast.Assign) and _is_empty(node.value):
            name = _name_of(node.targets[0])
            over = [loop for loop in loops if _name_of(loop.iter) == name]
            if named[name] == len(over) + 1:
                for loop in over:
                    loop.iter = node.value


def _idle(tree: ast.Module, used: set[str]) -> Iterator[Found]:
    """The assertions that their own form or what stands around them decides."""
    functions = _functions(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            if form := _form_of(node.test, functions):
                yield node, form
        elif isinstance(node, ast.Call) and _name_of(node.func) == "raises":
            if node.args and _name_of(node.args[0]) in TOO_WIDE:
                yield node, "wide"
        elif isinstance(node, ast.Call) and _name_of(node.func) == "assert_close":
            if form := _form_of_call(node):
                yield node, form
        elif form := _form_around(node, used):
            for claim in _assertions_in(node):
                yield claim, form


def _assertions_in(node: ast.AST) -> list[ast.Assert]:
    """The assertions of the body of a statement, but not those of its other branch."""
    found: list[ast.Assert] = []
    for statement in getattr(node, "body", ()):
        found += [each for each in ast.walk(statement) if isinstance(each, ast.Assert)]
    return found


def _form_around(node: ast.AST, used: set[str]) -> str:
    """The form of a statement that keeps what is in it from failing, if it has one."""
    if isinstance(node, ast.Try):
        swallows = any(_swallows(handler, used) for handler in node.handlers)
        return "swallowed" if swallows else ""
    if isinstance(node, ast.With):
        suppressed = any(_suppresses(item.context_expr) for item in node.items)
        return "swallowed" if suppressed else ""
    if isinstance(node, ast.For) and _is_empty(node.iter):
        return "nothing"
    if isinstance(node, ast.If | ast.While) and _is_false(node.test):
        return "nothing"
    return ""


def _suppresses(context: ast.expr) -> bool:
    if not isinstance(context, ast.Call) or _name_of(context.func) != "suppress":
        return False
    return any(_name_of(kind) in CAUGHT for kind in context.args)


def _swallows(handler: ast.ExceptHandler, used: set[str]) -> bool:
    """True if a handler takes a failed assertion and does nothing about it."""
    kinds: Sequence[ast.expr | None] = [handler.type]
    if isinstance(handler.type, ast.Tuple):
        kinds = handler.type.elts
    if not any(kind is None or _name_of(kind) in CAUGHT for kind in kinds):
        return False
    return all(_does_nothing(statement, used) for statement in handler.body)


def _does_nothing(statement: ast.stmt, used: set[str]) -> bool:
    """True for what leaves nothing behind, such as a name that nobody reads."""
    if isinstance(statement, ast.Assign):
        return not any(_name_of(target) in used for target in statement.targets)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass | ast.Continue | ast.Break)


def _is_empty(node: ast.expr) -> bool:
    """True for what a loop finds nothing in, as ``[]`` or ``range(0)``."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, ast.Constant):
        return not node.value
    if isinstance(node, ast.Call):
        if _name_of(node.func) in ("enumerate", "reversed", "sorted", "zip"):
            return any(map(_is_empty, node.args))
        if _name_of(node.func) == "range" and len(node.args) == 1:
            return _number(node.args[0]) <= 0
    return False


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _form_of(test: ast.expr, functions: set[str]) -> str:
    """The form by which a test is decided before anything is computed, if it is."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        absent = getattr(test.operand, "func", None)  # not hasattr says something
        if _name_of(absent) == "hasattr":
            return ""
        return _form_of(test.operand, functions)
    if isinstance(test, ast.BoolOp):
        forms = [_form_of(value, functions) for value in test.values]
        if isinstance(test.op, ast.Or):
            return "otherwise" if any(forms) else ""
        return next(filter(None, forms), "")
    if isinstance(test, ast.Name | ast.Attribute | ast.Lambda):
        return _form_of_name(test, functions)
    if _is_written_out(test):
        return "decided"
    if isinstance(test, ast.Compare):
        return _form_of_comparison(test)
    if isinstance(test, ast.Call):
        return _form_of_call(test)
    return ""


def _form_of_name(test: ast.expr, functions: set[str]) -> str:
    """The form of a function that is asserted in place of what it gives."""
    if isinstance(test, ast.Lambda):
        return "function"
    named = isinstance(test, ast.Name) and test.id in functions
    asked = isinstance(test, ast.Attribute) and test.attr in QUESTIONS
    return "function" if named or asked else ""


def _is_written_out(test: ast.expr) -> bool:
    """True where nothing is computed: literals alone, or a tuple that is not empty."""
    if isinstance(test, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.JoinedStr):
        return True
    computing = ast.Name | ast.Call | ast.BinOp | ast.Attribute | ast.Subscript
    return not any(isinstance(node, computing) for node in ast.walk(test))


def _form_of_comparison(test: ast.Compare) -> str:
    """The form of a comparison that no value of its sides could change."""
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    if len(test.ops) > 1:
        return ""
    if _is_same(left, right):
        return "same"
    if isinstance(operator, ast.IsNot) and _is_none(right):
        return "thing"
    if isinstance(operator, ast.GtE) and _is_never_negative(left):
        return "sign" if _number(right) <= 0 else ""
    if isinstance(operator, ast.Gt) and _is_never_negative(left):
        return "sign" if _number(right) < 0 else ""
    if isinstance(operator, ast.LtE) and _is_never_negative(right):
        return "sign" if _number(left) <= 0 else ""
    return ""


def _form_of_call(test: ast.Call) -> str:
    """The form of a call that answers the same of whatever it is asked about."""
    name, arguments = _name_of(test.func), list(test.args)
    if name in ("isinstance", "hasattr"):
        return "thing"
    if name in ("all", "any", "bool") and len(arguments) == 1:
        return _form_of_all(arguments[0])
    if isinstance(test.func, ast.Attribute):
        owner = test.func.value
        if name in ("all", "any", "item"):
            return _form_of_all(owner)
        if len(arguments) == 1:  # a method; torch.equal and the like have two
            arguments.insert(0, owner)
    if name in COMPARISONS and len(arguments) > 1 and _is_same(*arguments[:2]):
        return "same"
    for keyword in test.keywords:
        if keyword.arg in TOLERANCES and _admits_all(keyword):
            return "tolerance"
    return ""


def _form_of_all(argument: ast.expr) -> str:
    """The form of ``all`` over a comparison, or over nothing."""
    if isinstance(argument, ast.Compare):
        return _form_of_comparison(argument)
    if isinstance(argument, ast.Call):
        return _form_of_call(argument)
    if isinstance(argument, ast.GeneratorExp | ast.ListComp):
        if _is_empty(argument.generators[0].iter):
            return "nothing"
        return _form_of(argument.elt, set())
    return "nothing" if _is_empty(argument) else ""


def _admits_all(tolerance: ast.keyword) -> bool:
    """True for a relative tolerance of half or more, and for one without a bound."""
    if ast.unparse(tolerance.value) in ("math.inf", "torch.inf", "float('inf')", "inf"):
        return True
    return tolerance.arg in RELATIVE and _number(tolerance.value) >= WIDE_TOLERANCE


def _is_same(left: ast.expr, right: ast.expr) -> bool:
    return ast.dump(left) == ast.dump(right)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_never_negative(node: ast.expr) -> bool:
    """True for a size, a distance or a square."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _number(node.right) == 2
    return isinstance(node, ast.Call) and _name_of(node.func) in NEVER_NEGATIVE


def _number(node: ast.expr) -> float:
    """A number as it is written; what is none is no number."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)  # type: ignore[arg-type]
    return float("nan")


def _name_of(node: ast.AST | None) -> str:
    """The last name of ``a.b.c``, or the name itself."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _functions(tree: ast.Module) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def _uncalled(tree: ast.Module, used: set[str]) -> Iterator[Found]:
    """The assertions of functions that nothing on the page mentions."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        if node.name not in used and not node.decorator_list:
            for claim in _assertions_in(node):
                yield claim, "uncalled"


def _names_used(blocks: Iterable[Block]) -> set[str]:
    """The names that the blocks of a page read."""
    used: set[str] = set()
    for block in blocks:
        for node in block.nodes if block.runs else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used.add(node.id)
    return used
