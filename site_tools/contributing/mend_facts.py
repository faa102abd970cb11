"""Facts mended by fix: a quotation that stands elsewhere in its own release is found.

A place has one right form where the quotation stands once in the release, or once
within the file. Where it stands on several lines, or nowhere, a person decides.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from site_tools.contributing.move_facts import (
    NotFound,
    file_saying,
    landmark_lines,
    nearest_line,
    rewritten,
)
from site_tools.data.facts import (
    FACTS_FOLDER,
    WHEELS,
    Entry,
    concept,
    find_wheel,
    place_faults,
    text_in_wheel,
)
from site_tools.messages import Message


def mended_facts(
    names: Iterable[str], root: Path
) -> tuple[dict[str, str], list[Message]]:
    """The files of these concepts that are mended, and what a person must mend."""
    files = dict[str, str]()
    left = list[Message]()
    for name in names:
        read = concept(root, f"{name}.yml")
        entries, problems = _mended_entries(read.entries, root)
        left += problems
        if entries != list(read.entries):
            file = root / FACTS_FOLDER / read.name
            new = rewritten(file.read_bytes().decode("utf-8"), read, entries)
            files[f"{FACTS_FOLDER}/{read.name}"] = new
    return files, left


def _mended_entries(
    entries: Sequence[Entry], root: Path
) -> tuple[list[Entry], list[Message]]:
    mended, left = list[Entry](), list[Message]()
    for entry in entries:
        wheel = find_wheel(entry.release, root / WHEELS)
        if wheel is None:
            mended.append(entry)
            unread = Message("facts_unread", {"release": entry.release})
            if entry.checked and str(unread) not in map(str, left):
                left.append(unread)
            continue
        try:
            mended.append(placed_again(entry, wheel))
        except NotFound as error:
            mended.append(entry)
            place = f"{entry.file}:{entry.line}"
            left.append(Message("facts_left", {"place": place, "why": error.message}))
    return mended, left


def placed_again(entry: Entry, wheel: Path) -> Entry:
    """A fact at the place where its own release has it, or NotFound."""
    text = text_in_wheel(wheel, entry.path)
    if text is not None and not place_faults(entry, text):
        return entry
    path, text = file_saying(entry, wheel)
    lines = landmark_lines(entry, text)
    if not lines:
        raise NotFound("facts_gone", **nearest_line(entry, path, text))
    first, last = entry.span
    if len(lines) > 1:
        raise NotFound(
            "facts_several",
            landmark=entry.landmark,
            path=path,
            lines=", ".join(map(str, lines)),
            nearest=min(lines, key=lambda line: abs(line - first)),
        )
    # Where in a span the quotation stood is not known any more: it begins with it now.
    spread = str(lines[0]) if first == last else f"{lines[0]}-{lines[0] + last - first}"
    placed = replace(entry, path=path, lines=spread)
    if faults := place_faults(placed, text):
        raise NotFound("as_it_is", text=faults[0].found)
    return placed
