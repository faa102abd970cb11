"""The topics: the folders of question pages, and some sentences for each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from site_tools.data.rows import Form, PageId, Row, Words, read_rows
from site_tools.messages import Refusal

TOPICS_FILE = "docs/topics.yml"
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


@dataclass(frozen=True)
class Topic(Row):
    """A topic, its sentences in both languages, and the page whose picture tells it."""

    id: TopicId
    zh: tuple[Words, ...]
    en: tuple[Words, ...]
    picture: PageId = ""


def is_question(page_id: str) -> bool:
    """True if a page answers a question, unlike an index, the home or the reference."""
    topic, _, name = page_id.partition("/")
    return topic in TOPICS and name not in ("", "index")


def read_topics(root: Path) -> dict[str, Topic]:
    topics = {row.id: row for row in read_rows(root, TOPICS_FILE, Topic)}
    if [*topics] != [*TOPICS]:
        values = {"order": ", ".join(TOPICS), "ids": ", ".join(topics)}
        raise Refusal("topic_order", file=TOPICS_FILE, **values)
    return topics
