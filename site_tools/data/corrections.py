"""The corrections: what the dialogues got wrong, and what proves what is right."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from site_tools.data.rows import PAGE_ID, Form, OneLine, Row, read_rows

CORRECTIONS_FILE = "docs/corrections.yml"
PROOFS = ("fails", "holds", "prints", "fact", "cites")  # the kinds of a proof


@dataclass(frozen=True)
class Proof(Row):
    """The proof of a correction, of one kind, and the heading under which it stands."""

    at: Annotated[str, Form(PAGE_ID + r"#[\w-]+", "form_anchor")]
    fails: OneLine = ""  # the assertion of the wrong statement, on which a block fails
    holds: OneLine = ""  # an assertion that a block passes
    prints: OneLine = ""  # a line of a block's output
    fact: OneLine = ""  # a fact of a release, as a fence names it: values verl 0.9.1
    cites: OneLine = ""  # a source, as refs name it

    def __post_init__(self) -> None:
        if self.line and len([kind for kind in PROOFS if getattr(self, kind)]) != 1:
            raise self.refuse("proof_kind", kinds=", ".join(PROOFS))

    @property
    def kind(self) -> str:
        return next(kind for kind in PROOFS if getattr(self, kind))

    @property
    def text(self) -> str:
        """The text that must stand there."""
        return str(getattr(self, self.kind))


@dataclass(frozen=True)
class Correction(Row):
    """A thing that the dialogues got wrong, and the proofs of what is right."""

    id: Annotated[str, Form(r"[1-9]\d*", "form_number")]
    about: OneLine
    held: tuple[Proof, ...]


def read_corrections(root: Path) -> tuple[Correction, ...]:
    return read_rows(root, CORRECTIONS_FILE, Correction)
