"""Teach an actor sums with PPO, into a folder from which the run can be resumed."""

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from ppo_ref.command import settings
from ppo_ref.command.interrupt import Asked, asked
from ppo_ref.command.joining import begin, joined, take_own_gpu
from ppo_ref.command.opening import created, reopened
from ppo_ref.command.parting import ENDED, is_parting, parting, say
from ppo_ref.command.run_folder import RunFolder
from ppo_ref.command.session import Session
from ppo_ref.command.settings import Settings
from ppo_ref.command.working import tell_beginning, work
from ppo_ref.processes.group import PARALLEL, OthersEnded, Processes


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
        "weights and files as if it had not been stopped. On N processes: torchrun "
        "--nproc-per-node=N -m ppo_ref train, also to go on with a run of another N, "
        "which then ends with weights that differ by rounding and by chance."
    )
    told = "a new folder for the run (default runs/1, or the next free number)"
    parser.add_argument("--out", metavar="FOLDER", default=SUPPRESS, help=told)
    told = "go on with the run in this folder, with the settings that are kept there"
    parser.add_argument("--resume", metavar="FOLDER", default=SUPPRESS, help=told)
    told = "what each of several processes keeps (default ddp: all; fsdp2: a share)"
    parser.add_argument("--parallel", choices=PARALLEL, default=SUPPRESS, help=told)
    settings.add(parser)


def run(arguments: Namespace) -> int:
    """Train, or go on training.

    Args:
        arguments: As ``add`` names them.

    Returns:
        0 when the run has ended, 130 if Ctrl-C stopped it, 1 if another process of it
        has ended, 2 if another found that it cannot go on.

    Raises:
        ValueError: if a setting, a folder or what lies in it is refused.
        OSError: if something cannot be written.

    Example:
        >>> run(Namespace(resume="nowhere"))
        Traceback (most recent call last):
        ValueError: nowhere/config.json is missing: no run was begun there; begin \
one by --out nowhere
    """
    given = dict(vars(arguments))
    with ExitStack() as stack:
        processes = stack.enter_context(joined(given.pop("parallel", None)))
        question = stack.enter_context(asked(tells=processes.rank == 0))
        try:
            folder = _shared_folder(given, processes, stack)
            return _train(folder, processes, question)
        except OthersEnded:
            return 2


def _train(folder: RunFolder, processes: Processes, question: Asked) -> int:
    if folder.settings.options.device == "cuda":
        take_own_gpu()
    again = f"{begin(processes.size, processes.shards)} --resume {folder.path}"
    left = f"A process of the run has ended, and so the others do; go on by: {again}"
    with parting(left):
        try:
            session = Session(folder, processes)
            tell_beginning(session)
            return work(session, question)
        except RuntimeError as error:
            if processes.size == 1 or not is_parting(error):
                raise
            say(left)
            return ENDED


def _shared_folder(
    given: Mapping[str, Any], processes: Processes, stack: ExitStack
) -> RunFolder:
    """The first process alone writes; what the folder says is known to all."""

    def opened() -> tuple[Path, Settings, str]:
        found = stack.enter_context(_folder(given))
        return found.path, found.settings, found.torch_version

    return RunFolder(*processes.first(opened), writes=processes.rank == 0)


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
