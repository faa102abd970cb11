"""Move what is said of a framework to a new release, by its quotations.

Both wheels are read. A quotation that stands once in the new file has its place; one
that stands as often as before keeps its turn among them. A file of ``docs/facts`` is
moved whole, or left as it is and said why.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import yaml

from site_tools.data.facts import (
    Concept,
    Entry,
    lines_with,
    open_wheel,
    place_faults,
    text_in_wheel,
)
from site_tools.data.rows import read_row
from site_tools.messages import Message, Refusal, nearest

ENTRY_FIELD = re.compile(r"^(?P<before>(?:- |  )(?P<name>\w+): +)\S.*$", re.MULTILINE)

SHOWN_PLACES = 3


class NotFound(Exception):
    """The new release does not say it at one place; the message says what is there."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.message = Message(key, values)


def moved_concept(
    concept: Concept, old: str, new: str, wheels: Sequence[Path]
) -> tuple[list[Entry], list[Message]]:
    """The entries of a concept as they are in the new release, and what is not there.

    Those of other releases stay. What a concept says of the new release already is
    left to whoever wrote it.
    """
    if concept.of(new):
        values = {"file": concept.file, "new": new}
        return [], [Message("facts_there", values)]
    entries, problems = list[Entry](), list[Message]()
    for entry in concept.entries:
        if entry.release == old:
            try:
                entry = moved_entry(entry, new, *wheels)
            except NotFound as error:
                place = f"{entry.file}:{entry.line}"
                left = Message("facts_left", {"place": place, "why": error.message})
                problems.append(left)
        entries.append(entry)
    return entries, problems


def moved_entry(entry: Entry, new: str, old_wheel: Path, new_wheel: Path) -> Entry:
    """A place in the new release, or NotFound."""
    old_text = text_in_wheel(old_wheel, entry.path)
    if old_text is None or place_faults(entry, old_text):
        raise NotFound("facts_was_wrong", place_of=entry.place)
    path, text = file_saying(entry, new_wheel)
    first, last = entry.span
    before = landmark_lines(entry, old_text)
    now = landmark_lines(entry, text)
    own = next(line for line in before if first <= line <= last)
    if not now:
        raise NotFound("facts_gone", **nearest_line(entry, path, text))
    if len(now) == 1:
        line = now[0]
    elif len(now) == len(before):
        line = now[before.index(own)]
    else:
        raise NotFound(
            "facts_several",
            landmark=entry.landmark,
            path=path,
            lines=", ".join(map(str, now)),
            nearest=min(now, key=lambda line: abs(line - own)),
        )
    start = line - (own - first)
    end = start + (last - first)
    lines = str(start) if start == end else f"{start}-{end}"
    moved = replace(entry, release=new, path=path, lines=lines)
    if faults := place_faults(moved, text):
        raise NotFound("as_it_is", text=faults[0].found)
    return moved


def file_saying(entry: Entry, wheel: Path) -> tuple[str, str]:
    """The file of the new release: at its path, or the one of its name that says it."""
    text = text_in_wheel(wheel, entry.path)
    if text is not None:
        return entry.path, text
    _, names = open_wheel(wheel)
    paths = list(names)
    saying = dict[str, str]()
    for path in paths:
        if PurePosixPath(path).name == PurePosixPath(entry.path).name:
            text = text_in_wheel(wheel, path) or ""
            if landmark_lines(entry, text):
                saying[path] = text
    if len(saying) == 1:
        return saying.popitem()
    if saying:
        raise NotFound("facts_several_files", path=entry.path, paths=", ".join(saying))
    elsewhere = _elsewhere(entry, wheel)
    if elsewhere:
        raise NotFound("facts_elsewhere", path=entry.path, places=", ".join(elsewhere))
    near = nearest(entry.path, paths)
    raise NotFound("facts_no_file", path=entry.path, nearest=near)


def _elsewhere(entry: Entry, wheel: Path) -> list[str]:
    """The first lines of other files on which a quotation stands, for a person."""
    places = list[str]()
    for path in sorted(open_wheel(wheel)[1]):
        if path.endswith(PurePosixPath(entry.path).suffix):
            lines = lines_with(entry.landmark, text_in_wheel(wheel, path) or "")
            places += [f"{path}:{line}" for line in lines]
    return places[:SHOWN_PLACES]


def landmark_lines(entry: Entry, text: str) -> list[int]:
    """The lines on which a quotation stands, or the one of a key in its config."""
    if not entry.key:
        return lines_with(entry.quote, text)
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    line = 0
    for part in entry.key.split("."):
        if not isinstance(node, yaml.MappingNode):
            return []
        keys = [key.value for key, _ in node.value]
        if part not in keys:
            return []
        key, node = node.value[keys.index(part)]
        line = key.start_mark.line + 1
    return [line]


def nearest_line(entry: Entry, path: str, text: str) -> dict[str, object]:
    """The line of a file that is most like the one that is not there."""
    lines = [line.strip() for line in text.split("\n")]
    closest = nearest(entry.landmark, lines)
    line = lines.index(closest) + 1
    values = {"landmark": entry.landmark, "path": path}
    return {**values, "line": line, "text": closest}


def rewritten(text: str, concept: Concept, entries: Sequence[Entry]) -> str:
    """The file of a concept with these entries; all else in it stays as it was."""
    lines = text.split("\n")
    starts = [entry.line for entry in concept.entries]
    ends = [*starts[1:], len(lines) + 1]
    for start, end, entry in zip(starts, ends, entries, strict=True):
        for number in range(start, end):
            match = ENTRY_FIELD.match(lines[number - 1])
            if match and match["name"] in ("release", "path", "lines"):
                value = getattr(entry, match["name"])
                lines[number - 1] = match["before"] + value
    new = "\n".join(lines)
    if read_row(new, concept.file, Concept).entries != tuple(entries):
        raise Refusal("facts_layout", file=concept.file)
    return new
