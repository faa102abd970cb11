"""The sentences that site_tools can say, read from its code: values are ``{}``."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

# The call, and its arguments that are sentences.
PROBLEM = ("found", "expected", "fix")
CALLS = {
    "Problem": slice(2, 5),
    "_problem": slice(1, 4),
    "_Refusal": slice(0, 3),
    "Refused": slice(1, 4),
}
CONSTANTS = ("HELP", "EXAMPLES")
SAID = ("Refusal", "tell", "words", "ask", "ValueError")
ROW = slice(1, 4)
DYNAMIC = "{}"
# An example without a word of explanation.
COMMAND = re.compile(r'make \w+(?: [A-Z]+=(?:"[^"]*"|\S+))*')

Function = ast.FunctionDef | ast.Module


def sentences(source: str) -> set[str]:
    """Whatever a module hands to a problem, a refusal or the conversation."""
    tree = ast.parse(source)
    found: set[str] = set()
    for name, values in _assigned(tree.body).items():
        if name in CONSTANTS:
            texts = [text for value in values for text in _texts(value, {})]
            found |= {line for text in texts for line in text.split("\n")}
    for scope in _scopes(tree):
        known = {**_assigned(tree.body), **_assigned([*_own(scope)])}
        for node in _own(scope):
            for expression in _spoken(node):
                found |= set(_texts(expression, known))
    found = {text.strip().replace("{{}}", DYNAMIC) for text in found}
    found = {text for text in found if not COMMAND.fullmatch(text)}
    return {text for text in found if text.replace(DYNAMIC, "").strip(" :,;.()#`$")}


def of_folder(folder: Path) -> dict[str, set[str]]:
    """The sentences of each module in a folder."""
    files = sorted(folder.rglob("*.py"))
    return {str(f.relative_to(folder)): sentences(f.read_text("utf-8")) for f in files}


def _scopes(tree: ast.Module) -> Iterator[Function]:
    yield tree
    yield from (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))


def _own(scope: Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    waiting: list[ast.AST] = list(scope.body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef):
            yield node
            waiting += ast.iter_child_nodes(node)


def _assigned(nodes: list[ast.AST] | list[ast.stmt]) -> dict[str, list[ast.expr]]:
    """What each name may stand for: all that is assigned to it."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = [*zip(target.elts, node.value.elts, strict=True)]
            for name, value in pairs:
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, []).append(value)
    return found


def _spoken(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        yield from node.args[CALLS.get(name, slice(0))]
        named = node.keywords if name in CALLS else []
        yield from (keyword.value for keyword in named if keyword.arg in PROBLEM)
        if name in SAID:
            yield from node.args[:1]
    value = getattr(node, "value", None)
    if isinstance(value, ast.Tuple):
        if isinstance(node, ast.Yield) and len(value.elts) == 4:
            yield from value.elts[ROW]
        if isinstance(node, ast.Return) and len(value.elts) == 3:
            yield from value.elts


def _texts(node: ast.expr, known: dict[str, list[ast.expr]]) -> Iterator[str]:
    """The sentences that an expression can become, and those within them."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(
                str(p.value) if isinstance(p, ast.Constant) else DYNAMIC for p in parts
            )
            for part in parts:
                if isinstance(part, ast.FormattedValue):
                    yield from _inner(part.value, known)
        case ast.IfExp(body=first, orelse=second):
            yield from [*_texts(first, known), *_texts(second, known)]
        case ast.BoolOp(values=values):
            for value in values:
                yield from _texts(value, known)
        case ast.Name(id=name) if name in known:
            for value in known[name]:
                rest = {k: v for k, v in known.items() if k != name}
                yield from _texts(value, rest)
        case ast.Call(func=ast.Attribute(value=template, attr="format")):
            for text in _texts(template, known):
                yield _emptied(text)
        case ast.BinOp(left=left, right=right):
            for one in list(_texts(left, known)) or [DYNAMIC]:
                for two in list(_texts(right, known)) or [DYNAMIC]:
                    yield one + two


def _inner(node: ast.expr, known: dict[str, list[ast.expr]]) -> Iterator[str]:
    """Sentences among the values of one: either of two, or by a name."""
    if isinstance(node, ast.IfExp | ast.BoolOp | ast.Name):
        yield from (text for text in _texts(node, known) if " " in text.strip())


def _emptied(text: str) -> str:
    return re.sub(r"\{\w*\}", DYNAMIC, text)
