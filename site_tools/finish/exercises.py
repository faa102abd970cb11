"""The exercises of a built page, as they stand without scripts, and ready for them.

A list of answers shows what is right and what people get wrong. ``assets/lab/
exercises.js`` asks in its place, from what stands there: the kind of the answers, their
marks, their hints. What the list is the beginning of, the solution, is set apart.
"""

import posixpath
import re
from pathlib import Path

from bs4 import Tag
from bs4.element import NavigableString
from markupsafe import Markup

from site_tools.compile.navigation import COURSE
from site_tools.compile.templates import fill, words
from site_tools.finish.article import Article, fragment, tags
from site_tools.page.exercises import (
    EXERCISE,
    PUZZLE,
    PUZZLE_END,
    Exercise,
    find_exercises,
    mark_and_words,
)
from site_tools.page.page import read_page

TEST = f"{COURSE}/test"
DECIMALS = re.compile(r"(?<=\.)\d+")


def settle_exercises(article: Article) -> None:
    """Mark the answers of every exercise and puzzle, and set apart what they hide."""
    for exercise in [*find_exercises(article.content)]:
        if not exercise.can_judge:
            continue
        mark_answers(exercise, article)
        if exercise.place == EXERCISE:
            _set_solution_apart(exercise, article)
        elif exercise.place == PUZZLE:
            _fold_answers(exercise, article)


def mark_answers(exercise: Exercise, article: Article) -> None:
    """Say of each answer in the list whether it is right, in place of its box."""
    said = words(article.lang)["exercises"]
    exercise.list["class"] = "judged"
    exercise.list["data-kind"] = exercise.kind
    for answer in exercise.answers:
        name = "right" if answer.right else "wrong"
        answer.item["class"] = name
        box, _ = mark_and_words(answer.item)
        if box:
            mark = article.soup.new_tag("span", attrs={"class": f"mark {name}"})
            mark.string = said[name]
            behind = box.next_sibling
            if isinstance(behind, NavigableString):
                behind.replace_with(behind.lstrip())
            box.replace_with(mark)


def _set_solution_apart(exercise: Exercise, article: Article) -> None:
    """Put a place to answer in above the list, and take what is below it together."""
    classes = exercise.box.get_attribute_list("class")
    exercise.box["class"] = " ".join([*classes, EXERCISE])
    unknown = _not_foreseen(exercise, article.lang)
    asked = (exercise.kind, choices(exercise))
    html = fill("page.exercise", article.lang, *asked, unknown)
    solution = article.soup.new_tag("div", attrs={"class": "solution"})
    below = [*exercise.list.next_siblings]
    exercise.list.insert_before(*fragment(html))
    exercise.list.insert_after(solution)
    solution.extend(below)


def choices(exercise: Exercise) -> list[Markup]:
    """The options of a choice, with their formulas and code; none of other kinds."""
    if exercise.kind != "choice":
        return []
    bold = [answer.item.find("strong") for answer in exercise.answers]
    return [Markup(x.decode_contents()) for x in bold if x]


def _not_foreseen(exercise: Exercise, lang: str) -> str:
    """The words for an answer that nobody has foreseen."""
    said = words(lang)["exercises"]
    if exercise.kind == "choice":
        return ""
    right = next(answer.shown for answer in exercise.answers if answer.right)
    if exercise.kind == "number" and (decimals := DECIMALS.search(right)):
        return str(said["decimals"].format(len(decimals[0])))
    return str(said[exercise.kind])


def _fold_answers(exercise: Exercise, article: Article) -> None:
    """The options of a puzzle in sight, its answers in a fold, and a place at the end.

    What scripts put there is as high: nothing moves when they come.
    """
    box, answers = exercise.box, exercise.list
    box["class"] = "admonition question puzzle"
    html = fill("page.puzzle", article.lang, exercise.kind, choices(exercise))
    answers.insert_before(*fragment(html))
    fold = box.find("details")
    assert isinstance(fold, Tag)
    fold.append(answers.extract())
    end = article.content.find(id=PUZZLE_END)
    if isinstance(end, Tag):
        end.insert_after(*fragment(fill("page.come_back", article.lang)))


def make_room_for_mark(article: Article) -> None:
    """Show, above the questions of the final test, how many were right at once."""
    if article.id != TEST:
        return
    first = article.content.find("h2")
    assert isinstance(first, Tag)
    first.insert_before(*fragment(fill("page.test_mark", article.lang)))


def count_exercises(article: Article, root: Path) -> None:
    """Say in the list of the course how many exercises each step has."""
    if article.id != f"{COURSE}/index":
        return
    first = None
    for link in tags(article.content, "a"):
        page = posixpath.normpath(article.url + str(link.get("href")))
        file = f"docs/{article.lang}/{page}.md"
        if not (page.startswith(f"{COURSE}/") and (root / file).is_file()):
            continue
        found = [*find_exercises(read_page(root, file).tree)]
        count = sum(exercise.place == EXERCISE for exercise in found)
        if count and link.find_parent("li"):
            link["data-exercises"] = str(count)
            link["data-page"] = page.replace("/", "-")  # as main.html has it
            first = first or link.find_parent(["ol", "ul"])
    if first:
        first.insert_before(*fragment(fill("page.progress", article.lang)))
