"""The command line: which command, and refusals in one sentence."""

from argparse import ArgumentParser
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NoReturn

from ppo_ref.command import check, practice, train, view
from ppo_ref.command.terminal import reason_of, say

COMMANDS = {"check": check, "practice": practice, "train": train, "view": view}


class Parser(ArgumentParser):
    """Takes no abbreviations, and refuses in one sentence."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the arguments, and end with 2."""
        say(f"{self.prog}: {message}")
        self.exit(2)


def own_version() -> str:
    """The name of the package and its version, as it was installed.

    Example:
        >>> own_version().split()[0]
        'ppo-ref'
    """
    try:
        return f"ppo-ref {version('ppo-ref')}"
    except PackageNotFoundError:
        return "ppo-ref, run from its sources without being installed"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that is named first, and return its exit code.

    A refusal is printed in one sentence and gives 2, Ctrl-C gives 130.
    """
    parser = Parser(prog="python -m ppo_ref", description="PPO, Verified.")
    parser.add_argument("--version", action="version", version=own_version())
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        line = (command.__doc__ or "").splitlines()[0]
        own = commands.add_parser(name, help=line, description=line)
        command.add(own)
        own.set_defaults(parser=own, run=command.run)
    parsed, unknown = parser.parse_known_args(arguments)
    own = vars(parsed).pop("parser")
    if unknown:
        own.error(f"unknown argument {unknown[0]}; --help shows those that there are")
    try:
        code: int = vars(parsed).pop("run")(parsed)
    except KeyboardInterrupt:
        say("Stopped at once.")
        return train.INTERRUPTED
    except (ValueError, OSError) as error:
        say(f"{own.prog}: {reason_of(error)}")
        return 2
    return code
