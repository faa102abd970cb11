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

from site_tools.messages import Message, Problem, Refusal, problem_from
from site_tools.source.fences import Fence, scan
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


class Kind(Enum):
    """How a fence is treated."""

    RUN = "code that runs"
    NORUN = "code that is shown and not run, with the reason"
    OUTPUT = "what the block above must print"
    SHOWN = "text that is only shown"
    DERIVED = "text made from checked data"


SHOWN_FENCES = "text bash console json yaml toml diff markdown"
DERIVED_FENCES = (
    "fact glossary notation status questions topic wrong_answers frameworks threads"
)
KIND_OF = {
    **{"python": Kind.RUN, "output": Kind.OUTPUT},
    **dict.fromkeys(SHOWN_FENCES.split(), Kind.SHOWN),
    **dict.fromkeys([*DERIVED_FENCES.split(), "benchmarks"], Kind.DERIVED),
}
RUN_CLASSES = ("comment", "cont", "norun", "raises")  # of code that runs


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
        return join_lines(self.lines)

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
            block = _read_block(fence, snippets)
            if block.kind is Kind.OUTPUT and not above_refused:
                blocks = _attach(block, blocks, text.split("\n"))
            blocks.append(block)
            above_refused = False
        except Refusal as fault:
            problems.append(problem_from(fault, path, fence.line))
            above_refused = True
    return blocks, problems


def blocks_of(root: Path, path: str, text: str) -> tuple[list[Block], list[Problem]]:
    """The blocks of a page as they are read, and those that cannot be read."""
    fences, problems = scan(text, path)
    blocks, unread = read_blocks(fences, text, path, root / "snippets")
    return blocks, [*problems, *unread]


def _read_block(fence: Fence, snippets: Path) -> Block:
    try:
        language, attributes = fence.header
    except ValueError as error:
        raise Refusal("fence_info", info=repr(fence.info), why=error) from None
    kind = KIND_OF.get(language)
    if kind is None:
        written = [name for name in KIND_OF if KIND_OF[name] is not Kind.DERIVED]
        known = ", ".join(sorted(written))
        if not language:
            raise Refusal("fence_no_language", known=known)
        raise Refusal("fence_language", language=repr(language), known=known)
    allowed = RUN_CLASSES if kind is Kind.RUN else ()
    for name in sorted(attributes.classes):
        if name not in allowed:
            classes = " ".join(f".{each}" for each in allowed) or "-"
            kind_said = Message("fence_kinds", part=kind.name.lower())
            raise Refusal("fence_class", name=name, kind=kind_said, classes=classes)
    lines = resolve_includes(fence.lines, fence.line + 1, snippets)
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
        return join_lines(self.lines)

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
