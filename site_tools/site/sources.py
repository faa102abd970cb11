"""The question pages of a language, as the lists need them, and the data files."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from site_tools.data.dialogues import FILE as DIALOGUES
from site_tools.data.dialogues import Asked, Dialogue, read_dialogues
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
# Pages that stand before the others of their folder.
FIRST = ("index", "symptoms", "ten_asserts", "wrong_answers")

VERDICT = re.compile(r"\*\*(?P<words>.+?)[。.：:，,；;]?\*\*[。.：:，,；;]?")
PICTURE = re.compile(r"^!\[(?P<alt>.+)\]\((?P<file>[^()\s]+\.svg)\)", re.MULTILINE)
FACT = re.compile(r"fact|\{\s*\.fact\s*\}")


class Answer(NamedTuple):
    """A question page: its title, its answer in Markdown, and what it leans on.

    Args:
        page: Its id, as in ``gae/inputs``.
        title: The question.
        verdict: The bold first words of the answer, or "" if there are none.
        short: The first paragraph of the answer.
        answers: The questions that it answers.
        needs: The pages that it builds on.
        wrong: The claims that it refutes.
        facts: The names of the facts files that it shows.
        picture: What its picture shows, and the file; None if it has none.
    """

    page: str
    title: str
    verdict: str
    short: str
    answers: tuple[str, ...]
    needs: tuple[str, ...]
    wrong: tuple[WrongAnswer, ...]
    facts: tuple[str, ...]
    picture: tuple[str, str] | None = None

    @property
    def topic(self) -> str:
        """The folder of the page."""
        return self.page.partition("/")[0]


@cache  # keyed by the text: a changed page is read again
def read_answer(text: str, page: str, path: str) -> Answer:
    """What the lists say of one page; the checks say what it lacks.

    Raises:
        ValueError: naming the page, if its front matter cannot be read.
    """
    front, problems = read_front_matter(text, path)
    if problems or "question" not in front:
        raise ValueError("\n".join(map(str, problems)) or f"{path}: no question")
    fences, _ = scan(text, path)
    prose = body(text, fences)
    short = first_paragraph(section_text(prose, "answer"))
    verdict = VERDICT.match(short)
    drawn = PICTURE.search(section_text(prose, "picture"))
    return Answer(
        page,
        str(front["question"]),
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


def answers(root: Path, lang: str) -> list[Answer]:
    """The question pages of a language, in reading order."""
    docs, pages = root / "docs" / lang, {}
    for file in chain.from_iterable(docs.glob(f"{topic}/*.md") for topic in TOPICS):
        if file.stem != "index" and not file.name.startswith("."):
            page, path = f"{file.parent.name}/{file.stem}", file.relative_to(root)
            pages[page] = read_answer(file.read_text("utf-8"), page, path.as_posix())
    needs = {page: set(answer.needs) for page, answer in pages.items()}
    return [
        pages[page]
        for topic in TOPICS
        for page in in_order([p for p in pages if pages[p].topic == topic], needs)
    ]


def in_order(pages: Collection[str], needs: Mapping[str, set[str]]) -> list[str]:
    """Needed pages first, ties by id; before everything an index, and ``FIRST``.

    Example:
        >>> in_order(["gae/a", "gae/b"], {"gae/a": {"gae/b"}, "gae/b": set()})
        ['gae/b', 'gae/a']
    """

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


def users(root: Path, lang: str) -> list[Answer]:
    """The pages that may lean on a fact: the question pages, then all others."""
    docs, others = root / "docs" / lang, []
    files = [sorted(docs.glob(f"{folder}/*.md")) for folder, _ in TABS.values()]
    for file in chain.from_iterable(files):
        text, path = file.read_text("utf-8"), file.relative_to(root).as_posix()
        front, _ = read_front_matter(text, path)
        page, title = f"{file.parent.name}/{file.stem}", str(front.get("title", ""))
        facts = _facts(scan(text, path)[0])
        others.append(Answer(page, title, "", "", (), (), (), facts))
    return [*answers(root, lang), *others]


def dialogues(root: Path) -> tuple[Dialogue, ...]:
    """The dialogues; none where the project has no such file."""
    return read_dialogues(root) if (root / DIALOGUES).exists() else ()


class Question(NamedTuple):
    """A question of a dialogue, and the next one that another page answers."""

    id: str
    zh: str
    en: str
    next: Asked | None


def questions(root: Path, lang: str) -> dict[str, Question]:
    """The dialogues' questions by their ids; a next one has a page in the language."""
    found: dict[str, Question] = {}
    for dialogue in dialogues(root):
        page, following, later = "", None, None
        for asked in reversed(dialogue.questions):
            if asked.page != page:
                page, following = asked.page, later
            found[asked.id] = Question(asked.id, asked.zh, asked.en, following)
            if (root / "docs" / lang / f"{asked.page}.md").exists():
                later = asked
    return found
