"""The question pages of a language, as the lists need them, and the data files."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from site_tools.data import dialogues as dialogue_file
from site_tools.data import facts as facts_file
from site_tools.html.answer import Said
from site_tools.html.navigation import TABS
from site_tools.html.reading_order import in_order
from site_tools.page.fences import Fence, scan
from site_tools.page.front_matter import read_front_matter
from site_tools.page.prose import body
from site_tools.page.sections import first_paragraph, section_text
from site_tools.page.wrong_answers import WrongAnswer, read_wrong_answers
from site_tools.site.texts import as_html

QUESTION_TOPICS = TABS["questions"][1]
TOPICS = (*QUESTION_TOPICS, *TABS["about"][1])
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
    wrong, _ = read_wrong_answers(prose, fences, path)
    return Answer(
        page,
        str(front["question"]),
        verdict["words"] if verdict else "",
        short,
        tuple(map(str, front.get("answers") or ())),
        tuple(map(str, front.get("needs") or ())),
        tuple(wrong),
        _facts(fences),
        _picture(section_text(prose, "picture")),
    )


def _picture(section: str) -> tuple[str, str] | None:
    found = PICTURE.search(section)
    return (found["alt"], found["file"]) if found else None


def _facts(fences: Sequence[Fence]) -> tuple[str, ...]:
    shown = (f.lines[0].split() for f in fences if f.lines and FACT.fullmatch(f.info))
    return tuple(dict.fromkeys(words[0] for words in shown if words))


def answers(root: Path, lang: str) -> list[Answer]:
    """The question pages of a language, in reading order."""
    docs = root / "docs" / lang
    found = {}
    for file in (file for topic in TOPICS for file in docs.glob(f"{topic}/*.md")):
        if file.stem != "index" and not file.name.startswith("."):
            page, path = f"{file.parent.name}/{file.stem}", file.relative_to(root)
            found[page] = read_answer(file.read_text("utf-8"), page, path.as_posix())
    needs = {page: set(answer.needs) for page, answer in found.items()}
    return [
        found[page]
        for topic in TOPICS
        for page in in_order([p for p in found if found[p].topic == topic], needs)
    ]


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


def dialogues(root: Path) -> tuple[dialogue_file.Dialogue, ...]:
    """The dialogues, from ``docs/dialogues.yml``."""
    return dialogue_file.read_dialogues(root)


def asked(root: Path, lang: str) -> dict[str, Said]:
    """The words of the dialogues' questions by their ids, each with what came next."""
    if not (root / "docs" / "dialogues.yml").exists():
        return {}
    said = {}
    for dialogue in dialogues(root):
        next_page, following, after = "", "", ""
        for question in reversed(dialogue.questions):
            words = as_html(question.zh if lang == "zh" else question.en)
            if question.page != next_page:
                following, next_page = after, question.page
            said[question.id] = Said(words, following)
            if (root / "docs" / lang / f"{question.page}.md").exists():
                href = f"/{question.page}/#{question.anchor}"
                after = f'<a href="{href}">{question.id}</a> {words}'
    return said


def topics(root: Path) -> dict[str, dialogue_file.Topic]:
    """The topics, from ``docs/topics.yml``."""
    return dialogue_file.read_topics(root)


def concepts(root: Path) -> list[facts_file.Concept]:
    """The facts files, by name."""
    return facts_file.concepts(root)
