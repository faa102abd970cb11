"""The public threads: where each is, what was asked, the page that answers it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from site_tools.data.rows import (
    PAGE_ID,
    Form,
    OneLine,
    Row,
    Sentence,
    read_rows,
    unique,
)

THREADS_FILE = "docs/threads.yml"
ISSUE = re.compile(r"[\w.-]+/[\w.-]+#\d+")
CLUSTERS = 30  # of threads that ask the same; 0 is none of them
# A host by its name, at the usual port, and a path as browsers write it.
ADDRESS = r"https://(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/[\w./~%?&=+,:#-]*)?"


@dataclass(frozen=True)
class Thread(Row):
    """A public thread: where it is, what was asked, the place that answers it."""

    thread: OneLine  # as owner/name#17, or how a page on the web is called
    lang: Annotated[str, Form("en|zh|ko", "form_language")]
    en: OneLine  # the question
    zh: OneLine = ""  # and as it was asked, if in Chinese
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
        if self.url or not self.repository:
            return self.url
        return f"https://github.com/{self.repository}/issues/{number}"

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
