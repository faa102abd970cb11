"""What people asked in public, and where it is answered: ``docs/threads.yml``."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from site_tools.data.rows import PAGE_ID, Form, Row, Text, Words, read_rows, unique

FILE = "docs/threads.yml"
CLUSTERS = range(1, 31)  # of questions that are one question; 0 is none of them
ISSUE = re.compile(r"([\w.-]+/([\w.-]+))#(\d+)")
Place = Annotated[str, Form(rf"{PAGE_ID}(#[\w-]+)?", "form_place")]


@dataclass(frozen=True)
class Wrong(Row):
    """What a thread, as it stands, gets wrong."""

    en: Words
    zh: Words


@dataclass(frozen=True)
class Thread(Row):
    """A public thread: where it is, what was asked, the place that answers it."""

    thread: Text  # as owner/name#17, or how a page on the web is called
    lang: Annotated[str, Form("en|zh|ko", "form_language")]
    en: Text  # the question
    zh: Text = ""  # and as it was asked, if in Chinese
    cluster: Annotated[str, Form(r"0|[1-9]\d?", "form_number")] = "0"
    url: Text = ""
    date: Annotated[str, Form(r"~?\d{4}(-\d\d)?", "form_month")] = ""
    page: Place = ""
    wrong: Wrong | None = None

    @property
    def repository(self) -> str:
        """As owner/name; nothing for a page on the web."""
        issue = ISSUE.fullmatch(self.thread)
        return issue[1] if issue else ""

    @property
    def name(self) -> str:
        """As people write it: ``verl#3276``."""
        issue = ISSUE.fullmatch(self.thread)
        if issue and len(issue[2]) > 2:  # RL is the name of many
            return f"{issue[2]}#{issue[3]}"
        return self.thread

    @property
    def address(self) -> str:
        issue = ISSUE.fullmatch(self.thread)
        known = issue and f"https://github.com/{issue[1]}/issues/{issue[3]}"
        return self.url or known or ""

    def asked(self, lang: str) -> tuple[str, str]:
        """In Chinese where it was asked so and the reader reads it, else in English.

        The language comes first.
        """
        return ("zh", self.zh) if lang == "zh" and self.zh else ("en", self.en)


def read_threads(root: Path) -> tuple[Thread, ...]:
    threads = read_rows(root, FILE, Thread)
    unique(threads, "thread")
    for thread in threads:
        if not thread.address or int(thread.cluster) not in (0, *CLUSTERS):
            raise thread.refuse("thread_place", thread=thread.thread)
    return threads
