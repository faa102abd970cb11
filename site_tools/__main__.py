"""Contributing, from an idea to a pull request: python -m site_tools COMMAND."""

import argparse
import os
import sys
from collections.abc import Sequence
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
    """The command and its options."""
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


if __name__ == "__main__":
    sys.exit(main())
