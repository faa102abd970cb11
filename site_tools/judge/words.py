"""The words of a page: those that the glossary rejects, and what is still TODO.

Quotations keep their words, set off or between quotation marks, and so does code; the
aliases of a page are its readers' words.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from site_tools.data.names import Name, named, pattern, read_names, vocabulary
from site_tools.data.phrases import read_phrases
from site_tools.messages import Problem, Problems, problem
from site_tools.page.page import Page
from site_tools.page.pictures import picture_flows, picture_tree
from site_tools.source.files import text_of

QUOTED_WORDS = re.compile(r"“[^“”\n]*”|「[^」\n]*」|\"[^\"\n]*\"")
TODO = re.compile(r"(?<!`)\bTODO\b[:：]?[^.。*?？]*")  # `TODO` is only spoken of


class Rejected(NamedTuple):
    """A word that the glossary has another for, and where it begins in a text."""

    start: int
    word: str
    name: Name


def check_terms(page: Page, names: Sequence[Name] = ()) -> Problems:
    """Every word of a page or its pictures that the glossary has another for."""
    names = names or read_names(page.root)
    yield from _in_title(page, names)
    yield from _names_in_text(page, names)
    for path in page.pictures:
        yield from _in_picture(path, page, names)


def check_phrases(page: Page) -> Problems:
    """Every phrase of a page that none should use."""
    phrases = [each for each in read_phrases(page.root) if each.lang == page.language]
    for flow in page.flows:
        if flow.quoted:
            continue
        text = _without_quotations(flow.prose)
        for phrase in phrases:
            start = text.find(phrase.phrase)
            if start >= 0:
                line = page.line_near(phrase.phrase, flow.line_at(start))
                values = {"instead": phrase.instead, "why": phrase.why}
                yield page.problem(line, "phrase", phrase=phrase.phrase, **values)


def _in_title(page: Page, names: Sequence[Name]) -> Problems:
    title = str(page.meta.get("question", page.meta.get("title", "")))
    for found in rejected_words(title, page.language, names):
        line = page.line_with(title) or 1
        yield _problem(page.path, line, found, page.language)


def _names_in_text(page: Page, names: Sequence[Name]) -> Problems:
    for flow in page.flows:
        if flow.quoted:
            continue
        text = page.without_refs(flow.prose)
        for found in rejected_words(text, page.language, names):
            line = page.line_near(found.word, flow.line_at(found.start))
            yield _problem(page.path, line, found, page.language)


def _in_picture(path: str, page: Page, names: Sequence[Name]) -> Problems:
    tree = picture_tree((page.root / path).read_text("utf-8"))
    for flow in picture_flows(tree, page.language):
        for found in rejected_words(flow.text, page.language, names):
            line = flow.piece_at(found.start).line
            yield _problem(path, line, found, page.language)


def rejected_words(text: str, lang: str, names: Sequence[Name]) -> list[Rejected]:
    """The words of a text, but of its quotations, that the glossary rejects."""
    text = _without_quotations(text)
    good, rejected = vocabulary(tuple(names), lang)
    spaced = " ".join(text.lower().split())
    if not any(word in spaced for word in rejected):  # far sooner known
        return []
    found = []
    # Of all words, since a good one may hold a bad.
    for match in pattern((*rejected, *good), lang).finditer(text):
        name = named(match[0], rejected)
        if name:
            found.append(Rejected(match.start(), match[0], name))
    return found


def _without_quotations(text: str) -> str:
    return QUOTED_WORDS.sub(lambda match: " " * len(match[0]), text)


def _problem(path: str, line: int, found: Rejected, lang: str) -> Problem:
    values = {
        "word": found.word,
        "term": found.name.text("", lang),
        "why": found.name.text("choice", lang),
    }
    return problem(path, line, "word_rejected", **values)


def todo(root: Path, path: str, text: str) -> list[Problem]:
    """Every line of a page, and of its snippet, that still says TODO."""
    page = "/".join(Path(path).with_suffix("").parts[2:])
    snippet = f"snippets/{page}.py"
    problems = _todo_in(text, path)
    if (root / snippet).is_file():
        problems += _todo_in(text_of(root / snippet), snippet)
    return problems


def _todo_in(text: str, path: str) -> list[Problem]:
    problems = []
    for line, words in enumerate(text.splitlines(), 1):
        match = TODO.search(words)
        if match:
            left = match[0].strip()
            problems.append(problem(path, line, "todo", text=left))
    return problems
