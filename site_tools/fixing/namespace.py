"""Which numbers a page's blocks leave behind, and the expressions that give them.

A further block, which no page has, walks the names where the page ends and prints
each number that a figure could show.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from site_tools import numbers
from site_tools.page.attributes import parse
from site_tools.page.blocks import Block, Kind
from site_tools.page.expressions import check_expression
from site_tools.page.fences import Fence
from site_tools.page.includes import Line
from site_tools.page.page import Page
from site_tools.running.verdict import Verified

# Runs in the child of the page, which has nothing of site_tools but what runs it.
PROBE = """
def _numbers_of_the_page(space, bounds):
    from itertools import product
    from json import dumps

    def walk(name, value, depth):
        kind = type(value)
        if kind in (int, float):
            yield name, value
        elif hasattr(value, "tolist") and hasattr(value, "shape"):
            shape = tuple(value.shape)
            if not shape:
                yield from walk(name, value.tolist(), depth + 1)
            elif len(shape) < 4:
                for at in list(product(*map(range, shape)))[:4096]:
                    place = ", ".join(map(str, at))
                    yield from walk(f"{name}[{place}]", value[at].tolist(), depth + 1)
        elif depth < 3:
            fields = getattr(value, "_fields", None)
            fields = fields or getattr(value, "__dataclass_fields__", ())
            parts = [(f"{name}.{f}", getattr(value, f)) for f in fields]
            if not fields and kind in (list, tuple):
                parts = [(f"{name}[{n}]", part) for n, part in enumerate(value[:999])]
            elif kind is dict:
                parts = [(f"{name}[{key!r}]", part) for key, part in value.items()]
            for inner, part in parts:
                yield from walk(inner, part, depth + 1)

    found = []
    for name, value in list(space.items()):
        if name[0] != "_" and not isinstance(value, type):
            for inner, number in walk(name, value, 0):
                if any(low <= number <= high for low, high in bounds):
                    found.append([inner, number])
    print(dumps(found[:999]))

_numbers_of_the_page(globals(), BOUNDS)
"""


def probing(page: Page, shown: Iterable[str]) -> Page:
    """The page with a block at its end that prints what may give these figures.

    Args:
        page: The page.
        shown: The figures, as they stand in the text.
    """
    code = PROBE.replace("BOUNDS", repr([_bounds(text) for text in shown]))
    texts = tuple(code.strip().split("\n"))
    at = page.text.count("\n") + 1
    fence = Fence(at, "{ .python .cont }", texts)
    lines = tuple(Line(text, at) for text in texts)
    block = Block(fence, Kind.RUN, frozenset({"cont"}), lines)
    return replace(page, blocks=(*page.blocks, block))


def candidates(verified: Verified, shown: Sequence[str]) -> dict[str, list[str]]:
    """For each figure the expressions that give it to its last digit.

    Args:
        verified: A page of ``probing`` that has run.
        shown: The same figures.
    """
    result = verified.run.results[len(verified.running) - 1]
    if result.failure or not result.printed.startswith("["):
        return {text: [] for text in shown}
    found = json.loads(result.printed)
    return {
        text: sorted({name for name, value in found if gives(name, value, text)})
        for text in shown
    }


def gives(expression: str, value: int | float, shown: str) -> bool:
    """Whether an expression may be bound to a figure, and its value is what is shown.

    Example:
        >>> gives("gae_lambda", 0.95, "0.95"), gives("a[0][1]", 0.95, "0.95")
        (True, False)
    """
    try:
        check_expression(expression)
        alone = parse(f'data-is="{expression}"').values == {"data-is": expression}
        return alone and "][" not in expression and numbers.agrees(shown, value)
    except ValueError:
        return False


def _bounds(shown: str) -> tuple[float, float]:
    number, unit = numbers.read(shown)
    return float(number - unit), float(number + unit)
