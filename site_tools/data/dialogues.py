"""The dialogues, each question once with the page that answers it; and the topics.

``docs/dialogues.yml`` and ``docs/topics.yml``; their first lines say what a row holds.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from site_tools.data.rows import (
    PAGE_ID,
    Form,
    PageId,
    Row,
    Text,
    Words,
    read_rows,
    unique,
)
from site_tools.say import Message, Refusal

FILE, TOPICS_FILE = "docs/dialogues.yml", "docs/topics.yml"
CORRECTIONS_FILE = "docs/corrections.yml"
# The folders of question pages, in the order in which data flows.
TOPICS = (
    "pipeline",
    "rewards",
    "alignment",
    "bootstrap",
    "gae",
    "critic",
    "on_policy",
    "loss",
    "off_policy",
    "turns",
    "contribute",
)
TopicId = Annotated[str, Form("|".join(TOPICS), "form_topic")]
NUMBER = r"\d{3}·[1-9]\d*"


@dataclass(frozen=True)
class Asked(Row):
    """A question as it was asked, and the page that answers it."""

    id: Annotated[str, Form(NUMBER, "form_question")]
    zh: Words
    en: Words
    page: PageId

    @property
    def topic(self) -> str:
        return self.page.partition("/")[0]

    @property
    def anchor(self) -> str:
        return "q-" + self.id.replace("·", "-")


@dataclass(frozen=True)
class Dialogue(Row):
    """A conversation: its number, what it is about, its questions in order."""

    id: Annotated[str, Form(r"\d{3}", "form_dialogue")]
    zh: Words
    en: Words
    questions: tuple[Asked, ...]


@dataclass(frozen=True)
class Topic(Row):
    """A topic, its sentence in both languages, and the page whose picture tells it."""

    id: TopicId
    zh: Words
    en: Words
    picture: PageId = ""


@dataclass(frozen=True)
class Correction(Row):
    """What the dialogues got wrong, and the places that say it right."""

    id: Annotated[str, Form(r"[1-9]\d*", "form_number")]
    about: Text
    held: tuple[Annotated[str, Form(PAGE_ID + r"#[\w-]+", "form_anchor")], ...]


def read_dialogues(root: Path) -> tuple[Dialogue, ...]:
    dialogues = read_rows(root, FILE, Dialogue)
    unique(dialogues, "id")
    for dialogue in dialogues:
        for number, asked in enumerate(dialogue.questions, 1):
            if asked.id != f"{dialogue.id}·{number}":
                due = f"{dialogue.id}·{number}"
                raise asked.refuse("dialogue_order", due=due, id=asked.id)
            if asked.topic not in TOPICS:
                known = ", ".join(TOPICS)
                raise asked.refuse("dialogue_page", page=asked.page, topics=known)
    return dialogues


def read_topics(root: Path) -> dict[str, Topic]:
    topics = {row.id: row for row in read_rows(root, TOPICS_FILE, Topic)}
    if [*topics] != [*TOPICS]:
        values = {"order": ", ".join(TOPICS), "ids": ", ".join(topics)}
        raise Refusal("topic_order", file=TOPICS_FILE, **values)
    return topics


def read_corrections(root: Path) -> tuple[Correction, ...]:
    return read_rows(root, CORRECTIONS_FILE, Correction)


def disagreements(
    dialogues: Sequence[Dialogue], answers: Mapping[str, Sequence[str]]
) -> list[Message]:
    """Where pages, by what they say they answer, and dialogues name different homes."""
    homes = {asked.id: asked.page for each in dialogues for asked in each.questions}
    wrong = []
    for page, ids in answers.items():
        said = [each for each in ids if re.fullmatch(NUMBER, each)]
        due = [question for question, home in homes.items() if home == page]
        if {*said} != {*due}:
            values = {"due": ", ".join(due) or "-", "ids": ", ".join(said) or "-"}
            wrong.append(Message("home_other", {"page": page, **values}))
    return wrong
