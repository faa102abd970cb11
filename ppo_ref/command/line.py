"""The command line: which commands there are."""

from argparse import ArgumentParser
from collections.abc import Sequence

from ppo_ref.command import check

COMMANDS = {
    "check": check,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that is named first.

    Args:
        arguments: Those of the command line if left out.

    Returns:
        The exit code.

    Example:
        >>> main(["check", "nowhere.pt"])
        2
    """
    parser = ArgumentParser(prog="python -m ppo_ref", description="PPO, Verified.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        line = (command.__doc__ or "").splitlines()[0]
        own = commands.add_parser(name, help=line, description=line)
        command.add(own)
        own.set_defaults(run=command.run)
    parsed = parser.parse_args(arguments)
    code: int = parsed.run(parsed)
    return code
