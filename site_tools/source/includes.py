"""Includes: lines of ``snippets/`` put in where a page names them, origins kept.

``with_includes`` of ``blocks`` puts them into the text that is shown; ``judge.census``
compares what readers then see.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from site_tools.messages import Refusal, nearest
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
        resolved += _included_lines(match, number, snippets)
    return resolved


def _included_lines(match: re.Match[str], number: int, snippets: Path) -> list[Line]:
    """The lines that an include on this line of the page stands for."""
    name, section = match["file"], match["section"]
    source = _read_snippet(name, number, snippets)
    if section:
        origins = _Sections(source, name, section, number).rows()
    else:
        origins = _unmarked(source)
    while origins and not source[origins[-1] - 1].strip():
        origins.pop()
    texts = [source[origin - 1] for origin in origins]
    if section:
        texts = dedent("\n".join(texts)).split("\n")
    included = []
    for text, origin in zip(texts, origins, strict=False):
        place = f"{snippets.name}/{name}:{origin}"
        included.append(Line(match["indent"] + text, number, place))
    return included


def _read_snippet(name: str, number: int, snippets: Path) -> list[str]:
    """The lines of a snippet, which an include on this line of the page names."""
    file = snippets / name
    values: dict[str, Any] = {"line": number, "file": name}
    if not inside(file, snippets):
        raise Refusal("include_beyond", folder=snippets.name, **values)
    if not file.is_file():
        known = [f.relative_to(snippets).as_posix() for f in snippets.rglob("*.py")]
        own = name.removeprefix(f"{snippets.name}/")
        near = nearest(own, sorted(known), "topic/page.py")
        raise Refusal("include_missing", near=near, **values)
    try:
        return file.read_text("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise Refusal("include_fault", why=error, **values) from None


def _unmarked(source: list[str]) -> list[int]:
    """The numbers of the lines of a file, but of those that mark a section."""
    return [n for n, line in enumerate(source, 1) if not SECTION_MARK.search(line)]


class _Sections:
    """A section of a snippet, which an include on a line of the page names."""

    def __init__(self, source: list[str], file: str, section: str, number: int) -> None:
        self._source, self._file, self._section = source, file, section
        self._values: dict[str, Any] = {
            "line": number,
            "file": file,
            "section": section,
        }

    def rows(self) -> list[int]:
        """The numbers of its lines."""
        starts = self._marks("start")
        if not starts:
            known = re.findall(r"\[start:([\w-]+)\]", "\n".join(self._source))
            raise Refusal("include_no_start", known=", ".join(known), **self._values)
        self._refuse_second("start", starts)
        ends = [end for end in self._marks("end") if end > starts[0]]
        if not ends:
            snippet = f"snippets/{self._file}:{starts[0]}"
            raise Refusal("include_no_end", snippet=snippet, **self._values)
        self._refuse_second("end", ends)
        return [n for n in _unmarked(self._source) if starts[0] < n < ends[0]]

    def _marks(self, edge: str) -> list[int]:
        """The numbers of the lines that begin or end it."""
        mark = f"[{edge}:{self._section}]"
        return [n for n, line in enumerate(self._source, 1) if mark in line]

    def _refuse_second(self, edge: str, marks: list[int]) -> None:
        if len(marks) > 1:
            snippet = f"snippets/{self._file}:{marks[1]}"
            values = {"edge": edge, "snippet": snippet, **self._values}
            raise Refusal("include_twice", **values)
