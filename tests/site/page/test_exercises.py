"""Lists of answers: exercises and puzzles, each rule broken once."""

import pytest

from site_tools.judge.exercises import check_exercises
from site_tools.judge.languages import compare
from site_tools.page.exercises import find_exercises
from tests.site.sample import EN, ZH, broken, line_of, page

EXERCISE = """\
??? question "1. One and one?"

    Add them.

    - [x] `2.00`{ data-is="total" }: counted.
    - [ ] `1.00`{ data-is="total - 1" }: one of them was left out.

    Count both.
"""
PUZZLE = """\
!!! question "Guess first"

    Which one?

    - [ ] **the first**: it stands for itself.
    - [x] **both**
"""
NEXT = "## Next { #next }\n"
WITH = broken(NEXT, f"{EXERCISE}\n{NEXT}")
COURSE = f'---\ntitle: "1 · One"\n---\n\nOne paragraph.\n\n{PUZZLE}\n{NEXT}\nThe end.\n'


def test_a_list_is_read_with_its_place_its_kinds_and_hints():
    (exercise,) = find_exercises(page(WITH).tree)
    assert (exercise.place, exercise.kind) == ("exercise", "number")
    told = [(a.right, a.shown, a.hint) for a in exercise.answers]
    left_out = "one of them was left out"
    assert told == [(True, "2.00", "counted"), (False, "1.00", left_out)]
    (puzzle,) = find_exercises(page(COURSE).tree)
    assert (puzzle.place, puzzle.kind) == ("puzzle", "choice")
    assert [a.right for a in puzzle.answers] == [False, True]
    code = broken("`2.00`{ data-is=", "`x + y`, which is not { data-is=", EXERCISE)
    (third, *_) = find_exercises(page(broken(NEXT, f"{code}\n{NEXT}")).tree)
    assert third.kind == "code"
    for text in (WITH, COURSE):
        assert [*check_exercises(page(text))] == []


@pytest.mark.parametrize(
    ("old", "new", "found", "at"),
    [
        ("- [ ] `1.00`", "- [x] `1.00`", "mistakes: 0", "- [x] `2.00`"),
        ("- [x] `2.00`", "- [ ] `2.00`", "right answers: 0", "- [ ] `2.00`"),
        (": one of them was left out.", ":", "1.00, a mistake without", "- [ ]"),
        ('`1.00`{ data-is="total - 1" }', "**one**", "one: one of them", "- [ ]"),
        ('`1.00`{ data-is="total - 1" }', "One", "One: one of them", "- [ ]"),
        ("- [ ] `1.00`", "- `1.00`", "1.00: one of them", "- `1.00`"),
        ('1.00`{ data-is="total - 1" }', '2.00`{ data-is="total" }', "twice", "- [ ]"),
        ("??? question", "??? note", "belongs to no exercise", "- [x]"),
        ('and one?"\n', 'and one?"\n\n    > A quotation.\n', "belongs to no", "- [x]"),
    ],
)  # fmt: skip
def test_a_list_that_nobody_can_be_judged_by_is_named(old, new, found, at):
    text = broken(old, new, WITH)
    problem, *others = check_exercises(page(text))
    assert found in problem.found and problem.fix and not others
    assert problem.line == line_of(at, text)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("One paragraph.\n", "One paragraph.\n\nAnother.\n", "not the second thing"),
        ("\n!!! question", "\n## A { #a }\n\n!!! question", "not the second thing"),
        (NEXT, f"{PUZZLE}\n{NEXT}", "not the second thing"),
        ("#next", "#end", "without a section { #next }"),
        ("**both**\n", "**both**\n\n    More.\n", "belongs to no exercise"),
    ],
)
def test_a_puzzle_stands_below_the_first_paragraph_and_has_an_end(old, new, found):
    problem, *others = check_exercises(page(broken(old, new, COURSE)))
    assert found in problem.found and not others


def test_both_languages_mark_the_same_answers():
    chinese = broken(NEXT, f"{EXERCISE}\n{NEXT}", ZH)
    assert compare(page(WITH), page(chinese, "zh")) == []
    for old, new, found in (
        ("- [x] `2.00`", "- [ ] `2.00`", "[ ] code"),
        ('`1.00`{ data-is="total - 1" }', '`0.00`{ data-is="total - 2" }', "0.00"),
    ):
        problem, *others = compare(page(broken(old, new, WITH)), page(chinese, "zh"))
        assert found in problem.found and not others


def test_the_sample_has_no_list():
    assert [*find_exercises(page(EN).tree)] == []
