"""The blocks of a page: what each fence is, what it includes, what is copied from it.

Every fence gets its meaning, and every output its block; what has no meaning is a
problem with its line. Code from ``snippets/`` is put in as pymdownx does on the site
(``census`` compares the two), and here each line also keeps its origin.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from site_tools.page.fences import Fence, scan
from site_tools.page.files import inside
from site_tools.say import Message, Problem, Refusal, told

INCLUDE = re.compile(
    r'^(?P<indent>[ \t]*)--8<-- "(?P<file>[^":]+)(?::(?P<section>[a-z][-\w]*))?"$'
)
MARKER = re.compile(r"-8<-{1,}\s+\[\s*(start|end)\s*:")


class Line(NamedTuple):
    """A line of code, the page line that shows it, and the snippet line it is."""

    text: str
    page_line: int
    snippet: str | None = None


def text_of(lines: Iterable[Line]) -> str:
    """Lines as one text without trailing blanks."""
    return "\n".join(line.text.rstrip() for line in lines).strip("\n")


def resolve(lines: tuple[str, ...], first_line: int, snippets: Path) -> list[Line]:
    """Replace each include by the lines of its section, or refuse it with its line."""
    resolved: list[Line] = []
    for number, line in enumerate(lines, first_line):
        if "8<-" not in line:
            resolved.append(Line(line, number))
            continue
        match = INCLUDE.match(line)
        if match is None:
            raise Refusal("include_form", line=number, text=line.strip())
        resolved += _included(line, number, match, snippets)
    return resolved


def _included(
    line: str, number: int, match: re.Match[str], snippets: Path
) -> list[Line]:
    name, file = match["file"], snippets / match["file"]
    if not inside(file, snippets):
        raise Refusal("include_beyond", line=number, folder=snippets.name, file=name)
    values = {"line": number, "file": name, "section": match["section"]}
    if not file.is_file() and name.startswith(f"{snippets.name}/"):
        own = line.split('"')[1].removeprefix(f"{snippets.name}/")
        raise Refusal("include_from_root", **values, own=own)
    if not file.is_file():
        known = [f.relative_to(snippets).as_posix() for f in snippets.rglob("*.py")]
        near = [*get_close_matches(name, sorted(known), 1, 0), "topic/page.py"][0]
        raise Refusal("include_missing", **values, near=near)
    try:
        lines = file.read_text("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise Refusal("include_fault", **values, why=error) from None
    origins = _origins(lines, **values)
    while origins and not lines[origins[-1] - 1].strip():
        origins.pop()
    texts = [lines[origin - 1] for origin in origins]
    if match["section"]:
        texts = dedent("\n".join(texts)).split("\n")
    return [
        Line(match["indent"] + text, number, f"{snippets.name}/{name}:{origin}")
        for text, origin in zip(texts, origins, strict=False)
    ]


def _origins(lines: list[str], section: Any, **place: Any) -> list[int]:
    """The numbers of the lines of a section, or of a whole file."""
    first, last = 0, len(lines) + 1
    for edge in ("start", "end") if section else ():
        marks = (n for n, line in enumerate(lines, 1) if f"[{edge}:{section}]" in line)
        at = [n for n in marks if n > first]
        if len(at) != 1:
            key = "include_twice" if at else f"include_no_{edge}"
            names = re.findall(r"\[start:([\w-]+)\]", "\n".join(lines))
            values = {"section": section, "edge": edge, "known": ", ".join(names)}
            if origin := (at[1:] or [first])[0]:  # of a line that is there
                values["snippet"] = f"snippets/{place['file']}:{origin}"
            raise Refusal(key, **values, **place)
        first, last = (at[0], last) if edge == "start" else (first, at[0])
    return [n for n in range(first + 1, last) if not MARKER.search(lines[n - 1])]


class Kind(Enum):
    """How a fence is treated."""

    RUN = "code that runs"
    NORUN = "code that is shown and not run, with the reason"
    OUTPUT = "what the block above must print"
    SHOWN = "text that is only shown"
    DERIVED = "text made from checked data"


SHOWN = "text bash console json yaml toml diff markdown"
DERIVED = (
    "fact glossary notation status questions topic wrong_answers frameworks threads"
)
LANGUAGES = {
    **{"python": Kind.RUN, "output": Kind.OUTPUT},
    **dict.fromkeys(SHOWN.split(), Kind.SHOWN),
    **dict.fromkeys([*DERIVED.split(), "benchmarks"], Kind.DERIVED),
}
CLASSES = {Kind.RUN: {"cont", "raises", "norun", "comment"}}


@dataclass(frozen=True)
class Block:
    """A fence with its meaning, its includes resolved, and the output it must print."""

    fence: Fence
    kind: Kind
    classes: frozenset[str]
    lines: tuple[Line, ...]
    reason: str | None = None  # why it is not run
    output: "Block | None" = None

    @property
    def text(self) -> str:
        """The lines as they run."""
        return text_of(self.lines)

    @property
    def runs(self) -> bool:
        """Whether the block is executed."""
        return self.kind is Kind.RUN

    @property
    def has_box(self) -> bool:
        """Whether readers see it as a code box."""
        return self.kind is not Kind.DERIVED

    @property
    def expects(self) -> str | None:
        """What the block must print, or None if nothing is stated."""
        return None if self.output is None else self.output.text


def read_blocks(
    fences: Sequence[Fence], text: str, path: str, snippets: Path
) -> tuple[list[Block], list[Problem]]:
    """Give each fence of a page its meaning and each output its block."""
    blocks: list[Block] = []
    problems: list[Problem] = []
    above_refused = False
    for fence in fences:
        try:
            block = _read(fence, snippets)
            if block.kind is Kind.OUTPUT and not above_refused:
                blocks = _attach(block, blocks, text.split("\n"))
            blocks.append(block)
            above_refused = False
        except Refusal as fault:
            problems.append(told(fault, path, fence.line))
            above_refused = True
    return blocks, problems


def blocks_of(root: Path, path: str, text: str) -> tuple[list[Block], list[Problem]]:
    """The blocks of a page as they are read, and those that cannot be read."""
    fences, problems = scan(text, path)
    blocks, unread = read_blocks(fences, text, path, root / "snippets")
    return blocks, [*problems, *unread]


def _read(fence: Fence, snippets: Path) -> Block:
    try:
        language, attributes = fence.header
    except ValueError as error:
        raise Refusal("fence_info", info=repr(fence.info), why=error) from None
    if language not in LANGUAGES:
        key = "fence_language" if language else "fence_no_language"
        written = (name for name, kind in LANGUAGES.items() if kind is not Kind.DERIVED)
        known = ", ".join(sorted(written))
        raise Refusal(key, language=repr(language), known=known)
    kind = LANGUAGES[language]
    allowed = CLASSES.get(kind, set())
    if unknown := set(attributes.classes) - allowed:
        kind_of = Message(f"kind_{kind.name.lower()}")
        name, classes = min(unknown), " ".join(f".{each}" for each in sorted(allowed))
        values = {"name": name, "kind": kind_of, "classes": classes or "-"}
        raise Refusal("fence_class", **values)
    lines = resolve(fence.lines, fence.line + 1, snippets)
    block = Block(fence, kind, frozenset(attributes.classes), tuple(lines))
    if "norun" not in attributes.classes:
        return block
    reason = attributes.values.get("data-reason", "").strip()
    if not reason:
        raise Refusal("fence_norun")
    return replace(block, kind=Kind.NORUN, reason=reason)


def _attach(output: Block, blocks: list[Block], page: list[str]) -> list[Block]:
    above = blocks[-1] if blocks else None
    if above is None or not above.runs or above.output is not None:
        raise Refusal("output_astray")
    between = page[above.fence.rows.stop - 1 : output.fence.line - 1]
    for number, line in enumerate(between, above.fence.rows.stop):
        if line.strip():
            raise Refusal("output_behind_prose", line=number)
    return [*blocks[:-1], replace(above, output=output)]


@dataclass(frozen=True)
class Copy:
    """What a copy button gives: the blocks that it is made of, and their lines."""

    chain: tuple[Block, ...]
    lines: tuple[Line, ...]

    @property
    def block(self) -> Block:
        """The block whose button it is."""
        return self.chain[-1]

    @property
    def text(self) -> str:
        """The lines as they run."""
        return text_of(self.lines)

    @property
    def states(self) -> str:
        """What it must print: the outputs of the chain, joined in order."""
        return "\n".join(part.expects for part in self.chain if part.expects)


def copies(blocks: Sequence[Block]) -> list[Copy]:
    """What the copy button of each block of a page gives.

    A block without ``.cont`` runs alone. One with it brings along all blocks from the
    last one without it, but those that are meant to raise.
    """
    chain: list[Block] = []
    made = []
    for block in blocks:
        continues = block.runs and "cont" in block.classes
        whole = [*chain, block] if continues else [block]
        lines: list[Line] = []
        for part in whole:
            gap = [part.lines[0]._replace(text="")] if lines and part.lines else []
            lines += [*gap, *part.lines]
        made.append(Copy(tuple(whole), tuple(lines)))
        if block.runs and "raises" not in block.classes:
            chain = whole
    return made
