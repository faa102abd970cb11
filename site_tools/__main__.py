"""Contributing, from an idea to a pull request: python -m site_tools COMMAND."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__" and not __package__:  # run from elsewhere: ../site_tools
    sys.path[0] = str(ROOT)

from site_tools.contributing.talk import LANGUAGES, Refusal, Talk, language_of  # noqa: E402

# The command and its module, in the order in which a contributor meets them.
COMMANDS = {
    "new": "new",
    "import": "chat",
    "check": "check",
    "fix": "fix",
    "agree": "agree",
    "status": "status",
    "export": "export",
}


def main(words: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status: 0 if all is well."""
    words = sys.argv[1:] if words is None else list(words)
    talk = Talk(_language(words))
    options = parse(words, talk)
    talk = Talk(talk.language, agreed="yes" in options)
    try:
        code: int = options.run(options, ROOT, talk)
    except Refusal as refusal:
        print(talk.of(refusal.message), file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever reads, as head does, has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(talk.text("stopped"), file=sys.stderr)
        return 130
    return code


def _language(words: Sequence[str]) -> str:
    """The language asked for, known before the options are: their help is in it."""
    early = argparse.ArgumentParser(add_help=False)
    early.add_argument("--lang", choices=LANGUAGES, default=language_of())
    language: str = early.parse_known_args(words)[0].lang
    return language


def parse(words: Sequence[str], talk: Talk) -> argparse.Namespace:
    """The command and its options; argparse complains in the contributor's language."""
    with _argparse_in(talk):
        return _parser(talk).parse_args(words)


def _parser(talk: Talk) -> argparse.ArgumentParser:
    """The commands and their options, with help in the contributor's language."""
    shared = argparse.ArgumentParser(add_help=False)
    absent, language, yes = argparse.SUPPRESS, talk.text("lang"), talk.text("yes")
    shared.add_argument("--lang", choices=LANGUAGES, default=absent, help=language)
    shared.add_argument("--yes", action="store_true", default=absent, help=yes)
    whole = argparse.ArgumentParser(
        prog="python -m site_tools",
        parents=[shared],
        description=talk.text("contribute"),
    )
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    for name, module_name in COMMANDS.items():
        module = import_module(f"site_tools.contributing.{module_name}")
        purpose = talk.text(f"{name}_help", "purpose")
        command = commands.add_parser(
            name,
            parents=[shared],
            help=purpose,
            description=purpose,
            epilog=talk.text(f"{name}_help", "examples"),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.options(command, talk)
        command.set_defaults(run=module.run)
    return whole


@contextmanager
def _argparse_in(talk: Talk) -> Iterator[None]:
    """Let argparse speak the contributor's language, and no longer than asked.

    It has no other way than the name it calls, which is the whole process's.
    """
    from site_tools.say import catalogue

    english, own = catalogue("en")["argparse"], catalogue(talk.language)["argparse"]
    words = {text: own[part] for part, text in english.items()}
    names = vars(argparse)
    before = names["_"]
    names["_"] = lambda text: words.get(text, text)
    try:
        yield
    finally:
        names["_"] = before


if __name__ == "__main__":
    sys.exit(main())
