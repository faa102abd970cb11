"""The inside of the child process that runs one page.

Imported once by the fork server, so that a page does not pay for torch; torch
keeps to one thread, because a fork after a parallel operation hangs.
"""

import doctest
import importlib
import io
import linecache
import os
import pkgutil
import random
import traceback
import warnings
from contextlib import redirect_stdout
from multiprocessing.connection import Connection
from typing import Any

import numpy
import torch

import ppo_ref
from site_tools.running.execution import Failure, Result, Source

for module in pkgutil.iter_modules(ppo_ref.__path__, "ppo_ref."):
    importlib.import_module(module.name)
torch.set_num_threads(1)

LARGEST_OUTPUT = 100_000


class _Output(io.StringIO):
    def write(self, text: str) -> int:
        if self.tell() + len(text) > LARGEST_OUTPUT:
            raise RuntimeError(f"the block prints over {LARGEST_OUTPUT:,} characters")
        return super().write(text)


def serve(
    connection: Connection,
    sources: list[Source],
    expressions: list[str],
    seed: int,
    folder: str,
) -> None:
    """Run the blocks in order, then evaluate the expressions in what they left.

    Sends a ``Result`` per block and a number or a ``Failure`` per expression.

    Args:
        connection: Where the results go.
        sources: The blocks of the page.
        expressions: The expressions bound to figures.
        seed: Differs between the languages, so that a block that draws numbers
            without a seed of its own cannot match its output in both.
        folder: An empty working folder.
    """
    os.chdir(folder)
    warnings.simplefilter("error")
    page = _fresh(seed)
    for number, source in enumerate(sources):
        connection.send(_run_in_place(source, number, page, seed))
    for expression in expressions:
        connection.send(_evaluate(expression, page))


def _run_in_place(
    source: Source, number: int, page: dict[str, Any], seed: int
) -> Result:
    """Run a block as a reader who copies it would, and leave its names to the page.

    A block that continues the earlier ones is copied together with them; any other
    one alone. One that raises leaves nothing behind.
    """
    if source.raises:
        return _run(source, number, dict(page) if source.continues else _fresh(seed))
    if not source.continues and number > 0:
        alone = _run(source, number, _fresh(seed))
        together = _run(source, number, page)
        return together if together.failure and not alone.failure else alone
    return _run(source, number, page)


def _fresh(seed: int) -> dict[str, Any]:
    _seed(seed)
    return {"__name__": "__main__"}


def _seed(seed: int) -> None:
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)


def _run(source: Source, number: int, namespace: dict[str, Any]) -> Result:
    output = _Output()
    try:
        with redirect_stdout(output):
            run = _run_session if source.session else _run_script
            run(source.text, number, namespace)
    except BaseException as error:
        return Result(output.getvalue(), _failure(error))
    return Result(output.getvalue())


def _run_script(text: str, number: int, namespace: dict[str, Any]) -> None:
    name = _file_name(number)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), namespace)


def _run_session(text: str, number: int, namespace: dict[str, Any]) -> None:
    for example in doctest.DocTestParser().get_examples(text):
        shown = io.StringIO()
        padded = "\n" * example.lineno + example.source
        with redirect_stdout(shown):
            exec(compile(padded, _file_name(number), "single"), namespace)
        if shown.getvalue() != example.want:
            raise AssertionError(
                f"line {example.lineno + 1} of the session: {example.source.strip()}\n"
                f"shown on the page:\n{example.want}printed now:\n{shown.getvalue()}"
            )


def _file_name(number: int) -> str:
    return f"<block {number}>"


def _failure(error: BaseException) -> Failure:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [
        (int(frame.filename[7:-1]), frame.lineno or 1)
        for frame in frames
        if frame.filename.startswith("<block ")
    ]
    if isinstance(error, SyntaxError) and (error.filename or "").startswith("<block "):
        lines.append((int(str(error.filename)[7:-1]), error.lineno or 1))
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return Failure(type(error).__name__, message, tuple(lines))


def _evaluate(expression: str, namespace: dict[str, Any]) -> int | float | Failure:
    try:
        value = eval(expression, namespace)
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, bool) or not isinstance(value, int | float):
            kind = type(value).__name__
            raise TypeError(f"the expression must give one number, got {kind}")
        return value
    except BaseException as error:
        return _failure(error)
