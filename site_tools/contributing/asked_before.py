"""Whether a question has been answered: every wording of every page, searched."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from site_tools.contributing.likeness import Known, Likeness
from site_tools.data.names import read_names
from site_tools.page import tree
from site_tools.page.page import LANGUAGES
from site_tools.site import sources

# Measured on tests/contributing/paraphrases.yml: above it nearly nothing that is new.
SAME = 0.45
MOST = 3
# Its pages lead from one symptom to the next: each section answers on its own.
BY_SECTION = "debug/"
HEADING = re.compile(r"^## (?P<title>.*\S) *\{ *#(?P<id>[\w-]+) *\}$", re.M)


def wordings(root: Path) -> Mapping[str, Sequence[str]]:
    """What each page is called in either language, other than its own text.

    Its question or title, its aliases, the claims that it refutes, and how the
    dialogues asked. Indexes and the home page answer nothing and are left out. A
    section of a page in ``debug`` counts as a page, as in ``debug/symptoms#kl``.

    Args:
        root: The project's folder.

    Raises:
        ValueError: naming a page or data file that cannot be read.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for language in LANGUAGES:
        pages = tree.front_matters(root / "docs" / language)
        for path, front in pages.items():
            own = [front.get("question"), front.get("title")]
            own += front.get("aliases") or []
            page = path.removesuffix(".md")
            found[page] += [str(text) for text in own if text]
            if page.startswith(BY_SECTION):
                text = (root / "docs" / language / path).read_text("utf-8")
                for heading in HEADING.finditer(text):
                    name = heading["id"].removeprefix("assert-").replace("-", " ")
                    titles = [heading["title"], *([name] if " " in name else [])]
                    found[f"{page}#{heading['id']}"] += titles
        for answer in sources.answers(root, language):
            found[answer.page] += [wrong.claim for wrong in answer.wrong]
    for dialogue in sources.dialogues(root):
        for asked in dialogue.questions:
            found[asked.page] += [asked.zh, asked.en]
    return {page: texts for page, texts in found.items() if not _is_index(page)}


def _is_index(page: str) -> bool:
    return page.rpartition("/")[2] == "index"


def nearest(question: str, root: Path, language: str = "") -> list[Known]:
    """The pages that are about the same, the nearest first.

    Args:
        question: As it was asked.
        root: The project's folder.
        language: That of the wordings to show, where a page has one.
    """
    return Likeness(wordings(root), read_names(root)).nearest(question, language)


def answered(known: Sequence[Known]) -> list[Known]:
    """Those near enough to ask whether they have answered it, three at most."""
    return [page for page in known if page.likeness >= SAME][:MOST]
