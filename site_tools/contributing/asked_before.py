"""Whether a question has been answered: every wording of every page, searched."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from site_tools.contributing.likeness import Known, Likeness
from site_tools.data.derived import all_names
from site_tools.indexes import sources
from site_tools.source import tree
from site_tools.source.page import LANGUAGES

# Measured on tests/contributing/paraphrases.yml: above it nearly nothing that is new.
SAME = 0.42
MOST = 3


def wordings(root: Path) -> Mapping[str, Sequence[str]]:
    """What each page is called in either language, other than its own text.

    Its question or title, its aliases, the claims that it refutes, and how the
    dialogues asked. Indexes and the home page answer nothing and are left out.

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
            found[path.removesuffix(".md")] += [str(text) for text in own if text]
        for answer in sources.answers(root, language):
            found[answer.page] += [wrong.claim for wrong in answer.wrong]
    for dialogue in sources.dialogues(root):
        for asked in dialogue.questions:
            found[asked.page] += [asked.zh, asked.en]
    return {page: texts for page, texts in found.items() if not _is_index(page)}


def _is_index(page: str) -> bool:
    return page.rpartition("/")[2] == "index"


def nearest(question: str, root: Path) -> list[Known]:
    """The pages that are about the same, the nearest first."""
    return Likeness(wordings(root), all_names()).nearest(question)


def answered(known: Sequence[Known]) -> list[Known]:
    """Those near enough to ask whether they have answered it, three at most."""
    return [page for page in known if page.likeness >= SAME][:MOST]
