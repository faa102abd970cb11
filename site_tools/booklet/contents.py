"""Which pages the book of a language has, and in which order."""

from pathlib import Path
from typing import NamedTuple

from site_tools.compile import navigation
from site_tools.compile.navigation import COURSE, QUESTION_TOPICS
from site_tools.compile.templates import words


class ChapterPlan(NamedTuple):
    """A chapter: one whole page, or the fronts of the pages of a topic."""

    file: str  # its name in the book, without a suffix
    title: str
    pages: tuple[str, ...]  # as course/gae
    whole: bool


class PartPlan(NamedTuple):
    title: str
    chapters: tuple[ChapterPlan, ...]


def planned(root: Path, lang: str) -> list[PartPlan]:
    """The parts of the book that have a chapter: the course, then the questions."""
    said = words(lang)
    parts = [
        PartPlan(said["booklet"]["course"], tuple(_course(root, lang))),
        PartPlan(said["labels"]["questions"], tuple(_topics(root, lang))),
    ]
    return [part for part in parts if part.chapters]


def file_of(page: str) -> str:
    """The name that a page has in the book, as ``course-gae``."""
    return page.replace("/", "-")


def _course(root: Path, lang: str) -> list[ChapterPlan]:
    titles = navigation.titles(root, lang)
    steps = [answer.page for answer in navigation.answers(root, lang, [COURSE])]
    pages = [page for page in (f"{COURSE}/index", *steps) if page in titles]
    return [ChapterPlan(file_of(p), titles[p], (p,), whole=True) for p in pages]


def _topics(root: Path, lang: str) -> list[ChapterPlan]:
    labels, found = words(lang)["labels"], []
    for topic in QUESTION_TOPICS:
        pages = tuple(a.page for a in navigation.answers(root, lang, [topic]))
        if pages:
            found.append(ChapterPlan(topic, labels[topic], pages, whole=False))
    return found
