"""What each topic says in one sentence, in the order in which data flows."""

from collections.abc import Sequence
from typing import NamedTuple

from site_tools.data import records


class Topic(NamedTuple):
    """A topic, its sentence in both languages, and the page whose picture tells it."""

    id: str
    zh: str
    en: str
    picture: str = ""


def parse(text: str, order: Sequence[str]) -> dict[str, Topic]:
    """Read ``docs/topics.yml``: one row per topic, in order.

    Args:
        text: The file.
        order: The ids of the topics.

    Raises:
        ValueError: naming file, row and field.

    Example:
        >>> parse("- {id: gae, zh: 意外, en: A surprise.}", ["gae"])["gae"].en
        'A surprise.'
    """
    rows = records.load(text, "topics.yml")
    if not isinstance(rows, list):
        raise ValueError("topics.yml: must be a list of topics '- id: gae'")
    for number, row in enumerate(rows, 1):
        where = f"topics.yml, row {number}"
        wanted = dict.fromkeys(Topic._fields, records.ANY)
        if isinstance(row, dict) and "picture" in row:
            inside = (rf"{row.get('id')}/\w+", f"a page of the topic {row.get('id')}")
            wanted["picture"] = inside
        else:
            del wanted["picture"]
        records.check(where, row, wanted)
        records.check_words(where, row, ("zh", "en"))
    ids = [row["id"] for row in rows]
    if ids != list(order):
        raise ValueError(f"topics.yml: id must be in order {list(order)}, got {ids}")
    return {row["id"]: Topic(**row) for row in rows}
