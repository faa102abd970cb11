"""The phrases that no page uses: what to write instead, and why."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from site_tools.data.rows import Form, OneLine, Row, read_rows, unique

PHRASES_FILE = "docs/phrases.yml"


@dataclass(frozen=True)
class Phrase(Row):
    """Words of one language, what to write instead, and the reason."""

    phrase: OneLine
    lang: Annotated[str, Form("en|zh", "form_language")]
    instead: OneLine
    why: OneLine


def read_phrases(root: Path) -> tuple[Phrase, ...]:
    phrases = read_rows(root, PHRASES_FILE, Phrase)
    unique(phrases, "phrase")
    return phrases
