"""What the lists of the site need of a page: homes of questions, wrong answers."""

from pathlib import Path

from site_tools.checks.shape import is_question
from site_tools.data.dialogues import disagreements
from site_tools.page.page import Page
from site_tools.page.wrong_answers import read_wrong_answers
from site_tools.problems import Problem
from site_tools.site.sources import dialogues


def check_indexed(page: Page, root: Path) -> list[Problem]:
    """Where a page disagrees with ``docs/dialogues.yml``, or hides a wrong answer.

    Args:
        page: The page; one that is no question page has nothing to say here.
        root: The project's folder.
    """
    if not is_question(page.id):
        return []
    _, problems = read_wrong_answers(page.body, page.fences, page.path)
    said = page.texts("answers")
    expected = "one home for each question, named by page and docs/dialogues.yml"
    fix = "correct answers in the front matter, or the page in docs/dialogues.yml"
    lines = enumerate(page.text.splitlines(), 1)
    line = next((n for n, text in lines if text.startswith("answers:")), 1)
    found = disagreements(dialogues(root), {page.id: said})
    return [
        *problems,
        *(Problem(page.path, line, str(f), expected, fix) for f in found),
    ]
