"""Which pages have passed as they stand: the one verdict, and the one reading of it.

A run of the pages (``tests/pages.py``) notes each page that passed in both languages,
with a hash of all that it rests on. A page is verified while nothing of that has
changed, nor PyTorch or Python. ``python -m site_tools.run.passed`` prints the files of
the others, for pytest to run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple

from site_tools.ledger import Damaged, Ledger, Made, fresh, read_ledger, update
from site_tools.messages import LANGUAGES, Problem, problem
from site_tools.page.pictures import is_notebook
from site_tools.run.execution import Verified
from site_tools.run.sources import Sources
from site_tools.source.files import page_ids

VERDICTS = ".cache/verified/pages.txt"
Judged = Mapping[str, Any]  # of a page in one language, as JSON: see ``tell``


class VerdictLine(NamedTuple):
    """The line on a page: with what it was verified, when, and how much."""

    torch: str
    python: str
    date: str
    blocks: int
    figures: int


def tell(verified: Verified) -> Judged:
    """Sum up a page that has run: how much was judged, and its plots."""
    told: dict[str, Any] = {
        "blocks": len(verified.running),
        "figures": len(verified.figures),
    }
    if is_notebook(verified.page.id):
        results = verified.run.results
        told["plots"] = [dict(result.plots) for result in results]
    return told


@dataclass(frozen=True)
class Passed:
    """The pages that have passed, by id, and their sources as they are now."""

    sources: Sources
    ledger: Ledger

    def is_fresh(self, page_id: str) -> bool:
        """True if a page has passed, in both languages, as it stands."""
        return fresh(self.ledger.get(page_id), _rests_on(self.sources, page_id))

    def verdict_line(self, page: str) -> VerdictLine | None:
        """The line of a page, as ``docs/en/gae/inputs.md``; None if not verified."""
        page_id, told = self._told(page)
        if not told or not self.is_fresh(page_id):
            return None
        entry = self.ledger[page_id]
        return VerdictLine(
            torch=entry.made_from["torch"].partition("+")[0],
            python=entry.made_from["python"],
            date=entry.known["date"],
            blocks=told["blocks"],
            figures=told["figures"],
        )

    def plots(self, page: str) -> list[dict[str, str]]:
        """The SVG of each plot by its name, per block, of the last run that passed."""
        _, told = self._told(page)
        plots: list[dict[str, str]] = told.get("plots", [])
        return plots

    def _told(self, page: str) -> tuple[str, Judged]:
        _, language, name = page.removesuffix(".md").split("/", maxsplit=2)
        entry = self.ledger.get(name)
        if entry is None or entry.known is None:
            return name, {}
        return name, entry.known.get(language, {})


def read_passed(root: Path) -> Passed:
    """The verdicts on the pages of a project; none if the ledger cannot be read."""
    try:
        ledger = read_ledger(root / VERDICTS)
    except Damaged:
        ledger = {}
    return Passed(Sources(root), ledger)


def unverified(passed: Passed, page: str) -> list[Problem]:
    """The problem of a page that has not passed as it stands."""
    if passed.verdict_line(page):
        return []
    return [problem(page, 1, "page_unverified", file=VERDICTS)]


def note(root: Path, told: Mapping[str, Mapping[str, Judged]]) -> None:
    """Note the pages of a run: of those that passed, what is told of each language.

    A page of which nothing is told has failed, and its verdict goes.
    """
    sources, there = Sources(root), page_ids(root)
    today = {"date": date.today().isoformat()}
    with update(root / VERDICTS) as ledger:
        for page_id, languages in told.items():
            ledger.pop(page_id, None)
            if languages:
                made_from = _rests_on(sources, page_id)
                ledger[page_id] = Made(made_from, today | dict(languages))
        for page_id in ledger.keys() - set(there):
            del ledger[page_id]


def languages_of(root: Path, page_id: str) -> list[str]:
    """The files of a page, one for each language that it is written in."""
    files = [f"docs/{language}/{page_id}.md" for language in LANGUAGES]
    return [file for file in files if (root / file).is_file()]


def to_verify(root: Path) -> Iterator[str]:
    """The files of the pages that have not passed as they stand."""
    passed = read_passed(root)
    for page_id in page_ids(root):
        if not passed.is_fresh(page_id):
            yield from languages_of(root, page_id)


def _rests_on(sources: Sources, page_id: str) -> dict[str, str]:
    """The sources of a page, and with what pages run here: a verdict rests on them."""
    setting = {"torch": version("torch"), "python": python_version()}
    return sources.of(page_id) | setting


if __name__ == "__main__":
    print(*to_verify(Path.cwd()))
