"""What a fence can be: code that runs, output, or text that is only shown."""

from dataclasses import dataclass
from enum import Enum

from site_tools.page.fences import Fence
from site_tools.page.includes import Line


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
