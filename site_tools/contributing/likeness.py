"""Search of every wording of every page for a question that has been asked.

Two wordings are alike as far as they share pairs of characters; a pair that few pages
have counts for more.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from site_tools.compile import navigation
from site_tools.data.dialogues import read_dialogues
from site_tools.messages import LANGUAGES
from site_tools.source import files
from site_tools.source.content import Heading, read_content
from site_tools.source.files import split_aliases

# Measured on tests/contributing/paraphrases.yml: above it nearly nothing that is new.
SAME_QUESTION = 0.54
MOST_LIKE = 3
LATIN_WORD = re.compile("[a-z0-9]+|[㐀-鿿]+")
GREEK = re.compile("[α-ω]")


class KnownPage(NamedTuple):
    """A page, the wording of it that is nearest, and how near, from 0 to 1."""

    page: str
    wording: str
    likeness: float


def search(pages: Mapping[str, Sequence[str]]) -> Callable[[str], list[KnownPage]]:
    """A function that finds the pages nearest to a question, made once for many."""
    texts = list[tuple[str, str]]()
    common = Counter[str]()
    for page, some in pages.items():
        of_page = set[str]()
        for text in some:
            texts.append((page, text))
            of_page |= _pairs(text)
        common.update(of_page)
    row = {pair: at for at, pair in enumerate(common)}
    weights = np.array([_weight(len(pages), count) for count in common.values()])
    holds = np.zeros((len(common), len(texts)), dtype=bool)
    for column, (_, text) in enumerate(texts):
        holds[[row[pair] for pair in _pairs(text)], column] = True
    sizes = weights @ holds

    def nearest(question: str) -> list[KnownPage]:
        asked = _pairs(question)
        rows = [row[pair] for pair in asked if pair in row]
        new = len(asked) - len(rows)
        asked_size = weights[rows].sum() + new * _weight(len(pages), 1)
        size = np.sqrt(asked_size * sizes)
        size[size == 0] = 1
        shared = weights[rows] @ holds[rows]
        found = shared / size
        known = {page: KnownPage(page, "", 0) for page in pages}
        for (page, text), likeness in zip(texts, found.tolist(), strict=True):
            if likeness > known[page].likeness or not known[page].wording:
                known[page] = KnownPage(page, text, likeness)
        return sorted(known.values(), key=lambda page: -page.likeness)

    return nearest


def _weight(pages: int, count: int) -> float:
    return log(1 + pages / count) ** 2


def answering(known: Sequence[KnownPage]) -> list[KnownPage]:
    """The pages near enough to ask whether they have answered it, three at most."""
    return [page for page in known if page.likeness >= SAME_QUESTION][:MOST_LIKE]


@cache
def _pairs(text: str) -> frozenset[str]:
    """The pairs of characters of the words; a Greek letter is its name."""
    folded = unicodedata.normalize("NFKC", text).lower()
    folded = GREEK.sub(lambda letter: f" {_respelled(letter[0])} ", folded)
    line = f" {' '.join(LATIN_WORD.findall(folded))} "
    return frozenset(line[at : at + 2] for at in range(len(line) - 1))


def _respelled(letter: str) -> str:
    name = unicodedata.name(letter).split()[-1].lower()
    return name.replace("lamda", "lambda")  # as Unicode spells it, and as code does


def _section_names(heading: Heading) -> list[str]:
    """The names of a section: its title, and its id where that is of words."""
    name = heading.id.removeprefix("assert-").replace("-", " ")
    return [heading.title, name] if " " in name else [heading.title]


def wordings(root: Path) -> dict[str, list[str]]:
    """All that each page is called in either language, other than its own text.

    Its question or title, its aliases, the claims that it refutes, and how the
    dialogues asked. A section of a page in ``debug`` counts as a page, as in
    ``debug/symptoms#kl``: these lead from one symptom to the next.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for language in LANGUAGES:
        folder = root / "docs" / language
        for path, front in files.front_matters(folder).items():
            page = path.removesuffix(".md")
            others = split_aliases(front.get("aliases"))
            for text in (front.get("question"), front.get("title")):
                if text:
                    found[page].append(str(text))
            found[page] += filter(None, others.pop(""))
            for section, words in others.items():
                found[f"{page}#{section}"] += words
            if page.startswith("debug/"):
                content = read_content((folder / path).read_text("utf-8"))
                for heading in content.headings:
                    if heading.level == 2 and heading.id:
                        found[f"{page}#{heading.id}"] += _section_names(heading)
        for answer in navigation.answers(root, language):
            found[answer.page] += [wrong.claim for wrong in answer.wrong]
    for dialogue in read_dialogues(root):
        for asked in dialogue.questions:
            found[asked.page] += [asked.zh, asked.en]
    index = {page for page in found if page.rpartition("/")[2] == "index"}
    return {page: texts for page, texts in found.items() if page not in index}
