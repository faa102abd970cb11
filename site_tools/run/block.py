"""Inside the process that runs blocks: each is run, and what it did is written down."""

import ast
import errno
import hashlib
import importlib
import io
import linecache
import logging
import os
import random
import sys
import tempfile
import threading
import traceback
import typing
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import torch

from site_tools.confinement.confine import confine
from site_tools.confinement.guard import OutOfReach
from site_tools.confinement.limits import FILE_BYTES, MEMORY
from site_tools.messages import Message
from site_tools.run.clock import shift_clocks
from site_tools.run.results import End, Failure, Process, Result, Value, encode

PAST, PIPE = 1, 3  # the standard output, a file here; where the results go
PRINTED = 1 << 20  # letters that a block may print
BLOCK = "<block "  # begins the name of its file
FIRST_SEED = 720_000_000  # of blocks alone, in Chinese; no page would seed with these
IN_ORDER = 2  # added to the seed where blocks run in order
FONTS = Path(__file__).resolve().parents[2] / ".cache" / "matplotlib"
# Text stays text, in whatever font the reader has; equal runs give equal files.
SVG = {"svg.fonttype": "none", "svg.hashsalt": "ppo"}
NOTHING = dict.fromkeys(("Creator", "Date", "Format", "Type"))
RandomStates = dict[str, str]  # of each generator, a hash of where it is


class Fault(Exception):
    """A fault of a block that Python itself does not mind, and its name."""

    def __init__(self, type: str, key: str, /, **values: object) -> None:
        self.type, self.message = type, Message(key, values)
        super().__init__(str(self.message))


class Stdout(io.StringIO):
    """In place of ``sys.stdout``: what is printed, which has a limit."""

    fault: Fault | None = None

    def write(self, text: str) -> int:
        if self.tell() + len(text) > PRINTED:
            most = PRINTED >> 20
            self.fault = Fault("OutputLimit", "block_stopped_printing", most=most)
            raise self.fault
        return super().write(text)


class Stderr(io.TextIOBase):
    """In place of ``sys.stderr``: the first that writes there fails, at its line."""

    fault: Fault | None = None

    def write(self, text: str) -> int:
        if self.fault is None:
            self.fault = Fault("", "block_writes_stderr", text=text.strip()[:80])
            raise self.fault
        return len(text)


def run_confined(process: Process, folder: str, pipe: int) -> None:
    """Run blocks, confined, and write each result to a pipe.

    The blocks write in the folder alone, and every open file but the pipe is closed.
    The folder must be new: until it is confined, this process opens files in it with
    all the rights of whoever runs it, and a block could have left a link there.
    """
    page = process.page
    if process.elsewhere:
        shift_clocks()
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder, USER="block")  # no real name
    tempfile.tempdir = None
    warnings.simplefilter("error")
    if page.once:
        _prepare_plots()
    past = os.open("past.txt", os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND)
    os.remove("past.txt")
    for at in (1, 2):
        os.dup2(past, at)
    confine(folder, page.cuda)
    os.dup2(pipe, PIPE)
    os.closerange(PIPE + 1, os.sysconf("SC_OPEN_MAX"))
    for outcome in _outcomes(process):
        line = encode(outcome)
        while line:
            line = line[os.write(PIPE, line) :]


def _outcomes(process: Process) -> Iterator[Result | Value | End | None]:
    """The results of a process, of the kinds that it promises."""
    page = process.page
    alone = process.chain is not None
    _set_seed(page.seed if alone else page.seed + IN_ORDER)
    begun = _random_states()
    if alone:
        yield from _alone(process, begun)
    else:
        if page.once:
            yield None
        yield from _in_order(process, begun)
    yield End(drew=page.cuda or _random_states() != begun)


def _alone(process: Process, begun: RandomStates) -> Iterator[Result | Value]:
    """Run the copy of each block; what has run for the one before is not run again."""
    page = process.page
    names, printed, ran = _new_names(), "", 0
    result = Result("")
    for number in process.chain or ():
        source = page.sources[number]
        if not result.failure:
            code = source.copied or source.text
            result = _observed(partial(_run_script, code, number, names, ran))
            printed += result.printed
            ran = 0 if result.failure else len(ast.parse(code).body)
        yield Result(printed, result.failure, draws=_draws(begun))
        for expression in page.behind(number):
            yield evaluate(expression, names)


def _in_order(process: Process, begun: RandomStates) -> Iterator[Result | Value | None]:
    """Each block after those above, None if it only runs alone; each expression."""
    page, names = process.page, _new_names()
    for number, source in enumerate(page.sources):
        result = None
        if source.runs_in_order:
            # One that raises leaves no name behind.
            own = dict(names) if source.raises else names
            run = partial(_run_script, source.text, number, own)
            result = _observed(run, has_plots=page.once)
            result = replace(result, draws=_draws(begun))
        yield result
    for expression in page.expressions:
        yield evaluate(expression, names)
    for number in page.failing():
        _set_seed(page.seed + IN_ORDER)
        run = partial(_run_script, page.sources[number].text, number, _new_names())
        yield replace(_observed(run), draws=_draws(begun))


def _new_names() -> dict[str, Any]:
    return {"__name__": "__main__"}


def _set_seed(seed: int) -> None:
    random.seed(FIRST_SEED + seed)
    numpy.random.seed(FIRST_SEED + seed)
    torch.manual_seed(FIRST_SEED + seed)


