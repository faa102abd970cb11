"""Contributing, from an idea to a pull request: python -m site_tools COMMAND."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from site_tools.commands.talk import LANGUAGES, Refusal, Talk, language_of

# The command and its module, in the order in which a contributor meets them.
COMMANDS = {
    "new": "new",
    "import": "import_log",
    "check": "check",
    "fix": "fix",
    "agree": "agree",
    "status": "status",
    "export": "export",
}
ROOT = Path(__file__).resolve().parent.parent


def main(words: Sequence[str] | None = None) -> int:
    """Run one command, and return what the shell is told: 0 if all is well."""
    given = sys.argv[1:] if words is None else list(words)
    language = _language(given)
    options = _parser(language).parse_args(given)
    talk = Talk(language, agreed="yes" in options)
    try:
        code: int = options.run(options, ROOT, talk)
    except Refusal as refusal:
        print(talk.words(str(refusal)), file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever reads, as head does, has heard enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(talk.words("Stopped."), file=sys.stderr)
        return 130
    return code


def _language(words: Sequence[str]) -> str:
    """The language asked for, known before the options are: their help is in it."""
    early = argparse.ArgumentParser(add_help=False)
    early.add_argument("--lang", choices=LANGUAGES, default=language_of())
    said: str = early.parse_known_args(words)[0].lang
    return said


def _parser(language: str) -> argparse.ArgumentParser:
    words = Talk(language).words
    vars(argparse)["_"] = words  # where argparse, which has no other way, looks it up
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--lang",
        choices=LANGUAGES,
        default=argparse.SUPPRESS,
        help=words("language of what is said; that of the terminal unless given"),
    )
    agree = words("say yes to every question")
    shared.add_argument(
        "--yes", action="store_true", default=argparse.SUPPRESS, help=agree
    )
    parser = argparse.ArgumentParser(
        prog="python -m site_tools",
        parents=[shared],
        description=words("Contribute to the site."),
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, module_name in COMMANDS.items():
        module = importlib.import_module(f"site_tools.commands.{module_name}")
        command = commands.add_parser(
            name,
            parents=[shared],
            help=words(module.HELP),
            description=words(module.HELP),
            epilog=words(module.EXAMPLES),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.options(command, words)
        command.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
