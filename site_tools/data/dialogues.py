"""The dialogues: what was asked in them, and which page answers it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from site_tools.data.rows import Form, OneLine, PageId, Sentence, read_rows, unique
from site_tools.data.topics import TOPICS
from site_tools.messages import Message

DIALOGUES_FILE = "docs/dialogues.yml"
QUESTION_ID = r"\d{3}·[1-9]\d*"


@dataclass(frozen=True)
class Asked(Sentence):
    """A question as it was asked, and the page that answers it."""

    id: Annotated[str, Form(QUESTION_ID, "form_question")]
    page: PageId
    aside: OneLine = ""  # "yes": not about PPO

    @property
    def topic(self) -> str:
        return self.page.partition("/")[0]

    @property
    def anchor(self) -> str:
        return "q-" + self.id.replace("·", "-")


@dataclass(frozen=True)
class Dialogue(Sentence):
    """A conversation: its number, what it is about, its questions in order."""

    id: Annotated[str, Form(r"\d{3}", "form_dialogue")]
    questions: tuple[Asked, ...]


def read_dialogues(root: Path) -> tuple[Dialogue, ...]:
    dialogues = read_rows(root, DIALOGUES_FILE, Dialogue)
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


def disagreements(
    dialogues: Sequence[Dialogue], answers: Mapping[str, Sequence[str]]
) -> list[Message]:
    """Where pages, by what they say they answer, and dialogues name different homes."""
    homes = {asked.id: asked.page for each in dialogues for asked in each.questions}
    wrong = []
    for page, ids in answers.items():
        said = [each for each in ids if re.fullmatch(QUESTION_ID, each)]
        due = [question for question, home in homes.items() if home == page]
        if {*said} != {*due}:
            values = {"due": ", ".join(due) or "-", "ids": ", ".join(said) or "-"}
            wrong.append(Message("home_other", {"page": page, **values}))
    return wrong
