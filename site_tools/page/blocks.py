"""What a fence can be: code that runs, output, or text that is only shown.

Every fence of a page gets its meaning, and every output its block. Whatever has no
meaning is a problem with its line, so that no fence is skipped in silence.
"""

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from site_tools.page.fences import Fence
from site_tools.page.includes import Line, resolve
from site_tools.page.package_source import source
from site_tools.problems import Problem, problem
from site_tools.say import Message


class Kind(Enum):
    """How a fence is treated."""

    RUN = "code that runs"
    SESSION = "an interactive session that runs"
    NORUN = "code that is shown and not run, with the reason"
    OUTPUT = "what the block above must print"
    SHOWN = "text that is only shown"
    SOURCE = "a function of ppo_ref, complete with what it needs"
    DERIVED = "text made from checked data"


LANGUAGES = {
    **dict.fromkeys(("python", "py", "python3", "py3"), Kind.RUN),
    "pycon": Kind.SESSION,
    "output": Kind.OUTPUT,
    **dict.fromkeys(
        ("text", "bash", "console", "json", "yaml", "toml", "diff", "markdown"),
        Kind.SHOWN,
    ),
    "source": Kind.SOURCE,
    **dict.fromkeys(("fact", "glossary", "notation", "status"), Kind.DERIVED),
    **dict.fromkeys(
        ("questions", "topic", "wrong_answers", "frameworks", "benchmarks"),
        Kind.DERIVED,
    ),
}
CLASSES = {
    Kind.RUN: {"cont", "raises", "norun", "annotate"},
    Kind.OUTPUT: {"table", "formula"},
}


@dataclass(frozen=True)
class Block:
    """A fence with its meaning.

    Args:
        fence: The fence as it stands on the page.
        kind: How it is treated.
        classes: Classes behind the language, as ``cont`` and ``raises``.
        lines: The lines inside, includes resolved.
        reason: Why the block is not run, shown to readers.
        output: The output fence that belongs to it.
    """

    fence: Fence
    kind: Kind
    classes: frozenset[str]
    lines: tuple[Line, ...]
    reason: str | None = None
    output: "Block | None" = None

    @property
    def text(self) -> str:
        """The lines inside, as one string without trailing blanks."""
        return "\n".join(line.text.rstrip() for line in self.lines).strip("\n")

    @property
    def runs(self) -> bool:
        """Whether the block is executed."""
        return self.kind in (Kind.RUN, Kind.SESSION)

    @property
    def runs_copied(self) -> bool:
        """Whether what a reader copies from it is executed."""
        return self.runs or self.kind is Kind.SOURCE

    @property
    def has_box(self) -> bool:
        """Whether readers see it as a code box, not as a table, formula or list."""
        derived = self.kind is Kind.DERIVED
        return not derived and not self.classes & {"table", "formula"}

    @property
    def expects(self) -> str | None:
        """What the block must print, or None if nothing is stated."""
        return None if self.output is None else self.output.text


def read_blocks(
    fences: list[Fence], text: str, path: str, snippets: Path
) -> tuple[list[Block], list[Problem]]:
    """Give each fence its meaning and each output its block.

    Args:
        fences: The fences of the page, in order.
        text: The page.
        path: Its path, for the messages.
        snippets: The folder of included code.
    """
    blocks: list[Block] = []
    problems: list[Problem] = []
    above_refused = False
    for fence in fences:
        try:
            block = _read(fence, snippets)
            if block.kind is Kind.OUTPUT and not above_refused:
                blocks = _attach(block, blocks, text.splitlines())
            blocks.append(block)
            above_refused = False
        except _Fault as fault:
            problems.append(problem(path, fence.line, fault.key, **fault.values))
            above_refused = True
    return blocks, problems


class _Fault(Exception):
    """Why a fence has no meaning: the key of what is said of it."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.key, self.values = key, values


def _read(fence: Fence, snippets: Path) -> Block:
    try:
        language, attributes = fence.header
    except ValueError as error:
        raise _Fault("fence_info", info=repr(fence.info), why=error) from None
    if not language:
        raise _Fault("fence_no_language", known=", ".join(sorted(LANGUAGES)))
    if language not in LANGUAGES:
        known = ", ".join(sorted(LANGUAGES))
        raise _Fault("fence_language", language=repr(language), known=known)
    kind = LANGUAGES[language]
    allowed = CLASSES.get(kind, set())
    if unknown := set(attributes.classes) - allowed:
        said = Message(f"kind_{kind.name.lower()}")
        name, classes = min(unknown), str(sorted(allowed))
        raise _Fault("fence_class", name=name, kind=said, classes=classes)
    try:
        lines = resolve(fence.lines, fence.line + 1, snippets)
    except ValueError as error:
        raise _Fault("include_unresolved", why=error) from None
    block = Block(fence, kind, frozenset(attributes.classes), tuple(lines))
    if kind is Kind.SOURCE:
        try:
            source(block.text)
        except ValueError as error:
            text = f"```source {block.text}"
            raise _Fault("list_unmade", fence=text, why=error) from None
    if "norun" not in attributes.classes:
        return block
    reason = attributes.values.get("data-reason", "").strip()
    if not reason:
        raise _Fault("fence_norun")
    return replace(block, kind=Kind.NORUN, reason=reason)


def _attach(output: Block, blocks: list[Block], page: list[str]) -> list[Block]:
    above = blocks[-1] if blocks else None
    if above is None or not above.runs or above.output is not None:
        raise _Fault("output_astray")
    end = above.fence.line + len(above.fence.lines) + 1
    between = page[end : output.fence.line - 1]
    if any(line.strip() and not _annotation(line) for line in between):
        raise _Fault("output_behind_prose")
    return [*blocks[:-1], replace(above, output=output)]


def _annotation(line: str) -> bool:
    return line.lstrip()[0].isdigit() or line.startswith("    ")
