"""fix: mend what has one right form, and show it as a diff."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from site_tools.commands import changes
from site_tools.commands.pages import EXAMPLE, files_of, page_id, page_ids
from site_tools.commands.talk import Refusal, Talk
from site_tools.fixing.pages import Mending, mend
from site_tools.fixing.patch import patch
from site_tools.ledger import store

HELP = "mend blanks, punctuation, ids, figures, outputs; what changes is shown first"
EXAMPLES = """examples:
  make fix                          all pages; runs those you changed
  make fix PAGE=gae/variance        one page, both languages
  make fix ARGS=--dry-run           only show what would change
  make fix ARGS="--patch fix.diff"  write it as a patch for git apply"""


def options(parser: ArgumentParser, words: Callable[[str], str]) -> None:
    """Name the arguments."""
    pages = words("as in gae/variance; all of them if none is given")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=pages)
    dry = words("only show what would change; ends with 1 if something would")
    parser.add_argument("--dry-run", action="store_true", help=dry)
    form = words("as --dry-run, and write it as a patch; - is the terminal")
    parser.add_argument("--patch", metavar="FILE", help=form)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Mend pages: all is computed and shown, then stored, or nothing is."""
    if options.patch == "-":
        talk = replace(talk, out=sys.stderr)
    named = list(dict.fromkeys(map(page_id, options.pages)))
    files = {name: files_of(name, root) for name in named or page_ids(root)}
    run_too = named or _changed(root, talk)
    found = [_mend(root, page, files[page], page in run_too) for page in files]
    texts = {path: pair for mending in found for path, pair in mending.texts.items()}
    outputs = {path: new for m in found for path, new in m.outputs.items()}
    for problem in (problem for mending in found for problem in mending.problems):
        talk.tell(problem)
    _show(talk, _patch({path: (old, new) for path, (old, new) in texts.items()}))
    changed = _patch({path: (texts[path][1], new) for path, new in outputs.items()})
    if options.dry_run or options.patch:
        _show(talk, changed)
        whole = {
            path: (old, outputs.get(path, new)) for path, (old, new) in texts.items()
        }
        return _propose(_patch(whole), options.patch, talk)
    if changed:
        _show(talk, changed)
        if talk.ask("Are the printed lines right, and shall they replace those shown?"):
            texts |= {path: (texts[path][0], new) for path, new in outputs.items()}
    stored = _store(root, texts)
    talk.tell(f"Mended: {', '.join(stored)}" if stored else "Nothing to mend.")
    return 0


def _changed(root: Path, talk: Talk) -> list[str]:
    """The pages that are worth running, where none is named."""
    names = page_ids(root)
    try:
        files = changes.changed_files(root)
    except ValueError as error:
        talk.tell(
            f"No page is run, since what changed is not known: {error}; "
            f"name one, as in: make fix PAGE={EXAMPLE}"
        )
        return []
    own = changes.pages_of(files, dict.fromkeys(names, ""))
    talk.tell(f"Running what changed: {', '.join(own) or 'no page'}")
    return own


def _mend(root: Path, page: str, files: list[str], runs: bool) -> Mending:
    try:
        return mend(root, page, files, runs)
    except UnicodeDecodeError as error:
        raise Refusal(f"{' or '.join(files)} must be UTF-8, got {error}") from None


def _patch(texts: dict[str, tuple[str, str]]) -> str:
    return "".join(patch(path, old, new) for path, (old, new) in texts.items())


def _show(talk: Talk, text: str) -> None:
    print(text, end="", file=talk.out or sys.stdout, flush=True)


def _propose(text: str, target: str | None, talk: Talk) -> int:
    if target == "-":
        print(text, end="")
    elif target:
        store(Path(target), text.encode("utf-8"))
    talk.tell("Nothing was written." if text else "Nothing to mend.")
    return 1 if text else 0


def _store(root: Path, texts: dict[str, tuple[str, str]]) -> list[str]:
    """Write what changed, unless somebody else has written it meanwhile."""
    for path, (old, _) in texts.items():
        if (root / path).read_bytes() != old.encode("utf-8"):
            raise Refusal(
                f"{path} has changed meanwhile; nothing was written, run again"
            )
    stored = [path for path, (old, new) in texts.items() if old != new]
    for path in stored:
        store(root / path, texts[path][1].encode("utf-8"))
    return stored
