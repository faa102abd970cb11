"""The inside of the child process that runs one page.

Imported once by the fork server, so that a page does not pay for torch; torch
keeps to one thread, because a fork after a parallel operation hangs.
"""

import doctest
import importlib
import io
import linecache
import os
import pickle
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
    """Run each block alone, then all in order, then evaluate the expressions.

    Sends, per block, the ``Result`` of running it alone, or None if it continues the
    earlier ones; then that of running it after them, or None if it is only to raise;
    then, per expression, a number or a ``Failure``.

    Args:
        connection: Where the results go.
        sources: The blocks of the page.
        expressions: The expressions bound to figures.
        seed: Differs between the languages, so that a block that draws numbers
            without a seed of its own cannot match its output in both.
        folder: An empty working folder.
    """
    os.setsid()  # so that the parent can end the forks along with this process
    os.chdir(folder)
    warnings.simplefilter("error")
    past = _redirect(folder)
    for number, source in enumerate(sources):
        # A reader pastes into a fresh process; for the first block this one is.
        first = number == 0 and not source.raises
        alone = None
        if not source.continues and not first:
            alone = _apart(source, number, _fresh(seed), past)
        connection.send(alone)
    page = _fresh(seed)
    for number, source in enumerate(sources):
        together = None
        if source.continues or not source.raises:
            # One that raises leaves no name behind.
            names = dict(page) if source.raises else page
            together = _run(source, number, names, past)
        connection.send(together)
    for expression in expressions:
        connection.send(_evaluate(expression, page))


def _redirect(folder: str) -> int:
    """Send what is written past Python's ``sys.stdout`` to a file, and return it."""
    past = os.open(os.path.join(folder, "past.txt"), os.O_CREAT | os.O_RDWR)
    os.dup2(past, 1)
    os.dup2(past, 2)
    return past


def _apart(source: Source, number: int, namespace: dict[str, Any], past: int) -> Result:
    """Run a block in a fork of this process, and return what it did."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(_run(source, number, namespace, past), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        sent = pipe.read()
    os.waitpid(child, 0)
    if not sent:
        return Result("", Failure("ProcessEnded", "the block ended its process", ()))
    result: Result = pickle.loads(sent)
    return result


def _fresh(seed: int) -> dict[str, Any]:
    _seed(seed)
    return {"__name__": "__main__"}


def _seed(seed: int) -> None:
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)


def _run(source: Source, number: int, namespace: dict[str, Any], past: int) -> Result:
    output = _Output()
    os.truncate(past, 0)
    try:
        with redirect_stdout(output):
            run = _run_session if source.session else _run_script
            run(source.text, number, namespace)
        if os.fstat(past).st_size:
            raise RuntimeError("the block writes to the terminal past print()")
    except BaseException as error:
        return Result(output.getvalue(), _failure(error))
    return Result(output.getvalue())


def _run_script(text: str, number: int, namespace: dict[str, Any]) -> None:
    name = _file_name(number)
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
