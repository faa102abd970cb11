"""The names of the field, one row each: the only source of glossary and notation."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Annotated

from site_tools.data.rows import PAGE_ID, Form, Row, Words, read_rows, unique

FILE = "docs/names.yml"
SHAPE = r"\[[A-Za-z_]+(, [A-Za-z_]+)*\]"
Shape = Annotated[str, Form(SHAPE, "form_shape", figures=False)]
Where = Annotated[str, Form(rf"{PAGE_ID}(#[a-z][a-z0-9-]*)?", "form_anchor")]


@dataclass(frozen=True)
class Name(Row):
    """One idea: its term in both languages, and its symbol if it has one."""

    id: Words
    zh: Words
    en: Words
    meaning_zh: Words
    meaning_en: Words
    symbol: Words = ""
    code: Words = ""
    shape: Shape = ""
    unit_zh: Words = ""
    unit_en: Words = ""
    also_zh: tuple[Words, ...] = ()  # further words for it, found in the text of pages
    also_en: tuple[Words, ...] = ()
    not_zh: tuple[Words, ...] = ()  # words that pages do not use, and why
    not_en: tuple[Words, ...] = ()
    choice_zh: Words = ""
    choice_en: Words = ""
    where: Where = ""  # the page that explains it, or the part of one

    def text(self, field: str, language: str) -> str:
        """A field that both languages have, as ``meaning``; ``""`` is the term."""
        value: str = getattr(self, f"{field}_{language}" if field else language)
        return value

    def place(self, language: str) -> bytes:
        """Where the term stands in a list: this encoding has Han by their sound."""
        return self.text("", language).lower().encode("gb18030")


def read_names(root: Path) -> tuple[Name, ...]:
    names = read_rows(root, FILE, Name)
    unique(names, "id")
    for name in names:
        if (name.not_zh or name.not_en) and not (name.choice_zh and name.choice_en):
            raise name.refuse("name_choice", id=name.id)
    return names


def pattern(words: Iterable[str], lang: str) -> re.Pattern[str]:
    """Any of the words in text whose ``<`` and ``&`` are escaped, the longest first."""
    longest = sorted(words, key=len, reverse=True)
    return re.compile("|".join(_pattern(word, lang) for word in longest), re.IGNORECASE)


def key(word: str) -> str:
    """What two spellings of a word have in common, capitals and spaces apart."""
    return " ".join(escape(word).lower().split())


def _pattern(word: str, lang: str) -> str:
    """Latin ends are ends of words; Han text has none. English has plurals."""
    spaced = r"\s+".join(map(re.escape, escape(word).split()))
    start = r"(?<![A-Za-z0-9_-])" if word[0].isascii() else ""
    end = r"(?![A-Za-z0-9_-])" if word[-1].isascii() else ""
    plural = "s?" if lang == "en" else ""
    return f"{start}{spaced}{plural}{end}"
