"""Contributing, from an idea to a pull request: python -m site_tools COMMAND."""

import argparse
import os
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__" and not __package__:  # run from elsewhere: ../site_tools
    sys.path[0] = str(ROOT)

from site_tools.contributing import (  # noqa: E402
    agree,
    chat,
    check,
    fix,
    new,
    release,
    rename,
)
from site_tools.contributing.talk import Talk, language_of, reason  # noqa: E402
from site_tools.messages import LANGUAGES  # noqa: E402

# The commands in the order in which a contributor meets them.
SUBCOMMANDS: dict[str, Callable[[argparse.Namespace, Path, Talk], int]] = {
    "new": new.new_page,
    "import": chat.import_chat,
    "check": check.check_pages,
    "fix": fix.fix_pages,
    "agree": agree.agree,
    "rename": rename.rename_page,
    "status": agree.say_status,
    "export": chat.export_pages,
    "facts": release.move_release,
}
FLAG = {"action": "store_true"}
PAGES = {"metavar": "PAGE", "nargs": "*"}
# What can be typed behind a command, by the key of its help.
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "new_page": ("page", {"metavar": "TOPIC/ID"}),
    "new_question": ("--question", {"default": ""}),
    "new_alias": ("--alias", FLAG),
    "new_anyway": ("--anyway", FLAG),
    "import_log": ("log", {"metavar": "LOG"}),
    "import_chat": ("--chat", {"default": ""}),
    "import_dry_run": ("--dry-run", FLAG),
    "check_pages": ("pages", PAGES),
    "check_annotate": ("--annotate", FLAG),
    "fix_pages": ("pages", PAGES),
    "fix_dry_run": ("--dry-run", FLAG),
    "fix_patch": ("--patch", {"metavar": "FILE"}),
    "agree_pages": ("pages", PAGES),
    "rename_page": ("page", {"metavar": "PAGE"}),
    "rename_to": ("to", {"metavar": "TOPIC/ID"}),
    "rename_dry_run": ("--dry-run", FLAG),
    "export_pages": ("pages", {**PAGES, "nargs": "+"}),
    "facts_project": ("project", {"metavar": "FRAMEWORK"}),
    "facts_version": ("version", {"metavar": "VERSION"}),
    "facts_old": ("--from", {"dest": "old", "metavar": "VERSION", "default": ""}),
    "facts_dry_run": ("--dry-run", FLAG),
    "facts_patch": ("--patch", {"metavar": "FILE"}),
}


def main(words: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status: 0 if all is well."""
    words = sys.argv[1:] if words is None else list(words)
    # The language is known before the options are: their help is in it.
    early = argparse.ArgumentParser(add_help=False)
    early.add_argument("--lang", choices=LANGUAGES, default=language_of())
    talk = Talk(early.parse_known_args(words)[0].lang)
    options = read_options(words, talk)
    talk = Talk(talk.language, agreed="yes" in options)
    try:
        code: int = options.run(options, ROOT, talk)
    except ValueError as error:
        print(talk.of(reason(error)), file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever reads, as head does, has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(talk.text("stopped"), file=sys.stderr)
        return 130
    return code


def project_version(root: Path) -> str:
    """The name of the project and its version, of which pyproject.toml is the place."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return f"{project['name']} {project['version']}"


def read_options(words: Sequence[str], talk: Talk) -> argparse.Namespace:
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
    version = project_version(ROOT)
    told = talk.text("version")
    whole.add_argument("--version", action="version", version=version, help=told)
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    for name, run in SUBCOMMANDS.items():
        purpose = talk.text(f"{name}_help", "purpose")
        command = commands.add_parser(
            name,
            parents=[shared],
            help=purpose,
            description=purpose,
            epilog=talk.text(f"{name}_help", "examples"),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for key, (option, settings) in OPTIONS.items():
            if key.startswith(f"{name}_"):
                command.add_argument(option, help=talk.text(key), **settings)
        command.set_defaults(run=run)
    return whole.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
