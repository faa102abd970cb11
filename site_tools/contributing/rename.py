"""rename: move a page to a new name, in both languages, with all that names it.

Its files move, and whatever names it follows: links, includes, what other pages need,
data, tests. The old address leads to the new one; a short address keeps its line, for
it follows where the old one leads. All is computed first, and stored whole or not at
all.
"""

import os
import posixpath
import re
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path

from site_tools.compile.links import REDIRECTS, SHORT, redirects
from site_tools.contributing.fix import kept_agreement
from site_tools.contributing.pages import check_new_name, page_id, present_files
from site_tools.contributing.talk import Talk
from site_tools.data.rows import plain_yaml
from site_tools.data.topics import TOPICS
from site_tools.ledger import store_all
from site_tools.messages import LANGUAGES, Refusal

# Folders in which a page may be named, and the files of them that are read.
NAMING_FOLDERS = (
    "docs",
    "snippets",
    "ppo_ref",
    "site_tools",
    "tests",
    "bench",
    ".github",
)
NAMING_KINDS = (".md", ".yml", ".py", ".js", ".txt", ".html", ".json")
# What has been said of old names stays as it was said.
UNTOUCHED = ("CHANGELOG.md", SHORT, REDIRECTS)
RELATIVE_LINK = re.compile(
    r"(?P<before>\]\(|^\[[^\]\n]+\]: )(?P<path>[^)\s#:]+)", re.MULTILINE
)
# Before the name of a page nothing stands, or a folder in which pages lie, which code
# may have in a variable.
PAGE_PLACES = r"docs/zh|docs/en|docs/\{\w+\}|snippets|zh|en|\{\w+\}|\.\.|\."
FOLDERS_BEFORE = rf"(?:(?:[\w./-]*/)?(?:{PAGE_PLACES})/)?"


def rename_page(options: Namespace, root: Path, talk: Talk) -> int:
    """Move a page, or say what would change."""
    old, new = page_id(options.page), page_id(options.to)
    files = present_files(old, root)
    if old.endswith("/index") or "/" not in old:
        raise Refusal("rename_index", page=old)
    check_new_name(new, root, [*TOPICS, old.partition("/")[0]])
    changes = renamed(old, new, root)
    moved = [file for file, content in changes.items() if content is None]
    others = len(changes) - 2 * len(moved)
    values = {"old": old, "new": new, "moved": ", ".join(moved), "others": others}
    if options.dry_run:
        talk.say("rename_dry", **values)
        return 0
    try:
        store_all({root / file: content for file, content in changes.items()})
    except OSError as error:
        values = {"path": error.filename, "reason": error.strerror}
        raise Refusal("unwritable", **values) from None
    talk.say("rename_done", **values)
    talk.say("rename_next", new=new, files=len(files))
    return 0


def renamed(old: str, new: str, root: Path) -> dict[str, bytes | None]:
    """Each file that changes, and what it holds then; None for one that is gone."""
    before = dict[str, str]()
    after = dict[str, str]()
    for file in naming_files(root):
        text = _text(root, file)
        changed = with_new_name(text, file, old, new)
        place = new_place(file, old, new)
        if changed != text or place != file:
            before[place], after[place] = text, changed
    after = _agreed_as_before(before, after)
    changes: dict[str, bytes | None] = {}
    for place, text in after.items():
        changes[place] = text.encode("utf-8")
    for file in _own_files(old, root):
        place = new_place(file, old, new)
        changes.setdefault(place, (root / file).read_bytes())
        changes[file] = None
    moves = root / REDIRECTS
    told = moves.read_text("utf-8") if moves.exists() else ""
    changes[REDIRECTS] = with_redirect(told, old, new).encode("utf-8")
    return changes


