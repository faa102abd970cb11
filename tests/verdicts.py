"""Hears how the examples of each page ended, and notes the pages that passed."""

import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from site_tools.run import passed
from site_tools.run.sources import Sources
from site_tools.source.files import page_ids

PAGE = re.compile(r"docs/(?P<language>zh|en)/(?P<id>.+)\.md")


class Verdicts:
    """A run of pages, heard where all reports arrive.

    A page passes where every example of it did, in each language that it is written in,
    and nothing that it rests on was edited under way: who knows what ran.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.began = time.time_ns()
        self.before = _all_sources(root)
        self.told: dict[str, dict[str, Any]] = {}  # of each file, by its judge
        self.heard: Counter[str] = Counter()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        if not PAGE.fullmatch(file):
            return
        if report.failed:
            self.failed.add(file)
        if report.when == "call":
            self.heard[file] += 1
        for name, value in report.user_properties:
            if name == "page":
                self.told[file] = value

    def pytest_sessionfinish(self) -> None:
        if self.heard:
            passed.note(self.root, self.verdicts())

    def verdicts(self) -> dict[str, dict[str, Any]]:
        """Of each page that passed what is told of its languages; of others nothing.

        A page that was not run whole is left out: its verdict stays as it was.
        """
        now = Sources(self.root)
        found: dict[str, dict[str, Any]] = {}
        for page_id in self.before:
            files = passed.languages_of(self.root, page_id)
            if self.failed & {*files}:
                found[page_id] = {}
            elif files and all(map(self._is_whole, files)):
                edited = now.changed(page_id) >= self.began
                same = now.of(page_id) == self.before[page_id]
                if same and not edited:
                    found[page_id] = self._languages(files)
        return found

    def _is_whole(self, file: str) -> bool:
        return file in self.told and self.heard[file] == self.told[file]["examples"]

    def _languages(self, files: list[str]) -> dict[str, Any]:
        languages = {}
        for file in files:
            match = PAGE.fullmatch(file)
            assert match
            languages[match["language"]] = self.told[file]["verified"]
        return languages


def _all_sources(root: Path) -> dict[str, dict[str, str]]:
    sources = Sources(root)
    return {page_id: sources.of(page_id) for page_id in page_ids(root)}
