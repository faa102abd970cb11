"""What a wording of a question talks about, in Chinese and in English.

Terms of the glossary, which are the same in both languages; pairs of Chinese
characters; stems of other words; identifiers and their parts.
"""

import re
import unicodedata
from collections.abc import Sequence
from html import escape

from site_tools.data.names import Name, key, pattern

HAN = re.compile("[㐀-鿿]+")
WORD = re.compile(r"[^\W㐀-鿿]+")
GREEK = re.compile("[α-ω]")
ENDING = re.compile(r"(?P<stem>.{3,}?)(?:(?P<twice>[^aeiou])(?P=twice)?ing|ed|e?s|e)?")


class Ideas:
    """Takes wordings apart.

    Args:
        names: The rows of the glossary.

    Example:
        >>> sorted(Ideas([]).of("怎么 clip_ratio？"))
        ['clip', 'clip_ratio', 'ratio', '怎么']
    """

    def __init__(self, names: Sequence[Name]) -> None:
        self._names: dict[str, str] = {}
        for row in names:
            told = (row.zh, row.en, *row.also_zh, *row.also_en)
            for word in (*told, *row.not_zh, *row.not_en):
                self._names.setdefault(key(word), row.id)
        self._pattern = pattern(self._names, "en") if self._names else None

    def of(self, text: str) -> frozenset[str]:
        """What the text talks about; a term of the glossary begins with ``=``."""
        found: set[str] = set()
        text = fold(text)
        for match in self._pattern.finditer(escape(text)) if self._pattern else ():
            word = key(match[0])
            name = self._names.get(word) or self._names.get(word.removesuffix("s"))
            if name:
                found.add(f"={name}")
                text = text.replace(match[0], " ")
        for run in HAN.findall(text):
            found |= {run[at : at + 2] for at in range(len(run) - 1)} or {run}
        for word in WORD.findall(text):
            found |= {stem(part) for part in word.split("_") if part}
            found |= {word} if "_" in word.strip("_") else set()
        return frozenset(found)


def fold(text: str) -> str:
    """One spelling for all: full width, capitals, δ and delta.

    Example:
        >>> fold("ＧＡＥ 的 λ")
        'gae 的  lambda '
    """
    text = unicodedata.normalize("NFKC", text).lower()
    return GREEK.sub(lambda letter: f" {_spelled(letter[0])} ", text)


def _spelled(letter: str) -> str:
    name = unicodedata.name(letter).split()[-1].lower()
    return name.replace("lamda", "lambda")  # as Unicode spells it, and as code does


def stem(word: str) -> str:
    """The beginning that the forms of a word share.

    Example:
        >>> [stem(word) for word in ("clipping", "clips", "computed", "computing")]
        ['clip', 'clip', 'comput', 'comput']
    """
    match = ENDING.fullmatch(word)
    return (match["stem"] + (match["twice"] or "") if match else word)[:6]
