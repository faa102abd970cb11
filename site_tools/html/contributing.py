"""The ways from a page to its source: mend it in either language, or report."""

from collections.abc import Collection
from typing import NamedTuple
from urllib.parse import quote, urlencode

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
# Some readers have no account: what the form asks, as text to fill in and pass on.
WITHOUT_ACCOUNT = {
    "zh": (
        "没有 GitHub 账号？",
        "报告是 GitHub 上的一张表，要有账号才能填。没有账号的话，把下面填好，"
        "发给把这一页给你的人，或者随便哪个有账号的人，请他代交。",
        "页面：{page}（{title}）\n语言版本：zh\n哪一节：\n"
        "那里写着什么：\n应该是什么：\n出处：",
    ),
    "en": (
        "No GitHub account?",
        "A report is a form on GitHub and needs an account there. Without one, fill "
        "this in and send it to whoever gave you the page, or to anyone who has one.",
        "Page: {page} ({title})\nLanguage version: en\nSection:\n"
        "What stands there:\nWhat it should be:\nSource:",
    ),
}


class Link(NamedTuple):
    """A label in the language of the page, and where it leads."""

    label: str
    href: str


class Passing(NamedTuple):
    """What a reader without an account is told, and the report to fill in."""

    question: str
    advice: str
    report: str


def links(
    repository: str,
    sources: Collection[tuple[str, str]],
    page: str,
    title: str,
    lang: str,
) -> list[Link]:
    """One link for each source of a page, and one to report what is wrong with it.

    Args:
        repository: Its address; while there is none there are no links.
        sources: What each is (``zh``, ``en`` or ``code``), and its path.
        page: Its id, as in ``gae/variance``, which the report names.
        title: The page's, which the report will begin with.
        lang: The language of the labels and of the form.

    Example:
        >>> sources = [("zh", "docs/zh/a.md")]
        >>> for link in links("https://e.org/r", sources, "a", "A?", "en"):
        ...     print(*link, sep=": ")
        Edit the Chinese: https://e.org/r/edit/main/docs/zh/a.md
        Report a problem: https://e.org/r/issues/new?template=sentence_en.yml&\
title=A%3F&page=a&language=en
    """
    if not repository:
        return []
    root, labels = repository.rstrip("/"), LABELS[lang]
    edits = [Link(labels[kind], f"{root}/edit/main/{path}") for kind, path in sources]
    return [*edits, Link(labels["report"], report(root, page, title, lang))]


def report(root: str, page: str, title: str, lang: str) -> str:
    """The address of the form, the fields that are known filled in by their ids."""
    known = {
        "template": f"sentence_{lang}.yml",
        "title": title,
        "page": page,
        "language": lang,
    }
    return f"{root}/issues/new?{urlencode(known, quote_via=quote, safe='')}"


def passing(repository: str, page: str, title: str, lang: str) -> Passing | None:
    """The same report for those without an account; None while there is no form.

    Example:
        >>> print(passing("https://e.org/r", "gae/variance", "Why?", "en").report)
        Page: gae/variance (Why?)
        Language version: en
        Section:
        What stands there:
        What it should be:
        Source:
    """
    if not repository:
        return None
    question, advice, form = WITHOUT_ACCOUNT[lang]
    return Passing(question, advice, form.format(page=page, title=title))
