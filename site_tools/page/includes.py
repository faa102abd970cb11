"""Code that a page includes from ``snippets/``, resolved by pymdownx itself.

The tests and the site use the same preprocessor with the same settings, so that
what runs is what is shown; here every resolved line also keeps its origin.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from markdown import Markdown
from pymdownx.snippets import SnippetExtension, SnippetMissingError, SnippetPreprocessor

from site_tools.page.inside import inside
from site_tools.say import Refusal

INCLUDE = re.compile(r'^[ \t]*--8<-- "(?P<file>[^":]+)(?::(?P<section>[a-z][-\w]*))?"$')
MARKER = re.compile(r"-8<-{1,}\s+\[\s*(start|end)\s*:")


@dataclass(frozen=True)
class Line:
    """A line of code, the page line that shows it, and the snippet line it is."""

    text: str
    page_line: int
    snippet: str | None = None


def resolve(lines: tuple[str, ...], first_line: int, snippets: Path) -> list[Line]:
    """Replace each include by the lines of its section.

    Args:
        lines: The inside of a fence.
        first_line: Page line of ``lines[0]``.
        snippets: The folder of snippets.

    Raises:
        ValueError: with the page line in front, if an include is malformed or
            names a file or section that does not exist.
    """
    resolved: list[Line] = []
    for number, line in enumerate(lines, first_line):
        if "8<-" not in line:
            resolved.append(Line(line, number))
            continue
        match = INCLUDE.match(line)
        if match is None:
            raise Refusal("include_form", line=number, text=repr(line.strip()))
        resolved += _included(line, number, match, snippets)
    return resolved


def _included(
    line: str, number: int, match: re.Match[str], snippets: Path
) -> list[Line]:
    if not inside(snippets / match["file"], snippets):
        folder, file = snippets.name, match["file"]
        raise Refusal("include_beyond", line=number, folder=folder, file=file)
    try:
        texts = _preprocessor(snippets).run([line])
        file = snippets / match["file"]
        numbers = _section_lines(file.read_text("utf-8").splitlines(), match["section"])
    except (SnippetMissingError, ValueError) as error:
        file = match["file"]
        raise Refusal("include_fault", line=number, file=file, why=error) from None
    while texts and not texts[-1].strip():
        texts.pop()
    return [
        Line(text, number, f"{snippets.name}/{match['file']}:{at}")
        for text, at in zip(texts, numbers, strict=False)
    ]


def _section_lines(lines: list[str], section: str | None) -> list[int]:
    plain = [n for n, line in enumerate(lines, 1) if not MARKER.search(line)]
    if section is None:
        return plain
    places = {
        edge: [n for n, line in enumerate(lines, 1) if f"[{edge}:{section}]" in line]
        for edge in ("start", "end")
    }
    for edge, found in places.items():
        if len(found) != 1:
            values = {"section": section, "edge": edge, "count": len(found)}
            raise Refusal("include_section", **values)
    return [n for n in plain if places["start"][0] < n < places["end"][0]]


@lru_cache(maxsize=4)
def _preprocessor(snippets: Path) -> SnippetPreprocessor:
    extension = SnippetExtension(
        base_path=[str(snippets)],
        check_paths=True,
        dedent_subsections=True,
        restrict_base_path=True,
    )
    return SnippetPreprocessor(extension.getConfigs(), Markdown())
