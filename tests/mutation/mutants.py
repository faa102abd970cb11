"""The mutants of a module: cosmic-ray's operators, each wherever it applies."""

import difflib
import re
import warnings
from collections.abc import Hashable, Iterator
from types import CodeType

from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from tests.mutation.mutant import Mutant

# Left out, as they would only raise the score: on floats a shift or a bit is a
# TypeError, which any test that reaches the line notices.
LEFT_OUT = re.compile(
    r"ReplaceBinaryOperator_(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)"
    r"_(RShift|LShift|BitOr|BitAnd|BitXor)$"
)


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a module that is Python and does something else, each once."""
    nodes, seen = [*ast_nodes(get_ast(source))], {instructions(source)}
    for operator in operators():
        positions = sum(len([*operator.mutation_positions(node)]) for node in nodes)
        for occurrence in range(positions):
            text = mutate_code(source, operator, occurrence)
            told = instructions(text)
            if told is not None and told not in seen:
                seen.add(told)
                yield Mutant(*difference(source, text), text)


def operators() -> Iterator:
    """Those that need no arguments of ours, such as names of variables."""
    for name in plugins.operator_names():
        operator = plugins.get_operator(name)
        if not LEFT_OUT.search(name) and not operator.arguments():
            yield operator()


def instructions(text: str) -> Hashable | None:
    """What Python is told to do, or None by no Python.

    The annotation of a local variable is no part of it, as nobody ever looks at one.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "x is 1" is odd, and a mutant
            return _without_places(compile(text, "", "exec", dont_inherit=True))
    except SyntaxError:
        return None


def _without_places(code: CodeType) -> Hashable:
    constants = (
        _without_places(x) if isinstance(x, CodeType) else repr(x)
        for x in code.co_consts
    )
    names = code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars
    return code.co_code, *names, code.co_exceptiontable, *constants


def difference(old: str, new: str) -> tuple[int, str]:
    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    _, start, end, to, until = next(
        code for code in matcher.get_opcodes() if code[0] != "equal"
    )
    was = " ".join(line.strip() for line in before[start:end])
    now = " ".join(line.strip() for line in after[to:until])
    return start + 1, f"{was} -> {now}"
