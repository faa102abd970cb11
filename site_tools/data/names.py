"""The names of the field, one row each: the only source of glossary and notation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Annotated

from site_tools.data.rows import PAGE_ID, Form, Row, Words, read_rows, unique
from site_tools.messages import LANGUAGES

NAMES_FILE = "docs/names.yml"
SHAPE = r"\[[A-Za-z_]+(, [A-Za-z_]+)*\]"
BETWEEN = re.compile("[（）、()]|, ")  # the names that one term has
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
    not_zh: tuple[Words, ...] = ()  # words for it that pages do not use, and why
    not_en: tuple[Words, ...] = ()
    confused_zh: tuple[Words, ...] = ()  # the same, but words for something else
    confused_en: tuple[Words, ...] = ()
    choice_zh: Words = ""
    choice_en: Words = ""
    where: Where = ""  # the page that explains it, or the part of one

    def text(self, field: str, language: str) -> str:
        """A field that both languages have, as ``meaning``; ``""`` is the term."""
        value: str = getattr(self, f"{field}_{language}" if field else language)
        return value

    def unused(self, language: str) -> tuple[str, ...]:
        """The words that pages do not use for it."""
        words: tuple[str, ...] = getattr(self, f"not_{language}")
        confused: tuple[str, ...] = getattr(self, f"confused_{language}")
        return (*words, *confused)

    def heading(self, language: str) -> tuple[str, str]:
        """The term, then what the other language's term adds to it, if anything."""
        term = self.text("", language)
        (other,) = (self.text("", each) for each in LANGUAGES if each != language)
        told = _names_in(term)
        if told.isdisjoint(_names_in(other)):
            return term, other
        added = []
        for part in BETWEEN.split(other):
            if not _names_in(part) <= told:
                added.append(part.strip())
        return term, "、".join(added)

    def further(self, language: str) -> list[str]:
        """Further words for it, beside the names in its heading."""
        told = _names_in(*self.heading(language))
        also: tuple[str, ...] = getattr(self, f"also_{language}")
        unused: tuple[str, ...] = getattr(self, f"not_{language}")
        return [name for name in (*also, *unused) if not _names_in(name) <= told]

    def place(self, language: str) -> bytes:
        """Where the term stands in a list: this encoding has Han by their sound."""
        return self.text("", language).lower().encode("gb18030")


def _names_in(*terms: str) -> set[str]:
    """The names in terms such as ``TIS（截断的重要性采样）``."""
    names = set[str]()
    for term in terms:
        names.update(_key(part) for part in BETWEEN.split(term) if part)
    return names


def read_names(root: Path) -> tuple[Name, ...]:
    names = read_rows(root, NAMES_FILE, Name)
    unique(names, "id")
    for name in names:
        unused = name.unused("zh") or name.unused("en")
        if unused and not (name.choice_zh and name.choice_en):
            raise name.refuse("name_choice", id=name.id)
    return names


# A word is keyed by what its spellings have in common: capitals and blanks do not
# count, ``<`` and ``&`` are escaped as in HTML.


@lru_cache(maxsize=4)
def vocabulary(
    names: tuple[Name, ...], lang: str
) -> tuple[dict[str, Name], dict[str, Name]]:
    """Names by the words for them, and by those that pages do not use."""
    used = dict[str, Name]()
    unused = dict[str, Name]()
    for name in names:
        for word in (name.text("", lang), *getattr(name, f"also_{lang}")):
            used[_key(word)] = name
        for word in name.unused(lang):
            unused[_key(word)] = name
    return used, unused


def named(word: str, known: Mapping[str, Name]) -> Name | None:
    """The name that a word as it is written stands for; English has plurals."""
    key = _key(word)
    return known.get(key) or known.get(key.removesuffix("s"))


def _key(word: str) -> str:
    return " ".join(escape(word).lower().split())


@lru_cache(maxsize=8)
def pattern(keys: tuple[str, ...], lang: str) -> re.Pattern[str]:
    """Any of the words in a text, the longest first.

    Latin ends are ends of words; Han text has none.
    """
    plural = "s?" if lang == "en" else ""
    words = dict[str, list[str]]()
    for word in sorted(keys, key=len, reverse=True):
        start = r"(?<![A-Za-z0-9_-])" if word[0].isascii() else ""
        end = r"(?![A-Za-z0-9_-])" if word[-1].isascii() else ""
        spaced = r"\s+".join(map(re.escape, word.split()))
        words.setdefault(start, []).append(f"{spaced}{plural}{end}")
    # Most places of a text begin no word: that is asked once, not for each.
    any_of = (f"{start}(?:{'|'.join(ends)})" for start, ends in words.items())
    return re.compile("|".join(any_of), re.IGNORECASE)
