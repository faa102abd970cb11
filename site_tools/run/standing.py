"""Behind which copy a figure stands: one alone leaves all the names that it needs.

The same expression can then be evaluated in order and alone, and both values compared.
"""

import ast
import symtable
from collections.abc import Iterable, Sequence
from contextlib import suppress

from site_tools.source.blocks import Copy


def places(copies: Sequence[Copy], expressions: Iterable[str]) -> list[int | None]:
    """Of each expression the number of a copy; None where no copy has all its names."""
    bound = [_bound_by(copy) for copy in copies]
    found = []
    for expression in expressions:
        needed = set[int]()
        for name in _names_needed(expression):
            needed.update(_last_binder(name, bound))
        found.append(_last_copy_of(needed, copies))
    return found


def _bound_by(copy: Copy) -> set[str]:
    """The names that a block leaves behind; none if it is meant to fail."""
    if copy.block.raises:
        return set()
    with suppress(SyntaxError):
        table = symtable.symtable(copy.block.text, "block", "exec")
        symbols = table.get_symbols()
        return {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    return set()


def _names_needed(expression: str) -> set[str]:
    with suppress(SyntaxError):
        nodes = ast.walk(ast.parse(expression, mode="eval"))
        return {node.id for node in nodes if isinstance(node, ast.Name)}
    return set()


def _last_binder(name: str, bound: Sequence[set[str]]) -> list[int]:
    """The block whose value of a name holds at the end of the page, if any has one."""
    binders = [number for number, names in enumerate(bound) if name in names]
    return binders[-1:]


def _last_copy_of(needed: set[int], copies: Sequence[Copy]) -> int | None:
    """The last copy that these blocks are in, and that does not fail."""
    blocks = [copy.block for copy in copies]
    for number in reversed(range(len(copies))):
        chain = [blocks.index(block) for block in copies[number].chain]
        if needed and needed <= set(chain) and not blocks[number].raises:
            return number
    return None
