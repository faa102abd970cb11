"""The blocks of a page: what each fence is, and what is copied from it.

Every fence gets its meaning, and every output its block; what has no meaning is a
problem with its line.
"""

import ast
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from pathlib import Path

from site_tools.messages import Message, Problem, Refusal, problem_from
from site_tools.source.fences import OPENING, Fence, read_info, scan
from site_tools.source.includes import Line, join_lines, resolve_includes


class Kind(Enum):
    """How a fence is treated."""

    RUN = "code that runs"
    NORUN = "code that is shown and not run, with the reason"
    OUTPUT = "what the block above must print"
    SHOWN = "text that is only shown"
    DERIVED = "text made from checked data"


SHOWN_FENCES = ("text", "bash", "console", "json", "yaml", "toml", "diff", "markdown")
DERIVED_FENCES = (
    "fact",
    "glossary",
    "notation",
    "status",
    "questions",
    "topic",
    "wrong_answers",
    "frameworks",
    "threads",
    "news",
    "benchmarks",
)
KIND_OF = {"python": Kind.RUN, "output": Kind.OUTPUT}
KIND_OF |= dict.fromkeys(SHOWN_FENCES, Kind.SHOWN)
KIND_OF |= dict.fromkeys(DERIVED_FENCES, Kind.DERIVED)
RUN_CLASSES = ("comment", "cont", "norun", "raises")  # of code that runs


@dataclass(frozen=True)
class Block:
    """A fence with its meaning, its includes resolved, and the output it must print."""

    fence: Fence
    kind: Kind
    language: str
    classes: frozenset[str]
    options: Mapping[str, str]
    lines: tuple[Line, ...]
    output: "Block | None" = None

    @property
    def text(self) -> str:
        """The lines as they run."""
        return join_lines(self.lines)

    @property
    def runs(self) -> bool:
        """True if the block is executed."""
        return self.kind is Kind.RUN

    @property
    def raises(self) -> bool:
        """True if the block is executed, and meant to fail."""
        return self.runs and "raises" in self.classes

    @property
    def reason(self) -> str | None:
        """Why it is not run, of code that is not."""
        if self.kind is Kind.NORUN:
            return self.options.get("data-reason", "").strip()
        return None

    @property
    def has_box(self) -> bool:
        """True if readers see it as a code box."""
        return self.kind is not Kind.DERIVED

    @property
    def expects(self) -> str | None:
        """The output that the block must print, or None if nothing is stated."""
        return None if self.output is None else self.output.text

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The syntax of its code; none if it is broken, which is told when it runs."""
        with suppress(SyntaxError):
            return list(ast.walk(ast.parse(self.text)))
        return []

    @property
    def imported(self) -> set[str]:
        """The packages that its code imports."""
        names: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.add(str(node.module))
        return {name.partition(".")[0] for name in names}


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
                _attach(block, blocks, text.split("\n"))
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


def with_includes(text: str, blocks: Sequence[Block]) -> str:
    """The text of a page, with what its fences include in its place."""
    rows = text.split("\n")
    for block in reversed(blocks):
        first, end = block.fence.line, block.fence.rows.stop - 2
        opening = OPENING.match(rows[first - 1])
        if opening and any(line.snippet for line in block.lines):
            indent = opening["prefix"]
            rows[first:end] = [f"{indent}{line.text}" for line in block.lines]
    return "\n".join(rows)


def _read_block(fence: Fence, snippets: Path) -> Block:
    try:
        language, classes, options = read_info(fence.info)
    except ValueError as error:
        raise Refusal("fence_info", info=repr(fence.info), why=error) from None
    kind = _kind_of(language)
    _refuse_classes(classes, kind)
    if "norun" in classes:
        kind = Kind.NORUN
        if not options.get("data-reason", "").strip():
            raise Refusal("fence_norun")
    lines = resolve_includes(fence.lines, fence.line + 1, snippets)
    return Block(fence, kind, language, frozenset(classes), options, tuple(lines))


def _kind_of(language: str) -> Kind:
    if language in KIND_OF:
        return KIND_OF[language]
    known = ", ".join(sorted(["python", "output", *SHOWN_FENCES]))
    if language:
        raise Refusal("fence_language", language=repr(language), known=known)
    raise Refusal("fence_no_language", known=known)


def _refuse_classes(classes: Collection[str], kind: Kind) -> None:
    """Refuse the first class that does not belong to this kind of fence."""
    allowed = RUN_CLASSES if kind is Kind.RUN else ()
    for name in sorted(classes):
        if name not in allowed:
            known = " ".join(f".{each}" for each in allowed) or "-"
            kind_said = Message("fence_kinds", part=kind.name.lower())
            raise Refusal("fence_class", name=name, kind=kind_said, classes=known)


def _attach(output: Block, blocks: list[Block], page: Sequence[str]) -> None:
    """Give an output to the block above it."""
    above = blocks[-1] if blocks else None
    if above is None or not above.runs or above.output is not None:
        raise Refusal("output_astray")
    for number in range(above.fence.rows.stop, output.fence.line):
        if page[number - 1].strip():
            raise Refusal("output_behind_prose", line=number)
    blocks[-1] = replace(above, output=output)


@dataclass(frozen=True)
class Copy:
    """The text that a copy button gives: the blocks that it is made of, their lines."""

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
        """The output that it must print: those of the chain, joined in order."""
        return "\n".join(part.expects for part in self.chain if part.expects)

    @property
    def needs(self) -> list[str]:
        """What it imports and Python does not bring, as an index calls it."""
        imported = set[str]().union(*(part.imported for part in self.chain))
        beyond = sorted(imported - sys.stdlib_module_names)
        return [name.replace("_", "-") for name in beyond]


def copies(blocks: Sequence[Block]) -> list[Copy]:
    """The copies that the buttons of a page give, block by block.

    A block without ``.cont`` runs alone. One with it brings along all blocks from the
    last one without it, but those that are meant to raise.
    """
    above: list[Block] = []
    made = []
    for block in blocks:
        chain = [block]
        if block.runs and "cont" in block.classes:
            chain = [*above, block]
        made.append(Copy(tuple(chain), tuple(_lines_of(chain))))
        if block.runs and not block.raises:
            above = chain
    return made


def _lines_of(chain: Sequence[Block]) -> list[Line]:
    """The lines of some blocks, an empty one between two of them."""
    lines: list[Line] = []
    for block in chain:
        if lines and block.lines:
            lines.append(block.lines[0]._replace(text=""))
        lines += block.lines
    return lines
