"""How much one wording of a question is like another, in Chinese and in English.

Both are taken apart into what they talk about; what few pages talk about counts for
more.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt
from typing import NamedTuple

from site_tools.contributing.ideas import HAN, Ideas, fold
from site_tools.data.names import Name

WORTH = re.compile(r"[^\W_]")
PAIR = 0.5  # Chinese pairs overlap: each character is in two of them
# Words of a question that names no topic, as "why is that?".
BARE = re.compile(
    r"\b(?:an?|are|be|can|could|did|do(?:es)?|examples?|explain|for|give|how|i|is|it|me|"
    r"mean|more|of|please|show|so|that|the|this|to|was|we|what|when|where|which|who|why|"
    r"you)\b|为(?:什么|何|啥)|怎么(?:办|样|会)?|怎样|什么|如何|解释|详细|例子|示例|可以|"
    r"[这那个样会是能举呢吗么的了请说讲再给我你下一些种意思]"
)
UNNAMED = 0.5  # what a page keeps that names nothing of what the question names
PAGE = 0.2  # of all that a page was ever called, beside its nearest wording


class Known(NamedTuple):
    """A page, the wording of it that is nearest, and how near, from 0 to 1."""

    page: str
    wording: str
    likeness: float


class Likeness:
    """Compares a question with all wordings of all pages.

    Args:
        wordings: The wordings of each page.
        names: The rows of the glossary.

    Example:
        >>> pages = {"gae/a": ["Why add deltas?"], "critic/b": ["What is fitted?"]}
        >>> nearest, _ = Likeness(pages, []).nearest("Why are deltas added?")
        >>> nearest.page
        'gae/a'
    """

    def __init__(
        self, wordings: Mapping[str, Sequence[str]], names: Sequence[Name]
    ) -> None:
        self._ideas = Ideas(names)
        read = {
            page: [(text, self._ideas.of(text)) for text in texts]
            for page, texts in wordings.items()
        }
        self._called = {p: frozenset().union(*(i for _, i in read[p])) for p in read}
        self._pages_with = Counter(idea for i in self._called.values() for idea in i)
        self._wordings = {
            page: [(text, ideas, self._weight(ideas)) for text, ideas in texts]
            for page, texts in read.items()
        }

    def nearest(self, question: str, language: str = "") -> list[Known]:
        """All pages, those that are likest first.

        Args:
            question: As it was asked; one that names nothing is like nothing.
            language: That of the wordings to show, where a page has one.
        """
        bare = not WORTH.search(BARE.sub(" ", fold(question)))
        asked = frozenset() if bare else self._ideas.of(question)
        known = [self._likest(page, asked, language) for page in self._wordings]
        return sorted(known, key=lambda page: -page.likeness)

    def _likest(self, page: str, asked: frozenset[str], language: str) -> Known:
        whole = self._weight(asked) or 1
        near = [
            (self._weight(asked & ideas) / sqrt(whole * (weight or 1)), text)
            for text, ideas, weight in self._wordings[page]
        ]
        best, text = max(near, default=(0.0, ""))
        spoken = [(n, t) for n, t in near if _language(t) == language]
        shown = max(spoken, key=lambda one: one[0], default=(best, text))[1]
        covered = self._weight(asked & self._called[page]) / whole
        likeness = (best + PAGE * covered) / (1 + PAGE)
        named = {idea for idea in asked if idea.startswith("=") or "_" in idea}
        if named and not named & self._called[page]:
            likeness *= UNNAMED
        return Known(page, shown, likeness)

    def _weight(self, ideas: Iterable[str]) -> float:
        """The rarer among the pages, the more; what is on none is as on one."""
        return sum(
            (PAIR if HAN.match(idea) else 1)
            * log(1 + len(self._called) / (self._pages_with[idea] or 1))
            for idea in ideas
        )


def _language(text: str) -> str:
    return "zh" if HAN.search(text) else "en"
