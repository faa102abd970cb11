"""facts: move to a new release of a framework what is said of the one before.

The facts move by their quotations, what stands on them follows, the new wheel gets its
pin, and what a person must read is told. All is computed first, and stored whole or not
at all.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from site_tools.contributing.fix import OldAndNew, patch
from site_tools.contributing.follow import Move, following, moved_sentences, to_read
from site_tools.contributing.move_facts import moved_concept, rewritten
from site_tools.contributing.talk import Talk
from site_tools.data.facts import (
    FACTS_FOLDER,
    WHEELS,
    Concept,
    concepts,
    find_wheel,
    pinned,
)
from site_tools.data.frameworks import TIMELINE, Change, version
from site_tools.data.rows import read_rows
from site_tools.ledger import store, store_all
from site_tools.messages import Message, Refusal


def move_release(options: Namespace, root: Path, talk: Talk) -> int:
    """Move each concept that has places in the old release, and what stands on it."""
    every = concepts(root)
    old, new = _releases(every, options, root)
    wheels = [_wheel_of(old, root), _wheel_of(new, root)]
    dated = _dated(root, old)
    texts = dict[str, OldAndNew]()
    moved, left = set[str](), set[str]()
    places, elsewhere = 0, 0
    for concept in every:
        if not concept.of(old):
            if concept.of(new):
                moved.add(concept.id)
            continue
        entries, problems = moved_concept(concept, old, new, wheels)
        if concept.id in dated:
            problems.append(Message("facts_dated", {"file": concept.file, "old": old}))
        for message in problems:
            talk.show(talk.of(message))
        if problems:
            left.add(concept.id)
            continue
        moved.add(concept.id)
        for before, after in zip(concept.entries, entries, strict=True):
            places += before != after
            elsewhere += (before.path, before.lines) != (after.path, after.lines)
        file = f"{FACTS_FOLDER}/{concept.name}"
        text = (root / file).read_text("utf-8")
        texts[file] = text, rewritten(text, concept, entries)
    move = Move(old, new, frozenset(moved), frozenset(left))
    files = len(texts)
    if files:
        texts |= following(root, move)
    values = {"old": old, "new": new, "count": files, "left": len(left)}
    numbers = {"places": places, "elsewhere": elsewhere, "others": len(texts) - files}
    _say_to_read(root, texts, move, talk)
    if options.patch:
        store(Path(options.patch), patch(texts).encode("utf-8"))
    if options.dry_run or options.patch:
        talk.say("facts_moved_dry", **values, **numbers)
        return 1 if left else 0
    _store_moved(root, texts)
    talk.say("facts_moved", **values, **numbers)
    if texts:
        talk.say("facts_next", old=old, new=new, version=old.partition(" ")[2])
    return 1 if left else 0


def _store_moved(root: Path, texts: Mapping[str, OldAndNew]) -> None:
    """Write all of the files, or none."""
    contents = dict[Path, bytes | None]()
    for file, (_, text) in texts.items():
        contents[root / file] = text.encode("utf-8")
    try:
        store_all(contents)
    except OSError as error:
        values = {"path": error.filename, "reason": error.strerror}
        raise Refusal("unwritable", **values) from None


def _say_to_read(
    root: Path, texts: Mapping[str, OldAndNew], move: Move, talk: Talk
) -> None:
    """Name the sentences that moved with their facts, and what a person must read."""
    for file, lines in moved_sentences(texts, move):
        numbers = ", ".join(map(str, lines))
        talk.say("facts_sentences", file=file, lines=numbers, new=move.new)
    total = 0
    for file, lines in to_read(root, texts, move):
        total += len(lines)
        talk.say("facts_to_read", file=file, lines=", ".join(map(str, lines)))
    if total:
        talk.say("facts_to_read_all", old=move.old, count=total)


def _dated(root: Path, release: str) -> set[str]:
    """The concepts that show a change of a release: their places of it are history."""
    if not (root / TIMELINE).is_file():
        return set()
    rows = read_rows(root, TIMELINE, Change)
    return {row.facts for row in rows if release in (row.release, row.before)}


def _releases(
    every: Sequence[Concept], options: Namespace, root: Path
) -> tuple[str, str]:
    """The release to move from, and the new one."""
    new = f"{options.project} {options.version}"
    known = set[str]()
    for concept in every:
        known.update(release for release in concept.releases if "@" not in release)
    own = [release for release in known if release.startswith(f"{options.project} ")]
    if not own:
        projects = sorted({release.partition(" ")[0] for release in known})
        values = {"project": options.project, "projects": ", ".join(projects)}
        raise Refusal("facts_no_project", **values)
    if options.old:
        # What is left of a move that has been made may stand on no fact any more.
        own += [each for each in pinned(root) if each.startswith(f"{options.project} ")]
    elif new in known:
        raise Refusal("facts_again", new=new)
    own = sorted(set(own), key=version)
    if options.old:
        from_ = [f"{options.project} {options.old}"]
    else:
        from_ = [release for release in own if version(release) < version(new)]
    if not from_ or from_[-1] not in own or from_[-1] == new:
        raise Refusal("facts_no_release", new=new, releases=", ".join(own))
    return from_[-1], new


def _wheel_of(release: str, root: Path) -> Path:
    wheel = find_wheel(release, root / WHEELS)
    if wheel is None:
        raise Refusal("facts_no_wheel", release=release, folder=WHEELS)
    return wheel
