"""The news of the site: a row for each piece, the oldest first.

A row is never changed but for a mistake: who subscribed knows it by its number.
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

from site_tools.data.facts import Release
from site_tools.data.rows import PAGE_ID, Form, Row, Words, read_rows

NEWS = "docs/news.yml"
NEW_QUESTION = "question"  # a new page, which says itself all that there is to say
NAMING = ("facts", "release")  # of frameworks that were read, of ppo_ref


@dataclass(frozen=True)
class News(Row):
    """One piece of news: its number, its day, what kind it is, the place it is about.

    A question page is told by its question and its verdict. All else has a sentence,
    and behind it the releases that it is about.
    """

    id: Annotated[str, Form(r"[1-9]\d*", "form_number")]
    date: Annotated[str, Form(r"\d{4}-\d\d-\d\d", "form_day")]
    page: Annotated[str, Form(rf"{PAGE_ID}(#[\w-]+)?", "form_place")]
    kind: Annotated[
        str, Form(f"{NEW_QUESTION}|verdict|part|{'|'.join(NAMING)}", "form_news")
    ] = NEW_QUESTION
    zh: Words = ""
    en: Words = ""
    releases: tuple[Release, ...] = ()

    def __post_init__(self) -> None:
        try:
            date.fromisoformat(self.date)
        except ValueError:
            raise self.refuse("news_day", got=self.date) from None
        said, due = [bool(self.zh), bool(self.en)], self.kind != NEW_QUESTION
        if said != [due, due]:
            raise self.refuse("news_words")
        if bool(self.releases) != (self.kind in NAMING):
            raise self.refuse("news_releases")


def read_news(root: Path) -> tuple[News, ...]:
    rows = read_rows(root, NEWS, News)
    latest = ""
    for number, row in enumerate(rows, 1):
        if row.id != str(number):
            raise row.refuse("news_order", due=number, got=row.id)
        if row.date < latest:
            raise row.refuse("news_back", got=row.date, latest=latest)
        latest = row.date
    return rows
