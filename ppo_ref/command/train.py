"""Teach an actor sums with PPO, into a folder from which the run can be resumed."""

import sys
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch

from ppo_ref.command import checkpoint, settings
from ppo_ref.command.interrupt import INTERRUPTED, Asked, asked
from ppo_ref.command.opening import created, reopened
from ppo_ref.command.progress import Progress
from ppo_ref.command.run_folder import CHARTS, RunFolder
from ppo_ref.command.session import Session
from ppo_ref.command.summary import draw_charts, write_summary


def add(parser: ArgumentParser) -> None:
    """Name the arguments.

    Args:
        parser: Of this command.

    Example:
        >>> parser = ArgumentParser()
        >>> add(parser)
        >>> parser.parse_args(["--seed", "1", "--out", "runs/one"])
        Namespace(seed=1, out='runs/one')
    """
    parser.usage = "%(prog)s [--OPTION VALUE ...]"
    parser.epilog = (
        "Whatever ended a run, --resume goes on with it, and it ends with the same "
        "weights and files as if it had not been stopped."
    )
    told = "a new folder for the run (default runs/1, or the next free number)"
    parser.add_argument("--out", metavar="FOLDER", default=SUPPRESS, help=told)
    told = "go on with the run in this folder, with the settings that are kept there"
    parser.add_argument("--resume", metavar="FOLDER", default=SUPPRESS, help=told)
    settings.add(parser)


def run(arguments: Namespace) -> int:
    """Train, or go on training.

    Args:
        arguments: As ``add`` names them.

    Returns:
        0 when the run has ended, 130 if Ctrl-C stopped it.

    Raises:
        ValueError: if a setting, a folder or what lies in it is refused.
        OSError: if something cannot be written.

    Example:
        >>> run(Namespace(resume="nowhere"))
        Traceback (most recent call last):
        ValueError: nowhere/config.json is missing: no run was begun there; begin \
one by --out nowhere
    """
    with asked() as question, _folder(vars(arguments)) as folder:
        return _train(folder, question)


def _folder(given: Mapping[str, Any]) -> AbstractContextManager[RunFolder]:
    if "resume" not in given:
        out = given.get("out")
        return created(Path(out) if out else None, settings.given(given))
    if others := sorted(given.keys() - {"resume"}):
        option = others[0].replace("_", "-")
        raise ValueError(
            f"--resume takes all settings from the run's folder; leave out --{option}, "
            "or begin another run by --out"
        )
    return reopened(Path(given["resume"]))


def _train(folder: RunFolder, question: Asked) -> int:
    session, progress = Session(folder), Progress(sys.stderr)
    _tell(f"The run is written into {folder.path}")
    if folder.torch_version != torch.__version__:
        _tell(
            f"It was begun with torch {folder.torch_version}; with this one, "
            f"{torch.__version__}, it may end with other weights"
        )
    try:
        for step in session.steps():
            progress.show(step)
            if question.to_stop:
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
        _tell(f"Stopped at once; go on by --resume {folder.path}")
        return INTERRUPTED
    finally:
        progress.end()
    _conclude(folder.path, told)
    return 0 if session.finished else INTERRUPTED


def _conclude(path: Path, told: Mapping[str, Any]) -> None:
    if not told["finished"]:
        print(f"Stopped; go on by: python -m ppo_ref train --resume {path}")
    print(f"{path}: {told['iterations']} iterations, {told['seconds']} s")
    if told["held_out_after"] is not None:
        before, after = told["held_out_before"], told["held_out_after"]
        print(
            f"held-out questions answered right: {before:.0%} before, {after:.0%} now"
        )
        print(f"every statistic: {path / CHARTS}")


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
