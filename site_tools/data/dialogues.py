"""What was asked, and where it is answered: the dialogues, topics, public threads.

The first lines of the files in ``docs`` say what a row holds.
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
    Sentence,
    Text,
    read_rows,
    unique,
)
from site_tools.messages import Message, Refusal

FILE, TOPICS_FILE = "docs/dialogues.yml", "docs/topics.yml"
CORRECTIONS_FILE, THREADS_FILE = "docs/corrections.yml", "docs/threads.yml"
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
ISSUE = re.compile(r"[\w.-]+/[\w.-]+#\d+")
CLUSTERS = 30  # of threads that ask the same; 0 is none of them


@dataclass(frozen=True)
class Asked(Sentence):
    """A question as it was asked, and the page that answers it."""

    id: Annotated[str, Form(NUMBER, "form_question")]
    page: PageId

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


@dataclass(frozen=True)
class Topic(Sentence):
    """A topic, its sentence in both languages, and the page whose picture tells it."""

    id: TopicId
    picture: PageId = ""


PROOFS = ("fails", "holds", "prints", "fact", "cites")  # the kinds of a proof


@dataclass(frozen=True)
class Proof(Row):
    """What proves a correction, of one kind, and the heading under which it stands."""

    at: Annotated[str, Form(PAGE_ID + r"#[\w-]+", "form_anchor")]
    fails: Text = ""  # the assertion of the wrong statement, on which a block fails
    holds: Text = ""  # an assertion that a block passes
    prints: Text = ""  # a line of a block's output
    fact: Text = ""  # a fact of a release, as a fence names it: values verl 0.9.1
    cites: Text = ""  # a source, as refs name it

    def __post_init__(self) -> None:
        if self.line and len([kind for kind in PROOFS if getattr(self, kind)]) != 1:
            raise self.refuse("proof_kind", kinds=", ".join(PROOFS))

    @property
    def kind(self) -> str:
        return next(kind for kind in PROOFS if getattr(self, kind))

    @property
    def text(self) -> str:
        """What must stand there."""
        return str(getattr(self, self.kind))


@dataclass(frozen=True)
class Correction(Row):
    """What the dialogues got wrong, and the proofs of what is right."""

    id: Annotated[str, Form(r"[1-9]\d*", "form_number")]
    about: Text
    held: tuple[Proof, ...]


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


# A host by its name, at the usual port, and a path as browsers write it.
ADDRESS = r"https://(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/[\w./~%?&=+,:#-]*)?"


@dataclass(frozen=True)
class Thread(Row):
    """A public thread: where it is, what was asked, the place that answers it."""

    thread: Text  # as owner/name#17, or how a page on the web is called
    lang: Annotated[str, Form("en|zh|ko", "form_language")]
    en: Text  # the question
    zh: Text = ""  # and as it was asked, if in Chinese
    cluster: Annotated[str, Form(r"0|[1-9]\d?", "form_number")] = "0"
    url: Annotated[str, Form(ADDRESS, "form_address")] = ""
    date: Annotated[str, Form(r"~?\d{4}(-\d\d)?", "form_month")] = ""
    page: Annotated[str, Form(rf"{PAGE_ID}(#[\w-]+)?", "form_place")] = ""
    wrong: Sentence | None = None  # what it says, as it stands

    @property
    def repository(self) -> str:
        """That of its issue; of a page on the web, nothing."""
        return self.thread.rpartition("#")[0] if ISSUE.fullmatch(self.thread) else ""

    @property
    def name(self) -> str:
        """As people write it: ``verl#3276``."""
        project, _, number = self.thread.rpartition("/")[2].partition("#")
        short = self.repository and len(project) > 2  # RL is the name of many
        return f"{project}#{number}" if short else self.thread

    @property
    def address(self) -> str:
        number = self.thread.rpartition("#")[2]
        issue = f"https://github.com/{self.repository}/issues/{number}"
        return self.url or issue * bool(self.repository)

    def asked(self, lang: str) -> tuple[str, str]:
        """In Chinese where it was asked so and the reader reads it, else in English.

        The language comes first.
        """
        return ("zh", self.zh) if lang == "zh" and self.zh else ("en", self.en)


def read_threads(root: Path) -> tuple[Thread, ...]:
    threads = read_rows(root, THREADS_FILE, Thread)
    unique(threads, "thread")
    for thread in threads:
        if not thread.address or int(thread.cluster) > CLUSTERS:
            raise thread.refuse("thread_place", thread=thread.thread)
    return threads