def naming_files(root: Path) -> Iterator[str]:
    """The files that may name a page, by their paths; no link is followed."""
    for path in sorted(root.iterdir()):
        if path.suffix == ".md" and path.is_file() and not path.is_symlink():
            yield path.name
    for top in NAMING_FOLDERS:
        for folder, _, names in os.walk(root / top):
            for name in sorted(names):
                path = Path(folder, name)
                if path.suffix in NAMING_KINDS and not path.is_symlink():
                    yield path.relative_to(root).as_posix()


def _own_files(page: str, root: Path) -> Iterator[str]:
    """The files that are called as a page is: its languages, code and picture."""
    for language in LANGUAGES:
        file = f"docs/{language}/{page}.md"
        if (root / file).is_file():
            yield file
    for path in sorted((root / "snippets" / page).parent.glob(f"{Path(page).name}.*")):
        yield path.relative_to(root).as_posix()


def _text(root: Path, file: str) -> str:
    try:
        return (root / file).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal("fix_encoding", files=file, error=error) from None


def new_place(file: str, old: str, new: str) -> str:
    """The path of a file once the page is renamed."""
    for folder in ("docs/zh", "docs/en", "snippets"):
        name, suffix = posixpath.splitext(file)
        if name == f"{folder}/{old}":
            return f"{folder}/{new}{suffix}"
    return file


def with_new_name(text: str, file: str, old: str, new: str) -> str:
    """The text of a file in which the page has its new name."""
    if file in UNTOUCHED:
        return text
    parts = file.split("/", 2)
    if parts[0] == "docs" and parts[1] in LANGUAGES:
        text = _with_links(text, parts[2], old, new)
    name = rf"(?<![\w./-])(?P<folder>{FOLDERS_BEFORE}){re.escape(old)}(?![\w-])"
    return re.sub(name, lambda match: match["folder"] + new, text)


def _with_links(text: str, file: str, old: str, new: str) -> str:
    """The text of a page whose links lead where they led before."""
    folder = posixpath.dirname(file)
    moved = file == f"{old}.md"
    own_folder = posixpath.dirname(new) if moved else folder

    def followed(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match["path"]))
        place = _target(target, old, new)
        if place == target and own_folder == folder:
            return match[0]
        if match["path"].startswith(("/", "<")) or "." not in match["path"]:
            return match[0]
        return match["before"] + posixpath.relpath(place, own_folder or ".")

    return RELATIVE_LINK.sub(followed, text)


def _target(target: str, old: str, new: str) -> str:
    """Where a link leads now: to the page, its picture, or a plot of a notebook."""
    name, suffix = posixpath.splitext(target)
    if name == old:
        return f"{new}{suffix}"
    if target.startswith(f"{old}/"):
        return new + target.removeprefix(old)
    return target


def _agreed_as_before(
    before: Mapping[str, str], after: Mapping[str, str]
) -> dict[str, str]:
    """The files after a change of names alone: what was agreed stays agreed."""
    kept = dict(after)
    pages = set[str]()
    for file in after:
        match = re.fullmatch(r"docs/(?:zh|en)/(?P<page>.+)\.md", file)
        if match:
            pages.add(match["page"])
    for page in pages:
        kept |= kept_agreement(page, before, after)
    return kept


def with_redirect(text: str, old: str, new: str) -> str:
    """The file of redirects once the page is renamed: none leads to another."""
    moves = plain_yaml(text, REDIRECTS) or {}
    to_old = re.compile(rf"(?m)^(?P<from>[^#\s]\S*:\s+){re.escape(old)}(?=[#\s]|$)")
    changed = to_old.sub(lambda match: match["from"] + new, text)
    if changed and not changed.endswith("\n"):
        changed += "\n"
    for place, target in moves.items():
        # A part that had left the old page is looked for on the new one as well.
        page, _, anchor = place.partition("#")
        if page == old and anchor:
            changed += f"{new}#{anchor}: {target}\n"
    changed += f"{old}: {new}\n"
    places = plain_yaml(changed, REDIRECTS)
    pages = {place.partition("#")[0] for place in places.values()} - {old}
    redirects(changed, pages)
    return changed
