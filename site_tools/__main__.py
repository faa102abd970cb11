"""Contributing, from an idea to a pull request: python -m site_tools COMMAND."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__" and not __package__:  # run from elsewhere: ../site_tools
    sys.path[0] = str(ROOT)

from site_tools.contributing import agree, chat, check, fix, new  # noqa: E402
from site_tools.contributing.talk import (  # noqa: E402
    LANGUAGES,
    Refusal,
    Talk,
    language_of,
)
from site_tools.say import catalogue  # noqa: E402

# The commands in the order in which a contributor meets them: options, and what runs.
COMMANDS = {
    "new": (new.options, new.run),
    "import": (chat.options, chat.run),
    "check": (check.options, check.run),
    "fix": (fix.options, fix.run),
    "agree": (agree.options, agree.run),
    "status": (lambda parser, talk: None, agree.status),
    "export": (chat.export_options, chat.export),
}


def main(words: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status: 0 if all is well."""
    words = sys.argv[1:] if words is None else list(words)
    # The language is known before the options are: their help is in it.
    early = argparse.ArgumentParser(add_help=False)
    early.add_argument("--lang", choices=LANGUAGES, default=language_of())
    talk = Talk(early.parse_known_args(words)[0].lang)
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


def parse(words: Sequence[str], talk: Talk) -> argparse.Namespace:
    """The command and its options; argparse complains in the contributor's language."""
    shared = argparse.ArgumentParser(add_help=False)
    absent, language, yes = argparse.SUPPRESS, talk.text("lang"), talk.text("yes")
    shared.add_argument("--lang", choices=LANGUAGES, default=absent, help=language)
    shared.add_argument("--yes", action="store_true", default=absent, help=yes)
    with _argparse_in(talk.language):
        whole = argparse.ArgumentParser(
            prog="python -m site_tools",
            parents=[shared],
            description=talk.text("contribute"),
        )
        commands = whole.add_subparsers(required=True, metavar="COMMAND")
        for name, (options, run) in COMMANDS.items():
            purpose = talk.text(f"{name}_help", "purpose")
            command = commands.add_parser(
                name,
                parents=[shared],
                help=purpose,
                description=purpose,
                epilog=talk.text(f"{name}_help", "examples"),
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            options(command, talk)
            command.set_defaults(run=run)
        return whole.parse_args(words)


@contextmanager
def _argparse_in(language: str) -> Iterator[None]:
    """Let argparse speak the contributor's language, and no longer than asked.

    It has no other way than the name it calls, which is the whole process's.
    """
    english, own = catalogue("en")["argparse"], catalogue(language)["argparse"]
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
