"""The pages of a language as the lists show them, in reading order."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from site_tools.data.dialogues import Asked, read_dialogues
from site_tools.page.fences import Fence, scan
from site_tools.page.files import read_front_matter
from site_tools.page.prose import (
    WrongAnswer,
    body,
    first_paragraph,
    read_wrong_answers,
    section_text,
)

# Under each tab: the folder whose pages stand there directly, then its topics.
TABS: dict[str, tuple[str, tuple[str, ...]]] = {
    "learn": ("course", ()),
    "questions": (
        "questions",
        ("pipeline", "rewards", "alignment", "bootstrap", "gae", "critic", "on_policy"),
    ),
    "debug": ("debug", ()),
    "lab": ("notebooks", ()),
    "reference": ("reference", ("ppo_ref",)),
    "about": ("about", ("contribute",)),
}
QUESTION_TOPICS = TABS["questions"][1]
TOPICS = (*QUESTION_TOPICS, *TABS["about"][1])
COURSE = TABS["learn"][0]
# Pages that stand before the others of their folder.
FIRST = ("index", "symptoms", "ten_asserts", "wrong_answers")

VERDICT = re.compile(r"\*\*(?P<words>.+?)[。.：:，,；;]?\*\*[。.：:，,；;]?")
PICTURE = re.compile(r"^!\[(?P<alt>.+)\]\((?P<file>[^()\s]+\.svg)\)", re.MULTILINE)
FACT = re.compile(r"fact|\{\s*\.fact\s*\}")


class Answer(NamedTuple):
    """A page: its question or title, its answer in Markdown, and what it leans on."""

    page: str  # its id, as in gae/inputs
    title: str
    verdict: str = ""  # the bold first words of the answer
    short: str = ""  # the first paragraph of the answer
    answers: tuple[str, ...] = ()  # the questions of the dialogues
    needs: tuple[str, ...] = ()  # the pages that it builds on
    wrong: tuple[WrongAnswer, ...] = ()  # the claims that it refutes
    facts: tuple[str, ...] = ()  # the facts files that it shows
    picture: tuple[str, str] | None = None  # what its picture shows, and the file

    @property
    def topic(self) -> str:
        """The folder of the page."""
        return self.page.partition("/")[0]


@cache  # keyed by the text: a changed page is read again
def read_answer(text: str, page: str, path: str) -> Answer:
    """What the lists say of one page; the checks say what it lacks."""
    front, _ = read_front_matter(text, path)
    fences, _ = scan(text, path)
    prose = body(text, fences)
    short = first_paragraph(section_text(prose, "answer"))
    verdict = VERDICT.match(short)
    drawn = PICTURE.search(section_text(prose, "picture"))
    return Answer(
        page,
        str(front.get("question") or front.get("title") or ""),
        verdict["words"] if verdict else "",
        short,
        tuple(map(str, front.get("answers") or ())),
        tuple(map(str, front.get("needs") or ())),
        tuple(read_wrong_answers(prose, fences, path)[0]),
        _facts(fences),
        (drawn["alt"], drawn["file"]) if drawn else None,
    )


def _facts(fences: Sequence[Fence]) -> tuple[str, ...]:
    shown = (f.lines[0].split() for f in fences if f.lines and FACT.fullmatch(f.info))
    return tuple(dict.fromkeys(words[0] for words in shown if words))


def _folder(root: Path, lang: str, name: str) -> dict[str, Answer]:
    """The pages of a folder by their ids, but for its index."""
    pages = {}
    for file in sorted((root / "docs" / lang / name).glob("[!.]*.md")):
        page, path = f"{name}/{file.stem}", file.relative_to(root).as_posix()
        if file.stem != "index":
            pages[page] = read_answer(file.read_text("utf-8"), page, path)
    return pages


def answers(root: Path, lang: str, topics: Sequence[str] = TOPICS) -> list[Answer]:
    """The question pages of a language, or those of some folders, in reading order."""
    folders = [_folder(root, lang, topic) for topic in topics]
    needs = {page: {*a.needs} for pages in folders for page, a in pages.items()}
    return [pages[page] for pages in folders for page in in_order(pages, needs)]


def users(root: Path, lang: str) -> list[Answer]:
    """The pages that may lean on a fact: the question pages, then all others."""
    others = (_folder(root, lang, folder) for folder, _ in TABS.values())
    return [*answers(root, lang), *(a for pages in others for a in pages.values())]


def in_order(pages: Collection[str], needs: Mapping[str, set[str]]) -> list[str]:
    """Needed pages first, ties by id; before everything an index, and ``FIRST``."""

    def rank(page: str) -> tuple[int, str]:
        name = page.rpartition("/")[2]
        return FIRST.index(name) if name in FIRST else len(FIRST), page

    waiting, done = sorted(pages, key=rank), list[str]()
    while waiting:
        free = (page for page in waiting if needs[page].isdisjoint(waiting))
        page = next(free, waiting[0])  # a cycle is refused where the site is built
        waiting.remove(page)
        done.append(page)
    return done


def asked(root: Path, lang: str) -> dict[str, tuple[Asked, Asked | None]]:
    """The dialogues' questions by id, each with the next that another page answers.

    That page is written in the language.
    """
    questions: dict[str, tuple[Asked, Asked | None]] = {}
    for dialogue in read_dialogues(root):
        page, following, later = "", None, None
        for question in reversed(dialogue.questions):
            if question.page != page:
                page, following = question.page, later
            questions[question.id] = question, following
            if (root / "docs" / lang / f"{question.page}.md").exists():
                later = question
    return questions
