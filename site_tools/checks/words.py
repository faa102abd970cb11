"""One word for one idea, and no word left over from the beginning of a page.

A word that the glossary rejects is found on a page and in its pictures. Quotations
keep their words, set off or between quotation marks, and so does code; the aliases of
a page are its readers' words.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from site_tools.data.names import Name, key, pattern
from site_tools.page.page import Page
from site_tools.page.pictures import line_in_picture, picture_tree
from site_tools.page.prose import line_of, plain
from site_tools.page.rendered import flows
from site_tools.problems import Problem, problem

QUOTED = re.compile(r"“[^“”\n]*”|「[^」\n]*」|\"[^\"\n]*\"")
TODO = re.compile(r"(?<!`)\bTODO\b[:：]?[^.。*?？]*")  # `TODO` is only spoken of


def check_terms(page: Page, names: Sequence[Name], root: Path) -> list[Problem]:
    """Every word of a page or its pictures that the glossary has another for."""
    title = str(page.meta.get("question", page.meta.get("title", "")))
    front = page.line_with(title) or 1
    texts = [(page.path, front, title), (page.path, 1, plain(page.body, page.refs))]
    for path in page.pictures:
        tree = picture_tree((root / path).read_text("utf-8"))
        for flow in flows(tree, page.language):
            texts.append((path, line_in_picture(flow.pieces[0].node), flow.text))
    return [
        each
        for path, first, text in texts
        for each in check_text(text, path, page.language, names, first)
    ]


def check_text(
    text: str, path: str, lang: str, names: Sequence[Name], first: int = 1
) -> list[Problem]:
    """The same of a text that is not a page, as a topic's sentence or a meaning."""
    text = QUOTED.sub(lambda match: " " * len(match[0]), text)
    rejected, words = _vocabulary(tuple(names), lang)
    problems = []
    for match in words.finditer(text):
        word = key(match[0])
        if name := rejected.get(word) or rejected.get(word.removesuffix("s")):
            term, why = name.text("", lang), name.text("choice", lang)
            values = {"word": match[0], "term": term, "why": why}
            line = first + line_of(text, match.start()) - 1
            problems.append(problem(path, line, "word_rejected", **values))
    return problems


@lru_cache(maxsize=4)
def _vocabulary(
    names: tuple[Name, ...], lang: str
) -> tuple[dict[str, Name], re.Pattern[str]]:
    """Rejected words; and a pattern of all words, since a good one may hold a bad."""
    bad = {key(w): name for name in names for w in getattr(name, f"not_{lang}")}
    good = [w for n in names for w in (n.text("", lang), *getattr(n, f"also_{lang}"))]
    return bad, pattern([*bad, *good], lang)


def todo(root: Path, path: str, text: str) -> list[Problem]:
    """Every line of a page, and of its snippet, that still says TODO.

    It fails no check of a page, which is being written; but no build of the site and
    no run of all tests lets it through."""
    page = "/".join(Path(path).with_suffix("").parts[2:])
    texts, snippet = {path: text}, f"snippets/{page}.py"
    if (root / snippet).is_file():
        texts[snippet] = (root / snippet).read_text("utf-8", errors="replace")
    return [
        problem(file, line, "todo", text=match[0].strip())
        for file, written in texts.items()
        for line, words in enumerate(written.splitlines(), 1)
        if (match := TODO.search(words))
    ]
