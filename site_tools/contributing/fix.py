"""fix: mend what has one right form, show it as a diff, and say what is left."""

import difflib
from argparse import ArgumentParser, Namespace
from pathlib import Path

from site_tools.checks.all import judge
from site_tools.contributing.mending import Pair, kept_lock, mended, with_outputs
from site_tools.contributing.pages import (
    EXAMPLE,
    changed_files,
    changed_pages,
    files_of,
    page_id,
)
from site_tools.contributing.talk import Refusal, Talk, data_is_read
from site_tools.ledger import store
from site_tools.page.accord import page_ids


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Name the arguments."""
    pages, dry = talk.text("fix_pages"), talk.text("fix_dry_run")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=pages)
    parser.add_argument("--dry-run", action="store_true", help=dry)
    parser.add_argument("--patch", metavar="FILE", help=talk.text("fix_patch"))


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Mend pages: all is computed and shown, then stored, or nothing is."""
    named = list(dict.fromkeys(map(page_id, options.pages)))
    files = {name: files_of(name, root) for name in named or page_ids(root)}
    running = named or _changed(root, talk)
    texts, outputs = dict[str, Pair](), dict[str, str]()
    for page in files:
        own = _mend(root, page, files[page])
        texts |= own
        if page in running:
            outputs |= with_outputs(root, {path: own[path][1] for path in files[page]})
    talk.show(patch(texts))
    renewed = patch({path: (texts[path][1], new) for path, new in outputs.items()})
    talk.show(renewed)
    whole = {p: (old, outputs.get(p, new)) for p, (old, new) in texts.items()}
    if options.dry_run or options.patch:
        return _propose(patch(whole), options.patch, talk)
    agreed = bool(renewed) and talk.ask("fix_outputs")
    stored = _store(root, whole if agreed else texts)
    with data_is_read():
        left = [problem for page in running for problem in judge(root, files[page])]
    for problem in left:
        talk.show(talk.problem(problem))
    if stored:
        talk.say("fix_mended", files=", ".join(stored))
    else:
        talk.say("fix_nothing_more" if left else "fix_nothing")
    if left:
        talk.say("fix_left", count=len(left))
    return 0


def _changed(root: Path, talk: Talk) -> list[str]:
    """The pages that are worth running, where none is named."""
    try:
        pages = changed_pages(changed_files(root), root)
    except Refusal as error:
        talk.say("fix_unknown", reason=error, page=EXAMPLE)
        return []
    key = "fix_running" if pages else "fix_running_none"
    talk.say(key, pages=", ".join(pages))
    return pages


def _mend(root: Path, page: str, files: list[str]) -> dict[str, Pair]:
    """The files of a page and its lock, as they are and as they should be."""
    try:
        old = {path: (root / path).read_bytes().decode("utf-8") for path in files}
    except UnicodeDecodeError as error:
        raise Refusal("fix_encoding", files=", ".join(files), error=error) from None
    pairs = {}
    for path, text in old.items():
        twin = next((other for name, other in old.items() if name != path), None)
        pairs[path] = (text, mended(text, path, twin))
    return {**pairs, **kept_lock(root, page, pairs)}


def patch(texts: dict[str, Pair]) -> str:
    """A unified diff that ``git apply`` takes; empty where nothing changes."""
    rows = [
        row
        for path, (old, new) in texts.items()
        for row in difflib.unified_diff(
            _lines(old), _lines(new), f"a/{path}", f"b/{path}"
        )
    ]
    end = "\n\\ No newline at end of file\n"
    return "".join(row if row.endswith("\n") else row + end for row in rows)


def _lines(text: str) -> list[str]:
    """Lines as git counts them: they end in a line feed, and in nothing else."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + [last] * bool(last)


def _propose(text: str, target: str | None, talk: Talk) -> int:
    if target:
        store(Path(target), text.encode("utf-8"))
    talk.say("nothing_written" if text else "fix_nothing")
    return 1 if text else 0


def _store(root: Path, texts: dict[str, Pair]) -> list[str]:
    """Write what changed, unless somebody else has written it meanwhile."""
    for path, (old, _) in texts.items():
        if (root / path).read_bytes() != old.encode("utf-8"):
            raise Refusal("fix_meanwhile", file=path)
    stored = [path for path, (old, new) in texts.items() if old != new]
    for path in stored:
        store(root / path, texts[path][1].encode("utf-8"))
    return stored
