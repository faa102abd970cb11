"""What a page says of itself at its top: keys, sources, the pages it needs."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from site_tools.checks.anatomy import TOPICS, Row, is_question
from site_tools.page import tree
from site_tools.page.page import LANGUAGES, Page

QUESTION_KEYS = ("question", "aliases", "needs", "answers", "refs")
OTHER_KEYS = ("title", "aliases", "refs", "hide")
REF = re.compile(
    r"[A-Za-z][\w.+/-]* v?\d+(?:\.\w+)+"  # verl 0.9.1
    r"|\d{3}·\d{1,2}"  # dialogue 004, question 2
    r"|[\w./-]+#\d+"  # verl#1960
    r"|[\w.-]+/[\w.-]+@[0-9a-f]{7,40}"
    r"|arXiv:\d{4}\.\d{4,5}(?:v\d+)?"
    r"|[A-Z][^\d]*,? (?:§|section |equation )\d+(?:\.\d+)*"
)
EXAMPLES = '"verl 0.9.1", "004·2", "verl#1960", "arXiv:1506.02438"'


def front_matter(page: Page, root: Path) -> Iterator[Row]:
    """Keys that are unknown, missing or of the wrong kind; sources; needs.

    Args:
        page: The page.
        root: The project's folder.
    """
    if any(problem.expected == "front matter in YAML" for problem in page.problems):
        return
    question = is_question(page.id)
    if "question" in page.meta and not question:
        fix = "move the page into one of them"
        found = f"a page with a question in {page.id.rpartition('/')[0] or 'docs'}"
        yield 1, found, f"one of the topics {', '.join(TOPICS)}", fix
        return
    keys, needed = (QUESTION_KEYS, "question") if question else (OTHER_KEYS, "title")
    for key in page.meta:
        if key not in keys:
            yield (
                _line(page, key),
                f"key {key!r}",
                f"one of {', '.join(keys)}",
                "remove it",
            )
    if not isinstance(page.meta.get(needed), str):
        yield 1, f"no {needed}", f"a line {needed}: ... between two --- lines", "add it"
    yield from _lists(page)
    for ref in page.refs:
        if not REF.fullmatch(ref):
            fix = "name what it is, and its version or number"
            yield _line(page, "refs"), f"refs: {ref!r}", f"refs like {EXAMPLES}", fix
    for need in page.texts("needs"):
        if not any((root / f"docs/{at}/{need}.md").is_file() for at in LANGUAGES):
            known = [
                path[:-3]
                for at in LANGUAGES
                for path in tree.paths(root / f"docs/{at}")
            ]
            nearest = difflib.get_close_matches(need, known, n=1, cutoff=0)
            near = (nearest or ["alignment/value_before_token"])[0]
            fix = f"correct the name, as in needs: [{near}]"
            yield _line(page, "needs"), f"needs {need}", "a page that exists", fix


def _lists(page: Page) -> Iterator[Row]:
    for key in set(page.meta) - {"question", "title", "hide"}:
        value = page.meta[key]
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            fix = f'write {key}: ["..."]'
            yield _line(page, key), f"{key}: {value!r}", "a list of texts", fix


def _line(page: Page, key: str) -> int:
    lines = enumerate(page.text.splitlines(), 1)
    return next((n for n, line in lines if line.startswith(f"{key}:")), 1)
