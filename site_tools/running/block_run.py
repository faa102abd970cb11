"""One block of a page, run where it stands: what it printed, and how it ended."""

import builtins
import dis
import doctest
import io
import linecache
import os
from collections.abc import Callable
from contextlib import redirect_stdout
from types import CodeType
from typing import Any

from site_tools.running import plots
from site_tools.running.failures import failure, file_name
from site_tools.running.model import Failure, Result, Source

LARGEST_OUTPUT = 100_000


class _Output(io.StringIO):
    def write(self, text: str) -> int:
        if self.tell() + len(text) > LARGEST_OUTPUT:
            raise RuntimeError(f"the block prints over {LARGEST_OUTPUT:,} characters")
        return super().write(text)


def run_block(
    source: Source,
    number: int,
    namespace: dict[str, Any],
    past: int,
    draws: bool = False,
) -> Result:
    """Run a block in a namespace, and say what it printed and how it ended.

    Args:
        source: The block.
        number: Its place on the page, for the lines of a failure.
        namespace: The names it finds and leaves.
        past: The file that takes what is written past ``sys.stdout``.
        draws: Whether to look for plots.
    """
    run = _run_session if source.session else _run_script
    take = plots.take if draws else tuple
    return _watched(lambda: run(source.text, number, namespace), past, take)


def run_copy(text: str, number: int, namespace: dict[str, Any], past: int) -> Result:
    """Run what a reader copies from a block, as a script of its own.

    Args:
        text: The code.
        number: The place of the block on its page.
        namespace: A fresh one.
        past: The file that takes what is written past ``sys.stdout``.

    Returns:
        As ``run_block``; a failure also if a function in it reads a name that is
        missing, whether or not it is called.
    """

    def run() -> None:
        _run_script(text, number, namespace)
        known = namespace.keys() | vars(builtins).keys()
        for name in sorted(_global_names(compile(text, "", "exec")) - known):
            raise NameError(f"name {name!r} is not defined")

    return _watched(run, past)


def _global_names(code: CodeType) -> set[str]:
    """What the functions of some code read from outside themselves."""
    loads = (
        step for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"
    )
    names = {step.argval for step in loads}
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return names.union(*map(_global_names, inner))


def _watched(
    run: Callable[[], None],
    past: int,
    take: Callable[[], tuple[tuple[str, str], ...]] = tuple,
) -> Result:
    output = _Output()
    os.truncate(past, 0)
    try:
        with redirect_stdout(output):
            try:
                run()
            finally:  # what a block leaves open is not the next one's
                drawn = take()
        if os.fstat(past).st_size:
            raise RuntimeError("the block writes to the terminal past print()")
    except BaseException as error:
        return Result(output.getvalue(), failure(error))
    return Result(output.getvalue(), plots=drawn)


def _run_script(text: str, number: int, namespace: dict[str, Any]) -> None:
    name = file_name(number)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), namespace)


def _run_session(text: str, number: int, namespace: dict[str, Any]) -> None:
    pieces = doctest.DocTestParser().parse(text)
    examples = [piece for piece in pieces if isinstance(piece, doctest.Example)]
    loose = [p.strip() for p in pieces if isinstance(p, str) and p.strip()]
    if loose or not examples:
        raise ValueError(f"neither >>> nor printed by it: {(loose or [text])[0]!r}")
    for example in examples:
        shown = io.StringIO()
        padded = "\n" * example.lineno + example.source
        with redirect_stdout(shown):
            exec(compile(padded, file_name(number), "single"), namespace)
        if shown.getvalue() != example.want:
            raise AssertionError(
                f"line {example.lineno + 1} of the session: {example.source.strip()}\n"
                f"shown on the page:\n{example.want}printed now:\n{shown.getvalue()}"
            )


def evaluate(expression: str, namespace: dict[str, Any]) -> int | float | Failure:
    """The number that an expression gives, or why it gives none."""
    try:
        value = eval(expression, namespace)
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, bool) or not isinstance(value, int | float):
            kind = type(value).__name__
            raise TypeError(f"the expression must give one number, got {kind}")
        return value
    except BaseException as error:
        return failure(error)
