"""fix: mend what has one right form, and show it as a diff."""

import difflib
import sys
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from site_tools.checks.accord import page_ids
from site_tools.checks.all import judge
from site_tools.contributing import changes
from site_tools.contributing.mending import mended, with_outputs
from site_tools.contributing.pages import EXAMPLE, files_of, page_id
from site_tools.contributing.talk import Refusal, Talk, data_is_read
from site_tools.data.locks import lock_of, lock_path, parse, write
from site_tools.ledger import store
from site_tools.page.wording import wording
from site_tools.say import LANGUAGES

Pair = tuple[str, str]  # the text there is, and the one that replaces it


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Name the arguments."""
    pages = talk.text("fix_pages")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=pages)
    dry = talk.text("fix_dry_run")
    parser.add_argument("--dry-run", action="store_true", help=dry)
    parser.add_argument("--patch", metavar="FILE", help=talk.text("fix_patch"))


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Mend pages: all is computed and shown, then stored, or nothing is."""
    if options.patch == "-":
        talk = replace(talk, out=sys.stderr)
    named = list(dict.fromkeys(map(page_id, options.pages)))
    files = {name: files_of(name, root) for name in named or page_ids(root)}
    running = named or _changed(root, talk)
    texts, outputs = dict[str, Pair](), dict[str, str]()
    for page in files:
        own = _mend(root, page, files[page])
        texts |= own
        if page in running:
            now = {path: own[path][1] for path in files[page]}
            outputs |= with_outputs(root, now)
    talk.show(patch(texts))
    renewed = patch({path: (texts[path][1], new) for path, new in outputs.items()})
    talk.show(renewed)
    if options.dry_run or options.patch:
        whole = {p: (old, outputs.get(p, new)) for p, (old, new) in texts.items()}
        return _propose(patch(whole), options.patch, talk)
    if renewed and talk.ask("fix_outputs"):
        texts |= {path: (texts[path][0], new) for path, new in outputs.items()}
    stored = _store(root, texts)
    left = 0
    for page in running:
        with data_is_read():
            problems = judge(root, files[page])
        left += len(problems)
        for problem in problems:
            talk.show(talk.problem(problem))
    if stored:
        talk.say("fix_mended", files=", ".join(stored))
    else:
        talk.say("fix_nothing_more" if left else "fix_nothing")
    if left:
        talk.say("fix_left", count=left)
    return 0


def _changed(root: Path, talk: Talk) -> list[str]:
    """The pages that are worth running, where none is named."""
    try:
        files = changes.changed_files(root)
    except Refusal as error:
        talk.say("fix_unknown", reason=error, page=EXAMPLE)
        return []
    pages = changes.pages_of(files, dict.fromkeys(page_ids(root), ""))
    if pages:
        talk.say("fix_running", pages=", ".join(pages))
    else:
        talk.say("fix_running_none")
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
        pairs[path] = (text, mended(text, page, path, twin))
    return {**pairs, **_lock(root, page, pairs)}


def _lock(root: Path, page: str, texts: dict[str, Pair]) -> dict[str, Pair]:
    """The lock of a page, with those sections anew that were recorded as they stood.

    A section that somebody has changed since stays as it was recorded: nobody has said
    that both languages agree there.
    """
    pairs = [texts.get(f"docs/{language}/{page}.md") for language in LANGUAGES]
    if None in pairs or all(old == new for old, new in texts.values()):
        return {}
    path = lock_path(page)
    with suppress(FileNotFoundError, UnicodeDecodeError, ValueError):
        text = (root / path).read_bytes().decode("utf-8")
        lock = parse(text, page)
        zh, en = ([wording(side) for side in pair or ()] for pair in pairs)
        old, new = lock_of(zh[0], en[0]), lock_of(zh[1], en[1])
        kept = new
        if lock != old:
            agreed = {
                section for section in new if lock.get(section) == old.get(section)
            }
            kept = {s: new[s] if s in agreed else pair for s, pair in lock.items()}
        return {path: (text, text if kept == lock else write(kept))}
    return {}


def patch(texts: dict[str, Pair]) -> str:
    r"""A unified diff that ``git apply`` takes; empty where nothing changes.

    Example:
        >>> print(patch({"a.md": ("one\n", "one\ntwo")}), end="")
        --- a/a.md
        +++ b/a.md
        @@ -1 +1,2 @@
         one
        +two
        \ No newline at end of file
    """
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
    if target == "-":
        print(text, end="")
    elif target:
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
