"""Exercises that are judged in the page, the puzzle, and what is kept: by keyboard."""

from typing import Any

import pytest

from tests.browser.watching import ALL, AXE, RUN_AXE

PAGE, INDEX = "course/delta/", "course/"
PHONE = {"width": 390, "height": 844}
SMALL = """[...document.querySelectorAll(".attempt :is(input, button), button.show")]
  .filter((each) => each.checkVisibility())
  .filter((each) => each.getBoundingClientRect().height < 43.9)
  .map((each) => each.outerHTML)"""
SHIFTS = """window.shifts = []
  new PerformanceObserver((list) => shifts.push(...list.getEntries()))
    .observe({ type: "layout-shift", buffered: true })"""
BOTH = pytest.mark.parametrize("language", ["", "en/"], ids=["zh", "en"])


def opened(tab: Any, path: str) -> Any:
    """A page whose exercises ask, the first of them unfolded by keyboard."""
    tab.goto(path)
    tab.wait_for_function("!!document.querySelector('h2 > .progress')")
    fold = tab.locator("details.exercise").first
    fold.locator("summary").focus()
    tab.keyboard.press("Enter")
    return fold


def answered(tab: Any, fold: Any, text: str) -> str:
    """The words to an answer that is typed in and sent by keyboard."""
    fold.locator("input").fill(text)
    tab.keyboard.press("Enter")
    return str(fold.get_by_role("status").inner_text())


@BOTH
def test_the_first_answer_to_a_question_of_the_test_counts(tab, language):
    first = opened(tab, f"{language}course/test/")
    mark = tab.locator(".first-answers output")
    assert mark.inner_text() == "0 / 20"
    answered(tab, first, "words")  # none that could be judged
    answered(tab, first, "0.86")
    assert mark.inner_text() == "1 / 20"
    second, third = (tab.locator("details.exercise").nth(i) for i in (1, 2))
    for fold, texts in (second, ["0.75", "-0.60"]), (third, ["-1", "-0.33"]):
        fold.locator("summary").first.click()
        for text in texts:
            fold.locator("input").fill(text)
            tab.keyboard.press("Enter")
        assert fold.locator("summary .mark.right").count() == 1
    assert mark.inner_text() == "1 / 20"
    tab.reload()
    tab.wait_for_function("document.querySelector('h2 > .progress')")
    assert mark.inner_text() == "1 / 20"
    tab.locator(".first-answers button").click()
    tab.wait_for_function(
        "document.querySelector('.first-answers output')?.textContent == '0 / 20'"
    )


@BOTH
def test_a_number_is_judged_by_keyboard_and_the_solution_waits(tab, language):
    fold = opened(tab, language + PAGE)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.matches('.attempt input')")
    assert not fold.locator(".solution").is_visible()
    assert not fold.locator(".judged").is_visible()
    hint = {"": "减反了", "en/": "the wrong way round"}[language]
    assert hint in answered(tab, fold, "-0.6")
    unknown = {"": "还不对", "en/": "Not yet"}[language]
    assert unknown in answered(tab, fold, "7")
    assert not fold.locator(".solution").is_visible()
    assert tab.locator("h2 > .progress").inner_text().strip() == "0 / 3"
    assert "✓" in answered(tab, fold, "3/5")
    assert fold.locator(".solution").is_visible()
    assert tab.locator("h2 > .progress").inner_text().strip() == "1 / 3"
    # The other language goes on from there; the index sums up, and forgets.
    other = "" if language else "en/"
    fold = opened(tab, other + PAGE)
    assert "✓" in fold.locator("summary").inner_text()
    assert tab.locator("h2 > .progress").inner_text().strip() == "1 / 3"
    tab.goto(language + INDEX)
    tab.locator("li .progress").wait_for()
    assert tab.locator("li .progress").inner_text().strip() == "1 / 3"
    tab.locator(".progress-of-all button").press("Enter")
    assert tab.locator("li .progress").count() == 0
    assert tab.evaluate("localStorage.getItem('ppo-course')") is None


