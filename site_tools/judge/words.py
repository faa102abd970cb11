"""The words of a page: those that the glossary rejects, and what is still TODO.

Quotations keep their words, set off or between quotation marks, and so does code; the
aliases of a page are its readers' words.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from site_tools.data.names import Name, named, pattern, read_names, vocabulary
from site_tools.messages import Problem, problem
from site_tools.page.page import Page
from site_tools.page.pictures import picture_flows, picture_tree
from site_tools.source.content import line_of
from site_tools.source.inline import plain_prose

QUOTED_WORDS = re.compile(r"“[^“”\n]*”|「[^」\n]*」|\"[^\"\n]*\"")
TODO = re.compile(r"(?<!`)\bTODO\b[:：]?[^.。*?？]*")  # `TODO` is only spoken of


def check_terms(page: Page, names: Sequence[Name] = ()) -> Iterator[Problem]:
    """Every word of a page or its pictures that the glossary has another for."""
    names = names or read_names(page.root)
    language = page.language
    title = str(page.meta.get("question", page.meta.get("title", "")))
    line = page.line_with(title) or 1
    yield from check_text(title, page.path, language, names, line)
    words = page.without_refs(plain_prose(page.content.own_words))
    yield from check_text(words, page.path, language, names)
    for path in page.pictures:
        tree = picture_tree((page.root / path).read_text("utf-8"))
        for flow in picture_flows(tree, language):
            line = flow.pieces[0].line
            yield from check_text(flow.text, path, language, names, line)


def check_text(
    text: str, path: str, lang: str, names: Sequence[Name], first: int = 1
) -> list[Problem]:
    """The same of a text that is not a page, as a topic's sentence or a meaning."""
    text = QUOTED_WORDS.sub(lambda match: " " * len(match[0]), text)
    good, rejected = vocabulary(tuple(names), lang)
    spaced = " ".join(text.lower().split())
    if not any(word in spaced for word in rejected):  # far sooner known
        return []
    problems = []
    # Of all words, since a good one may hold a bad.
    for match in pattern((*rejected, *good), lang).finditer(text):
        if name := named(match[0], rejected):
            term, why = name.text("", lang), name.text("choice", lang)
            values = {"word": match[0], "term": term, "why": why}
            line = first + line_of(text, match.start()) - 1
            problems.append(problem(path, line, "word_rejected", **values))
    return problems


def todo(root: Path, path: str, text: str) -> list[Problem]:
    """Every line of a page, and of its snippet, that still says TODO."""
    page = "/".join(Path(path).with_suffix("").parts[2:])
    texts, snippet = {path: text}, f"snippets/{page}.py"
    if (root / snippet).is_file():
        texts[snippet] = (root / snippet).read_text("utf-8", errors="replace")
    problems = []
    for file, written in texts.items():
        for line, words in enumerate(written.splitlines(), 1):
            if match := TODO.search(words):
                problems.append(problem(file, line, "todo", text=match[0].strip()))
    return problems
