"""The ways from a page to its source: mend it in either language, or report."""

from collections.abc import Collection
from typing import NamedTuple
from urllib.parse import quote

LABELS = {
    "zh": {
        "zh": "修改中文",
        "en": "修改英文",
        "code": "修改代码",
        "report": "报告问题",
    },
    "en": {
        "zh": "Edit the Chinese",
        "en": "Edit the English",
        "code": "Edit the code",
        "report": "Report a problem",
    },
}


class Link(NamedTuple):
    """A label in the language of the page, and where it leads."""

    label: str
    href: str


def links(
    repository: str, sources: Collection[tuple[str, str]], title: str, lang: str
) -> list[Link]:
    """One link for each source of a page, and one to report what is wrong with it.

    Args:
        repository: Its address; while there is none there are no links.
        sources: What each is (``zh``, ``en`` or ``code``), and its path.
        title: The page's, which the report will begin with.
        lang: The language of the labels.

    Example:
        >>> for link in links("https://e.org/r", [("zh", "docs/zh/a.md")], "A?", "en"):
        ...     print(*link, sep=": ")
        Edit the Chinese: https://e.org/r/edit/main/docs/zh/a.md
        Report a problem: https://e.org/r/issues/new?title=A%3F
    """
    if not repository:
        return []
    root, labels = repository.rstrip("/"), LABELS[lang]
    report = Link(labels["report"], f"{root}/issues/new?title={quote(title, safe='')}")
    edits = [Link(labels[kind], f"{root}/edit/main/{path}") for kind, path in sources]
    return [*edits, report]