def _random_states() -> RandomStates:
    """Where the generators of random numbers are that code uses without naming one."""
    _, keys, *rest = typing.cast(tuple[Any, ...], numpy.random.get_state())
    return {
        "torch": _hash(torch.get_rng_state().numpy().tobytes()),
        "random": _hash(repr(random.getstate()).encode()),
        "numpy": _hash(keys.tobytes() + repr(rest).encode()),
    }


def _hash(state: bytes) -> str:
    return hashlib.sha256(state).hexdigest()


def _draws(begun: RandomStates) -> RandomStates:
    """The generators that are not where they were, each with where it is."""
    now = _random_states()
    return {name: at for name, at in now.items() if at != begun[name]}


def evaluate(expression: str, names: dict[str, Any]) -> Value:
    """The number that an expression gives, or why it gives none."""
    try:
        value = eval(expression, names)
        if hasattr(value, "item"):
            if (count := torch.as_tensor(value).numel()) != 1:
                raise Fault("TypeError", "value_several", count=count)
            value = value.item()
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Fault("TypeError", "value_not_number", got=type(value).__name__)
        return value
    except BaseException as error:
        return _failure(error)


def _observed(run: Callable[[], None], has_plots: bool = False) -> Result:
    """Run code: what it prints, its plots, and its failure, if it fails."""
    output, stderr, plots = Stdout(), Stderr(), tuple[tuple[str, str], ...]()
    # What Python only reports: a file that was not closed, the exception of a thread.
    ignored: list[Any] = []
    sys.unraisablehook = threading.excepthook = ignored.append
    os.truncate(PAST, 0)
    try:
        with redirect_stdout(output), redirect_stderr(stderr):
            try:
                run()
            finally:  # what a block leaves open is not the next one's
                plots = _plots() if has_plots else ()
        if ignored:
            raise ignored[0].exc_value
        if fault := output.fault or stderr.fault:  # caught by the block, or by logging
            raise fault
        if os.fstat(PAST).st_size:
            past = os.pread(PAST, 80, 0).decode(errors="replace").strip()
            raise Fault("", "block_writes_past_print", text=past)
    except BaseException as error:
        return Result(output.getvalue(), _failure(error))
    return Result(output.getvalue(), plots=plots)


def _run_script(text: str, number: int, names: dict[str, Any], ran: int = 0) -> None:
    name = f"{BLOCK}{number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    script = ast.parse(text, name)
    # What holds for all of a script is said again.
    kept: list[ast.stmt] = []
    for node in script.body[:ran]:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            kept.append(node)
    script.body[:ran] = kept
    exec(compile(script, name, "exec"), names)


def _failure(error: BaseException) -> Failure:
    """An exception, with the line of each block that it went through."""
    places: list[tuple[str, int | None]] = []
    for frame in traceback.extract_tb(error.__traceback__):
        places.append((frame.filename, frame.lineno))
    kind, message = type(error).__name__, str(error)
    said: str | Message = message
    guard = error if isinstance(error, OutOfReach) else error.__context__
    if isinstance(error, SyntaxError):
        places.append((str(error.filename), error.lineno))
        said = error.msg
    elif isinstance(error, Fault):
        kind, said = error.type, error.message
    elif isinstance(guard, OutOfReach) and str(guard) in message:
        kind = "PermissionError" if guard is error else kind
        said = guard.message
    elif isinstance(error, MemoryError) or "can't allocate memory" in message:
        kind, most = "MemoryLimit", MEMORY >> 30
        said = Message("block_needs_memory", {"most": most})
    elif isinstance(error, OSError) and error.errno == errno.EFBIG:
        kind, most = "FileLimit", FILE_BYTES >> 20
        said = Message("block_stopped_files", {"most": most})
    lines = []
    for file, line in places:
        if file.startswith(BLOCK):
            number = int(file.removeprefix(BLOCK).removesuffix(">"))
            lines.append((number, line or 1))
    compared = "" if message else _compared(error)
    return Failure(kind, said, tuple(lines), compared)


def _compared(error: BaseException) -> str:
    """The left side of the comparison of a bare assertion, with its value."""
    with suppress(Exception):
        *_, (frame, number) = traceback.walk_tb(error.__traceback__)
        line = linecache.getline(frame.f_code.co_filename, number).strip()
        claim: Any = ast.parse(line).body[0]
        left = claim.test.left
        calls = [node for node in ast.walk(left) if isinstance(node, ast.Call)]
        if all(getattr(call.func, "attr", "") == "item" for call in calls):
            value = eval(ast.unparse(left), frame.f_globals, frame.f_locals)
            return f"{ast.unparse(left)} = {' '.join(repr(value).split())[:60]}"
    return ""


def _prepare_plots() -> None:
    """Have matplotlib draw SVG, and say nothing while it looks for fonts.

    It is imported for notebooks alone, and before they are confined, since its list
    of fonts is out of their reach.
    """
    FONTS.mkdir(parents=True, exist_ok=True)
    os.environ["MPLCONFIGDIR"] = str(FONTS)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    import matplotlib

    matplotlib.use("svg")
    importlib.import_module("matplotlib.pyplot")
    # A reader's browser has a font for what this machine may lack.
    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    warnings.filterwarnings("ignore", message=".* is non-interactive")


def _plots() -> tuple[tuple[str, str], ...]:
    """The name and the SVG of each open figure, which are closed."""
    import matplotlib
    from matplotlib import pyplot

    try:
        drawn = []
        with matplotlib.rc_context(SVG):
            for number in pyplot.get_fignums():
                figure = pyplot.figure(number)
                drawn.append((str(figure.get_label()), _svg(figure)))
        return tuple(drawn)
    finally:
        pyplot.close("all")


def _svg(figure: Any) -> str:
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata=NOTHING)
    return drawn.getvalue()