def test_a_choice_and_the_way_to_the_solution(tab):
    opened(tab, f"en/{PAGE}")
    fold = tab.locator("details.exercise").nth(1)
    fold.locator("summary").press("Enter")
    fold.locator(".attempt button").first.press("Enter")
    assert "then look at" in fold.get_by_role("status").inner_text()
    assert fold.locator(".attempt button").first.get_attribute("aria-pressed") == "true"
    assert not fold.locator(".solution").is_visible()
    fold.locator("button.show").press("Enter")
    assert fold.locator(".solution").is_visible()
    assert tab.locator("h2 > .progress").inner_text().strip() == "0 / 3"
    fold.locator(".attempt button").nth(1).press("Enter")
    assert tab.locator("h2 > .progress").inner_text().strip() == "1 / 3"


def test_a_guess_is_kept_and_comes_back_at_the_end(tab):
    opened(tab, f"en/{PAGE}")
    puzzle, end = tab.locator(".puzzle"), tab.locator(".come-back")
    assert not puzzle.locator(".judged").is_visible()
    assert "no guess" in end.inner_text() and "comma" in end.inner_text()
    puzzle.locator("button").first.press("Enter")
    assert puzzle.get_by_role("status").inner_text().startswith("Kept")
    assert not puzzle.locator(".judged").is_visible()
    for _ in range(2):  # at once, and when one comes back
        assert "Your guess: No, it was right" in end.inner_text()
        assert "A known mistake: so say the score" in end.inner_text()
        assert 'The answer: Yes: "No" and "idea"' in end.inner_text()
        opened(tab, f"en/{PAGE}")
    assert puzzle.locator("[aria-pressed=true]").inner_text().startswith("No, it was")
    puzzle.locator("button").nth(1).press("Enter")
    assert "The answer:" not in end.inner_text()
    assert "✓ Right: after" in end.inner_text()


@pytest.mark.parametrize("kept", ["no", "[1", "7", '{"course-delta": {"solved": 3}}'])
def test_without_what_a_browser_keeps_all_works_and_is_forgotten(open_tab, kept):
    tab = open_tab()
    if kept == "no":
        tab.add_init_script("""Object.defineProperty(window, "localStorage",
          { get() { throw new DOMException("no", "SecurityError") } })""")
    else:
        tab.goto(f"en/{INDEX}")
        tab.evaluate("(text) => localStorage.setItem('ppo-course', text)", kept)
    fold = opened(tab, f"en/{PAGE}")
    assert "✓" in answered(tab, fold, "0.6")
    assert tab.locator("h2 > .progress").inner_text().strip() == "1 / 3"


def test_without_scripts_the_answers_stand_as_lists(without_scripts):
    without_scripts.goto(f"en/{PAGE}")
    puzzle = without_scripts.locator(".puzzle")
    assert puzzle.locator(".attempt li").count() == 3
    assert not puzzle.locator(".judged").is_visible()
    puzzle.locator("summary").click()
    assert "✓ Right: Yes" in puzzle.locator(".judged").inner_text()
    fold = without_scripts.locator("details.exercise").first
    fold.locator("summary").click()
    assert "✗ A known mistake: −0.60" in fold.locator(".judged").inner_text()
    assert fold.locator(".solution").is_visible()
    assert not fold.locator(".attempt").is_visible()
    assert not without_scripts.locator(".come-back").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@BOTH
def test_on_a_phone_all_is_large_enough_and_nothing_moves(open_tab, language, scheme):
    tab = open_tab(viewport=PHONE, has_touch=True, color_scheme=scheme)
    tab.add_init_script(SHIFTS)
    tab.goto(language + PAGE)
    tab.locator(".puzzle button").first.tap()
    tab.wait_for_timeout(700)
    assert tab.evaluate("shifts.reduce((sum, { value }) => sum + value, 0)") < 0.02
    tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert tab.evaluate(SMALL) == []
    tab.evaluate(AXE.read_text("utf-8"))
    assert tab.evaluate(RUN_AXE, ALL) == []
