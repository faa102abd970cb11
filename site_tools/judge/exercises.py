"""The exercises of a page: lists of answers that a reader can be judged by."""

from site_tools.messages import Problems
from site_tools.page.exercises import PUZZLE, PUZZLE_END, Exercise, find_exercises
from site_tools.page.page import Page


def check_exercises(page: Page) -> Problems:
    """Task lists that are no exercise, or that nobody can be judged by."""
    puzzles = 0
    for exercise in find_exercises(page.tree):
        line = page.line_of(exercise.list)
        if not exercise.place:
            yield page.problem(line, "exercise_elsewhere")
            continue
        if exercise.place == PUZZLE:
            puzzles += 1
            if puzzles > 1 or not _is_second(exercise):
                yield page.problem(line, "puzzle_place")
            if page.content.section(PUZZLE_END) is None:
                yield page.problem(line, "puzzle_end", id=PUZZLE_END)
        yield from _check_answers(exercise, page)


def _is_second(puzzle: Exercise) -> bool:
    """True if one paragraph stands above the box, and nothing else."""
    above = [tag.name for tag in puzzle.box.find_previous_siblings()]
    return above == ["p"]


def _check_answers(exercise: Exercise, page: Page) -> Problems:
    seen = set[str]()
    for answer in exercise.answers:
        line = page.line_of(answer.item)
        text = answer.item.get_text().strip()
        shown = "".join(answer.shown.split())
        if answer.kind != exercise.kind or not answer.kind:
            values = {"text": text, "kind": exercise.kind or "..."}
            yield page.problem(line, "exercise_kind", **values)
        elif shown in seen:
            yield page.problem(line, "exercise_twice", answer=answer.shown)
        elif not (answer.right or answer.hint):
            yield page.problem(line, "exercise_hint", answer=answer.shown)
        seen.add(shown)
    right = sum(answer.right for answer in exercise.answers)
    wrong = len(exercise.answers) - right
    if not (right and wrong):
        line = page.line_of(exercise.list)
        yield page.problem(line, "exercise_one_sided", right=right, wrong=wrong)
