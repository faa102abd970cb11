"""Words in running text, found as words: the glossary's own, and those it rejects."""

import re
from collections.abc import Iterable
from html import escape


def pattern(words: Iterable[str], lang: str) -> re.Pattern[str]:
    """Any of the words in text whose ``<`` and ``&`` are escaped, the longest first.

    Args:
        words: As the glossary writes them.
        lang: In English a word may have an ``s`` more.

    Example:
        >>> pattern(["value", "value head"], "en").findall("Value heads, valued")
        ['Value heads']
    """
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
