"""One word for one idea: a word that the glossary rejects is found on a page.

Quotations keep their words, set off or between quotation marks, and so does code; the
aliases of a page are its readers' words.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from site_tools.data.names import Name, key, pattern
from site_tools.page import picture_reading, picture_texts
from site_tools.page.page import Page
from site_tools.page.prose import line_of, plain
from site_tools.problems import Problem

QUOTED = re.compile(r"“[^“”\n]*”|「[^」\n]*」|\"[^\"\n]*\"")


def check_terms(page: Page, names: Sequence[Name], root: Path) -> list[Problem]:
    """Every word of a page or its pictures that the glossary has another for.

    Args:
        page: The page; its question or title counts, its aliases do not.
        names: The rows of the glossary.
        root: The project's folder.
    """
    title = str(page.meta.get("question", page.meta.get("title", "")))
    front = page.text.partition(title)[0].count("\n") + 1 if title else 1
    texts = [(page.path, front, title), (page.path, 1, plain(page.body, page.refs))]
    for path in page.pictures:
        svg = (root / path).read_text("utf-8")
        texts += [(path, line, words) for line, words in _drawn(svg, page.language)]
    return [
        problem
        for path, first, text in texts
        for problem in check_text(text, path, page.language, names, first)
    ]


def check_text(
    text: str, path: str, lang: str, names: Sequence[Name], first: int = 1
) -> list[Problem]:
    """The same of a text that is no page, as a topic's sentence or a meaning.

    Args:
        text: The text, in one language.
        path: Its file, for the messages.
        lang: Its language.
        names: The rows of the glossary.
        first: The line on which it begins.
    """
    text = QUOTED.sub(lambda match: " " * len(match[0]), text)
    problems = []
    for at, word, name in rejected(text, lang, tuple(names)):
        term, why = getattr(name, lang), getattr(name, f"choice_{lang}")
        expected = f"{term}, as the glossary says: {why}"
        fix = f"write {term}; if it is somebody else's word, put it in quotation marks"
        line = first + line_of(text, at) - 1
        problems.append(Problem(path, line, word, expected, fix))
    return problems


def _drawn(svg: str, lang: str) -> Iterator[tuple[int, str]]:
    """The texts of a picture, each with its line; one that cannot be read has none."""
    try:
        root = picture_reading.read(svg)
    except picture_reading.Refused:
        return
    for element in picture_texts.texts(root):
        letters = [*picture_texts.letters(element, lang, "")]
        if letters:
            yield letters[0].line, "".join(letter.text for letter in letters)


def rejected(
    text: str, lang: str, names: tuple[Name, ...]
) -> Iterator[tuple[int, str, Name]]:
    """Where a rejected word stands, the word, and the name that has another for it."""
    words, found = _vocabulary(names, lang)
    for match in found.finditer(text):
        word = key(match[0])
        name = words.get(word) or words.get(word.removesuffix("s"))
        if name is not None:
            yield match.start(), match[0], name


@lru_cache(maxsize=4)
def _vocabulary(
    names: tuple[Name, ...], lang: str
) -> tuple[dict[str, Name], re.Pattern[str]]:
    """Rejected words; and a pattern of all words, since a good one may hold a bad."""
    bad = {key(w): name for name in names for w in getattr(name, f"not_{lang}")}
    good = [w for n in names for w in (getattr(n, lang), *getattr(n, f"also_{lang}"))]
    return bad, pattern([*bad, *good], lang)
