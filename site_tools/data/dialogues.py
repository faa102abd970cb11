"""The dialogues: each question once, with the page that answers it.

A file of YAML, ``docs/dialogues.yml``; see its first lines for what a row holds.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from site_tools.data import records

NUMBER = re.compile(r"\d{3}·[1-9]\d*")
FORMS = {
    "zh": records.ANY,
    "en": records.ANY,
    "id": (NUMBER.pattern, "dialogue·number like 004·2"),
    "page": records.PAGE,
}
HEAD = FORMS | {"id": (r"\d{3}", "three digits like 004"), "questions": None}
del HEAD["page"]
WORDS = ("zh", "en")


class Asked(NamedTuple):
    """A question as it was asked, and the page that answers it."""

    id: str
    zh: str
    en: str
    page: str

    @property
    def anchor(self) -> str:
        """The id of the question on its page."""
        return "q-" + self.id.replace("·", "-")


class Dialogue(NamedTuple):
    """A conversation: its number, what it is about, its questions in order."""

    id: str
    zh: str
    en: str
    questions: tuple[Asked, ...]


def parse(text: str, topics: Sequence[str]) -> tuple[Dialogue, ...]:
    """Read ``docs/dialogues.yml``.

    Args:
        text: The file.
        topics: The folders in which a page may lie.

    Raises:
        ValueError: naming file, entry and field.
    """
    items = records.load(text, "dialogues.yml")
    if not isinstance(items, list):
        raise ValueError("dialogues.yml: must be a list of dialogues '- id: \"004\"'")
    return tuple(_dialogue(n, item, items, topics) for n, item in enumerate(items))


def _dialogue(
    index: int, item: Any, items: Sequence[Any], topics: Sequence[str]
) -> Dialogue:
    where = f"dialogues.yml, dialogue {index + 1}"
    records.check(where, item, HEAD)
    where = f"dialogues.yml, dialogue {item['id']}"
    records.check_words(where, item, WORDS)
    if item["id"] in [other["id"] for other in items[:index]]:
        raise ValueError(f"{where}: the id is taken by an earlier dialogue")
    if not isinstance(item["questions"], list) or not item["questions"]:
        raise ValueError(f"{where}: questions must be a list, not empty")
    rows = enumerate(item["questions"], 1)
    asked = tuple(_asked(where, item["id"], n, row, topics) for n, row in rows)
    return Dialogue(item["id"], item["zh"], item["en"], asked)


def _asked(
    where: str, dialogue: str, number: int, row: Any, topics: Sequence[str]
) -> Asked:
    where = f"{where}, question {number}"
    records.check(where, row, FORMS)
    records.check_words(where, row, WORDS)
    if row["id"] != f"{dialogue}·{number}":
        raise ValueError(
            f"{where}: id must be {dialogue}·{number}, in order and each once, "
            f"got {row['id']}"
        )
    if row["page"].partition("/")[0] not in topics:
        known = ", ".join(topics)
        raise ValueError(f"{where}: page must lie in {known}, got {row['page']}")
    return Asked(**row)


def disagreements(
    dialogues: Sequence[Dialogue], answers: Mapping[str, Sequence[str]]
) -> list[str]:
    """Where pages and dialogues name different homes of a question, one line each.

    Args:
        dialogues: All of them.
        answers: By page id, what the page says that it answers.
    """
    homes = {asked.id: asked.page for each in dialogues for asked in each.questions}
    found = []
    for page, said in answers.items():
        for question in filter(NUMBER.fullmatch, said):
            home = homes.get(question)
            if home is None:
                found.append(f"{page}: no dialogue asks {question}; correct answers")
            elif home != page:
                found.append(
                    f"{page}: answers must not hold {question}, whose home in "
                    f"docs/dialogues.yml is {home}; change one of the two"
                )
        missing = [q for q, home in homes.items() if home == page and q not in said]
        found += [
            f"{page}: answers must hold {question}, whose home it is in "
            f"docs/dialogues.yml, got {list(said)}"
            for question in missing
        ]
    return found
