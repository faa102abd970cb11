"""Exercises in a built page: read without scripts, and ready for them."""

import pytest
from bs4 import Tag

from site_tools.compile.plain import Wishes, plain
from site_tools.finish.article import Article
from site_tools.finish.exercises import (
    count_exercises,
    make_room_for_mark,
    settle_exercises,
)
from site_tools.page.page import read_page
from tests.layout import ROOT
from tests.site.articles import article
from tests.site.sample import shown_tree

TEXT = """\
First.

!!! question "Guess first"

    Which one?

    - [ ] **this**: no.
    - [x] **that**: yes.

## Exercises { #exercises }

??? question "1. How much?"

    - [x] `0.125`{ data-is="x" }: a half of a half of a half.
    - [ ] `0.5`{ data-is="4 * x" }: one half is not enough.

    The solution.

??? question "2. The line?"

    - [x] `x = V[1:]`: one slot on.
    - [ ] `x = V`: that is before the token.

??? question "Not judged"

    Only told.

## The end { #next }

Last.
"""


def settled(text: str = TEXT) -> Article:
    page = read_page(ROOT, "docs/en/course/a.md", text)
    made = article(str(shown_tree(page)), page_id="course/a", page=page)
    settle_exercises(made)
    return made


def one(made: Article | Tag, where: str) -> Tag:
    content = made.content if isinstance(made, Article) else made
    (found,) = content.select(where)
    return found


def test_a_list_says_which_answers_are_right_and_which_are_mistakes():
    made = settled()
    assert not made.content.select("[type=checkbox]")
    first, second = made.content.select("details.exercise")
    assert one(first, ".judged > li.right").get_text() == (
        "✓ Right: 0.125: a half of a half of a half."
    )
    assert one(first, "li.wrong .mark").get_text() == "✗ A known mistake: "
    assert one(first, ".solution").get_text().strip() == "The solution."
    assert [box["data-kind"] for box in made.content.select(".judged")] == [
        "choice", "number", "code",
    ]  # fmt: skip
    assert one(first, ".told")["data-unknown"].endswith("after the point: 3.")
    assert one(second, ".told")["data-unknown"].endswith("A line of code is expected.")
    for asked in made.content.select("details .attempt, button.show"):
        assert asked.has_attr("hidden")  # until a script wakes it


def test_a_list_that_cannot_judge_is_shown_as_it_stands():
    for old, new in (("[x]", "[ ]"), ("- [ ] **this**", "- [ ] this"), ("???", "!!!")):
        made = settled(TEXT.replace(old, new))
        assert made.content.select("[type=checkbox]")


def test_an_option_keeps_its_formula_and_its_code():
    made = settled(TEXT.replace("**this**", r"**$\lambda = 1$ in `gae`**"))
    option = made.content.select(".puzzle .attempt li")[0]
    assert one(option, ".arithmatex").get_text() == r"\(\lambda = 1\)"
    assert one(option, "code").get_text() == "gae"


def test_a_puzzle_shows_its_options_and_folds_its_answers():
    made = settled()
    puzzle = one(made, ".admonition.question.puzzle")
    options = [li.get_text() for li in puzzle.select(".attempt li")]
    assert options == ["this", "that"]
    assert one(puzzle, "details > .judged > li.right").get_text().endswith("that: yes.")
    assert not puzzle.details.has_attr("open")
    come_back = made.content.find(id="next").find_next_sibling("div")
    assert "come-back" in come_back["class"] and come_back.has_attr("hidden")


def test_the_room_of_a_field_is_kept_in_a_puzzle():
    number = TEXT.replace("**this**", '`1`{ data-is="x" }').replace(
        "**that**", '`2`{ data-is="y" }'
    )
    asked = one(settled(number), ".puzzle .attempt")
    assert asked.has_attr("inert") and asked.input and not asked.has_attr("hidden")


@pytest.mark.parametrize(("page", "marks"), [("course/test", 1), ("course/goal", 0)])
def test_the_final_test_has_a_place_for_its_mark(page, marks):
    made = article("<p>Twenty.</p><h2>One</h2>", page_id=page)
    make_room_for_mark(made)
    found = made.content.find_all(class_="first-answers")
    assert len(found) == marks
    assert all(place.find_next_sibling().name == "h2" for place in found)


def test_the_list_of_the_course_says_how_many_exercises_a_step_has(tmp_path):
    (tmp_path / "docs/en/course").mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_bytes((ROOT / "mkdocs.yml").read_bytes())
    (tmp_path / "docs/en/course/a.md").write_text(TEXT, "utf-8")
    (tmp_path / "docs/en/course/b.md").write_text("None.\n", "utf-8")
    a, b = (f'<a href="{page}/">{page}</a>' for page in "ab")
    html = f"<p>{a}</p><ol><li>{a}</li><li>{b}</li></ol>"
    made = article(html, page_id="course/index")
    made.url = "course/"
    count_exercises(made, tmp_path)
    counted = one(made, "[data-exercises]")
    assert (counted["data-exercises"], counted["data-page"]) == ("2", "course-a")
    assert counted.parent.name == "li"
    assert one(made, ".progress-of-all").find_next_sibling().name == "ol"


def test_as_plain_text_each_answer_is_called_right_or_a_mistake():
    text = plain(TEXT, Wishes("en", lambda target: target))
    assert "- ✓ Right: 0.125: a half of a half of a half.\n" in text
    assert "- ✗ A known mistake: 0.5: one half is not enough.\n" in text
    assert "- ✗ A known mistake: **this**: no.\n" in text
    assert "[x]" not in text and "[ ]" not in text
    code = "```text\n- [x] as it is\n```\n"
    assert plain(code, Wishes("zh")) == code.strip()
