"""The steps of a run, shown and kept, until it has ended or is asked to stop."""

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ppo_ref.command import checkpoint
from ppo_ref.command.interrupt import INTERRUPTED, Asked
from ppo_ref.command.joining import begin
from ppo_ref.command.parting import say
from ppo_ref.command.progress import Progress
from ppo_ref.command.run_folder import CHARTS
from ppo_ref.command.session import Session
from ppo_ref.command.summary import draw_charts, write_summary


def work(session: Session, question: Asked) -> int:
    """Take the steps that are left; of several processes the first tells of them.

    Args:
        session: Of the run.
        question: Whether to stop; that any process was asked is enough.

    Returns:
        0 when the run has ended, 130 if it was stopped.

    Raises:
        OSError: if something cannot be written, with the way to go on.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from ppo_ref.command.interrupt import asked
        >>> from ppo_ref.command.opening import created
        >>> from ppo_ref.command.settings import given
        >>> small = given({"width": 4, "warm_start_steps": 2, "iterations": 1})
        >>> with (
        ...     TemporaryDirectory() as path,
        ...     created(Path(path), small) as folder,
        ...     asked() as question,
        ... ):
        ...     question.to_stop = True
        ...     print(work(Session(folder), question))  # doctest: +ELLIPSIS
        Stopped; go on by: python -m ppo_ref train --resume ...
        130
    """
    folder, processes = session.folder, session.processes
    progress = Progress(io.StringIO() if processes.rank else sys.stderr)
    again = f"{begin(processes.size, processes.shards)} --resume {folder.path}"
    try:
        for step in session.steps():
            progress.show(step)
            if processes.any(question.to_stop):
                break
            session.save_if_due(step)
        progress.end()
        session.save()
        draw_charts(session)
        told = write_summary(session)
    except OSError as error:
        if not checkpoint.exists(folder.path):
            raise
        remedy = f"{error.strerror}; then go on by --resume {folder.path}"
        raise OSError(error.errno, remedy, error.filename) from error
    except KeyboardInterrupt:
        say(f"Stopped at once; go on by --resume {folder.path}")
        return INTERRUPTED
    finally:
        progress.end()
    if processes.rank == 0:
        _conclude(folder.path, told, again)
    return 0 if session.finished else INTERRUPTED


def tell_beginning(session: Session) -> None:
    """Say where the run is written, and with what it was begun.

    Args:
        session: Of the run.

    Example:
        >>> from contextlib import redirect_stderr
        >>> from tempfile import TemporaryDirectory
        >>> from ppo_ref.command.opening import created
        >>> from ppo_ref.command.settings import given
        >>> with TemporaryDirectory() as path, redirect_stderr(sys.stdout):
        ...     with created(Path(path), given({"width": 4})) as folder:
        ...         tell_beginning(Session(folder))  # doctest: +ELLIPSIS
        The run is written into ...
    """
    folder, size = session.folder, session.processes.size
    if session.processes.rank:
        return
    by = f" by {size} processes" if size > 1 else ""
    print(f"The run is written into {folder.path}{by}", file=sys.stderr, flush=True)
    if folder.torch_version != torch.__version__:
        print(
            f"It was begun with torch {folder.torch_version}; with this one, "
            f"{torch.__version__}, it may end with other weights",
            file=sys.stderr,
            flush=True,
        )


def _conclude(path: Path, told: Mapping[str, Any], again: str) -> None:
    if not told["finished"]:
        print(f"Stopped; go on by: {again}")
    print(f"{path}: {told['iterations']} iterations, {told['seconds']} s")
    if told["held_out_after"] is not None:
        before, after = told["held_out_before"], told["held_out_after"]
        print(
            f"held-out questions answered right: {before:.0%} before, {after:.0%} now"
        )
        print(f"every statistic: {path / CHARTS}")
