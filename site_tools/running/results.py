"""What blocks did, as it travels between processes: JSON of plain data, a line each.

Whatever runs a block may be in the hands of that block, and could have written what
another process unpickles; from a line of JSON nothing comes but text and numbers.
"""

import json
import os
import socket
from typing import Any

from site_tools.running.model import ENDED, NOT_RUN, Failure, Result

LARGEST = 8 << 20  # bytes of a line; a plot has some tens of thousands
# Signs that a terminal would obey are shown instead.
SIGNS = {n: f"\\x{n:02x}" for n in (*range(32), *range(127, 160)) if n not in (9, 10)}
Done = Result | int | float | Failure | None


def encode(done: Done) -> bytes:
    """A line that says what a block did, or what an expression gave."""
    match done:
        case Result():
            said: Any = [done.printed, _told(done.failure), done.plots]
        case Failure():
            said = {"failure": _told(done)}
        case _:
            said = done
    return json.dumps(said).encode() + b"\n"


def write(to: int, done: Done) -> None:
    """Write such a line.

    Args:
        to: A file that is open.
        done: What a block did, or what an expression gave.
    """
    line = encode(done)
    while line:
        line = line[os.write(to, line) :]


def receive(answers: socket.socket, count: int) -> list[Any]:
    """What was sent; the rest has not run if the sender ended.

    Args:
        answers: The connection.
        count: How many results there should be.
    """
    received: list[Any] = []
    with answers.makefile("rb") as lines:
        while len(received) < count and (line := lines.readline()):
            received.append(decode(line))
    missing = count - len(received)
    return received + [ENDED, *[NOT_RUN] * (missing - 1)][:missing]


def _told(failure: Failure | None) -> list[Any] | None:
    if failure is None:
        return None
    return [failure.type, failure.message, failure.lines]


def decode(line: bytes) -> Done:
    """What such a line says.

    Raises:
        ValueError: if it is none, whoever wrote it.

    Example:
        >>> decode(b'["2", null, []]'), decode(b"0.5")
        (Result(printed='2', failure=None, plots=()), 0.5)
    """
    try:
        match json.loads(line):
            case [str(printed), failure, list(plots)]:
                return Result(_shown(printed), _failure(failure), _plots(plots))
            case {"failure": failure}:
                return _failure(failure)
            case None:
                return None
            case int(number) | float(number) if not isinstance(number, bool):
                return number
    except (ValueError, RecursionError):
        pass
    raise ValueError(f"a result must be a line of JSON of its form, got {line[:80]!r}")


def _failure(said: Any) -> Failure | None:
    match said:
        case None:
            return None
        case [str(kind), str(message), list(lines)]:
            return Failure(_shown(kind), _shown(message), tuple(map(_line, lines)))
    raise ValueError


def _line(said: Any) -> tuple[int, int]:
    match said:
        case [int(block), int(at)] if block >= 0 and at >= 1:
            return block, at
    raise ValueError


def _plots(said: list[Any]) -> tuple[tuple[str, str], ...]:
    for plot in said:
        match plot:
            case [str(), str()]:
                continue
        raise ValueError
    return tuple((name, svg) for name, svg in said)


def _shown(text: str) -> str:
    return text.translate(SIGNS)
