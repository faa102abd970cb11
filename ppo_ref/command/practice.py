"""Fill in twelve functions of PPO yourself, and have them judged."""

import importlib
from argparse import ArgumentParser, Namespace
from pathlib import Path

from ppo_ref.command.terminal import printable
from ppo_ref.practice import words
from ppo_ref.practice.hole import Hole
from ppo_ref.practice.judging import judge
from ppo_ref.practice.report import report

FOLDER = Path("practice")


def add(parser: ArgumentParser) -> None:
    """Name the arguments of the command."""
    parser.epilog = (
        "Without a name: the list. Exit code: 0 right, or written; 1 not right yet; 2 "
        "there is nothing to judge. A solution runs in a process of its own, for a "
        "minute at most; it is your own code, and is not kept from your files."
    )
    help = f"what to write; {FOLDER}/NAME.py is made, with its contract"
    parser.add_argument(
        "name", metavar="NAME", nargs="?", choices=[*words.HOLES], help=help
    )
    help = "judge the file that you have filled in"
    parser.add_argument("--check", action="store_true", help=help)
    help = "of what is said; as this machine's, if left out"
    parser.add_argument("--lang", choices=["en", "zh"], help=help)


def run(arguments: Namespace) -> int:
    """List the holes, write one, or judge what was filled in."""
    lang = arguments.lang or words.language()
    if arguments.name is None:
        if arguments.check:
            raise ValueError("--check needs a NAME, such as gae")
        return _list(lang)
    path = FOLDER / f"{arguments.name}.py"
    if arguments.check:
        return _check(path, arguments.name, lang)
    return _write(path, arguments.name, lang)


def _list(lang: str) -> int:
    width = max(map(len, words.HOLES))
    for name in words.HOLES:
        begun = words.said("begun", lang) if (FOLDER / f"{name}.py").exists() else ""
        print(f"{name:{width}}  {words.title(name, lang)}{begun}")
    print(words.said("how", lang))
    return 0


def _write(path: Path, name: str, lang: str) -> int:
    path.parent.mkdir(exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(words.stub(name, lang))
    except FileExistsError:
        raise ValueError(words.said("exists", lang, path=path, name=name)) from None
    print(words.said("written", lang, path=path, name=name))
    return 0


def _check(path: Path, name: str, lang: str) -> int:
    if not path.is_file():
        raise ValueError(words.said("missing", lang, path=path, name=name))
    hole: Hole = importlib.import_module(f"ppo_ref.practice.holes.{name}").HOLE
    verdict = judge(path, hole)
    print(printable(report(path, hole, verdict, lang)))
    return 0 if verdict.is_right else 1
