"""Exercises ask where they stand, and are solved at the end of their chapter."""

import copy

from bs4 import Tag

from site_tools.compile.templates import fill
from site_tools.finish.article import Article, fragment, of_class
from site_tools.finish.exercises import choices, mark_answers
from site_tools.page.exercises import Exercise, find_exercises


def move_solutions(article: Article) -> None:
    """Move what solves the exercises and the puzzle of a page to its end."""
    solved: list[Tag] = []
    judged = {id(each.box): each for each in find_exercises(article.content)}
    for box in of_class(article.content, "question"):
        if box.name != "details" and id(box) not in judged:
            continue
        number = len(solved) + 1
        solution = article.soup.new_tag("div", attrs={"class": "solution"})
        solution["id"] = f"solution-{number}"
        box["id"] = f"exercise-{number}"
        title = _title(box)
        asked = copy.copy(title)
        asked.name = "p"
        asked["class"] = "solution-title"
        solution.append(asked)
        solution.extend(_taken(box, title, judged.get(id(box)), article))
        box.extend(fragment(fill("booklet.to_solution", article.lang, number)))
        asked.extend(fragment(fill("booklet.to_exercise", article.lang, number)))
        solved.append(solution)
    if solved:
        article.append(fill("booklet.solutions", article.lang))
        article.content.extend(solved)


def _title(box: Tag) -> Tag:
    """The question of a fold, or the title of a box."""
    title = box.find(["summary", "p"], recursive=False)
    assert isinstance(title, Tag)
    return title


def _taken(
    box: Tag, title: Tag, exercise: Exercise | None, article: Article
) -> list[Tag]:
    """What solves a box: its answers and all below; without any, all of it."""
    first = title.find_next_sibling()
    if exercise:
        first = exercise.list
        mark_answers(exercise, article)
        options = choices(exercise)
        if options:
            first.insert_before(
                *fragment(fill("booklet.options", article.lang, options))
            )
    taken = [first, *first.find_next_siblings()] if isinstance(first, Tag) else []
    return [node.extract() for node in taken if isinstance(node, Tag)]
