"""Includes: lines of ``snippets/`` put in where a page names them, origins kept.

``with_includes`` of ``blocks`` puts them into the text that is shown; ``judge.census``
compares what readers then see.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from site_tools.messages import Refusal
from site_tools.source.files import inside

INCLUDE = re.compile(
    r'^(?P<indent>[ \t]*)--8<-- "(?P<file>[^":]+)(?::(?P<section>[a-z][-\w]*))?"$'
)
SECTION_MARK = re.compile(r"-8<-{1,}\s+\[\s*(start|end)\s*:")


class Line(NamedTuple):
    """A line of code, the page line that shows it, and the snippet line it is."""

    text: str
    page_line: int
    snippet: str | None = None


def join_lines(lines: Iterable[Line]) -> str:
    """Lines as one text without trailing blanks."""
    return "\n".join(line.text.rstrip() for line in lines).strip("\n")


def resolve_includes(
    lines: tuple[str, ...], first_line: int, snippets: Path
) -> list[Line]:
    """Replace each include by the lines of its section, or refuse it with its line."""
    resolved: list[Line] = []
    for number, line in enumerate(lines, first_line):
        if "8<-" not in line:
            resolved.append(Line(line, number))
            continue
        match = INCLUDE.match(line)
        if match is None:
            raise Refusal("include_form", line=number, text=line.strip())
        resolved += _included_lines(line, number, match, snippets)
    return resolved


def _included_lines(
    line: str, number: int, match: re.Match[str], snippets: Path
) -> list[Line]:
    name, file = match["file"], snippets / match["file"]
    if not inside(file, snippets):
        raise Refusal("include_beyond", line=number, folder=snippets.name, file=name)
    values = {"line": number, "file": name, "section": match["section"]}
    if not file.is_file():
        if name.startswith(f"{snippets.name}/"):
            own = line.split('"')[1].removeprefix(f"{snippets.name}/")
            raise Refusal("include_from_root", **values, own=own)
        known = [f.relative_to(snippets).as_posix() for f in snippets.rglob("*.py")]
        near = get_close_matches(name, sorted(known), n=1, cutoff=0)
        nearest = near[0] if near else "topic/page.py"
        raise Refusal("include_missing", **values, near=nearest)
    try:
        lines = file.read_text("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise Refusal("include_fault", **values, why=error) from None
    section = match["section"]
    origins = _section_lines(lines, name, section, number) if section else _whole(lines)
    while origins and not lines[origins[-1] - 1].strip():
        origins.pop()
    texts = [lines[origin - 1] for origin in origins]
    if section:
        texts = dedent("\n".join(texts)).split("\n")
    return [
        Line(match["indent"] + text, number, f"{snippets.name}/{name}:{origin}")
        for text, origin in zip(texts, origins, strict=False)
    ]


def _whole(lines: list[str]) -> list[int]:
    """The numbers of the lines of a file, but of those that mark a section."""
    return [n for n, line in enumerate(lines, 1) if not SECTION_MARK.search(line)]


def _section_lines(lines: list[str], file: str, section: str, number: int) -> list[int]:
    """The numbers of the lines of a section; ``number`` is that of its include."""
    place: dict[str, Any] = {"line": number, "file": file, "section": section}
    starts = _section_marks(lines, "start", section)
    if not starts:
        known = ", ".join(re.findall(r"\[start:([\w-]+)\]", "\n".join(lines)))
        raise Refusal("include_no_start", known=known, **place)
    _refuse_second("start", starts, place)
    ends = [end for end in _section_marks(lines, "end", section) if end > starts[0]]
    if not ends:
        snippet = f"snippets/{file}:{starts[0]}"
        raise Refusal("include_no_end", snippet=snippet, **place)
    _refuse_second("end", ends, place)
    return [n for n in _whole(lines) if starts[0] < n < ends[0]]


def _refuse_second(edge: str, marks: list[int], place: dict[str, Any]) -> None:
    if len(marks) > 1:
        snippet = f"snippets/{place['file']}:{marks[1]}"
        raise Refusal("include_twice", edge=edge, snippet=snippet, **place)


def _section_marks(lines: list[str], edge: str, section: str) -> list[int]:
    """The numbers of the lines that begin or end a section."""
    mark = f"[{edge}:{section}]"
    return [number for number, line in enumerate(lines, 1) if mark in line]
