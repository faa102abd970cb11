"""Run a solution on batches, in a process of its own.

``python -I child.py SOLUTION FUNCTION FOLDER`` reads ``batches.pt`` there, and writes
``results.pt`` and then ``seconds.pt``. It is given a file of a learner, which may do
anything: what it writes is read as data alone.
"""

import contextlib
import importlib.util
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

MEMORY, FILES = 4 * 2**30, 2**26  # bytes
TRIES, LONG = 3, 2.0  # of the timing; what takes so many seconds is timed once
MOST = 300  # signs of a message


def main(solution: str, function: str, folder: str) -> None:
    """Load the solution, run it on each batch, then time it on the last."""
    _limit()
    there = Path(folder)
    batches, gradient = torch.load(there / "batches.pt", weights_only=True)
    sys.modules["ppo_ref"] = None  # type: ignore[assignment]  # it is the solution
    try:
        solve = getattr(load(solution), function, None)
        if solve is None:
            raise NameError(f"the file must define {function}")
    except (Exception, SystemExit) as error:
        torch.save({"failed": _told(error, solution)}, there / "results.pt")
        return
    *batches, large = batches
    results = [call(solve, batch, gradient, solution) for batch in batches]
    torch.save({"results": results}, there / "results.pt")
    torch.save(_seconds(solve, large), there / "seconds.pt")


def _limit() -> None:
    """Bound memory and files where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (FILES, FILES))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def load(path: str) -> Any:
    """The module that a file holds."""
    spec = importlib.util.spec_from_file_location("solution", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(
    solve: Callable[..., Any], batch: dict[str, Any], gradient: str, solution: str
) -> dict[str, Any]:
    """Call a function on one batch, and keep tensors and text of what came back."""
    given = {
        name: value.clone() if isinstance(value, Tensor) else value
        for name, value in batch.items()
    }
    if gradient:
        given[gradient].requires_grad_()
    before = {name: value for name, value in batch.items() if isinstance(value, Tensor)}
    try:
        result = solve(**given)
    except (Exception, SystemExit) as error:
        return {"failed": _told(error, solution)}
    changed = [
        name
        for name, value in before.items()
        if not torch.equal(given[name].detach(), value)
    ]
    parts = result if isinstance(result, tuple) else (result,)
    parts = tuple(
        torch.tensor(part) if isinstance(part, bool | int | float) else part
        for part in parts
    )
    for part in parts:
        if not isinstance(part, Tensor):
            return {"kind": type(result).__name__, "changed": changed}
        if part.is_complex() or part.layout != torch.strided:
            return {"kind": f"{part.dtype}, {part.layout}", "changed": changed}
    returned: dict[str, Any] = {"changed": changed}
    returned["values"] = [part.detach().clone() for part in parts]
    if gradient:
        returned["gradient"] = _gradient(given[gradient], parts)
    return returned


def _gradient(argument: Tensor, parts: tuple[Tensor, ...]) -> Tensor:
    """Of the sum of what came back; 0 where none comes through."""
    total = sum((part.double().sum() for part in parts), torch.zeros(()).double())
    if total.requires_grad:
        (gradient,) = torch.autograd.grad(total, argument, allow_unused=True)
        if gradient is not None:
            return gradient
    return torch.zeros_like(argument)


def _seconds(solve: Callable[..., Any], batch: dict[str, Any]) -> float:
    best = float("inf")
    for _ in range(TRIES):
        begin = time.perf_counter()
        solve(**batch)
        best = min(best, time.perf_counter() - begin)
        if best > LONG:
            break
    return best


def _told(error: BaseException, solution: str) -> str:
    """The exception, with the line of the solution that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == solution]
    if isinstance(error, SyntaxError):
        lines.append(error.lineno)
    where = f"line {lines[-1]}: " if lines and lines[-1] else ""
    return f"{where}{type(error).__name__}: {error}"[:MOST]


if __name__ == "__main__":
    main(*sys.argv[1:])
