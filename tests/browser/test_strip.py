"""The drawing of the course, by mouse, by keyboard and by ear."""

from typing import Any

import pytest

from tests.browser.widgets import settle

PAGE = "en/course/gae/"


@pytest.fixture
def strip(tab: Any) -> Any:
    tab.goto(PAGE)
    tab.locator("[data-lab='strip/gae']").scroll_into_view_if_needed()
    tab.locator("svg.strip").wait_for()
    settle(tab)
    return tab.locator("section.strip")


def test_a_row_is_one_stop_for_tab_and_arrows_go_along_it(tab: Any, strip: Any) -> None:
    for kind in ("value", "delta", "advantage"):
        assert strip.locator(f"g.{kind}[tabindex='0']").count() == 1
    strip.locator("g.value").first.focus()
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')") == (
        'V after "No"'
    )
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.matches('g.delta')")
    tab.keyboard.press("Shift+Tab")  # back to the one that one has left
    tab.keyboard.press("PageUp")
    settle(tab)
    assert strip.locator("g.value").nth(1).get_attribute("aria-valuenow") == "0.50"


def test_what_follows_from_a_drag_is_shown_said_and_kept_in_the_address(
    tab: Any, strip: Any
) -> None:
    assert strip.locator("[role=status]").text_content() == ""
    box = strip.locator("g.value .knob").nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    unit = strip.locator("svg.strip .tick").nth(0).bounding_box()["y"]
    unit -= strip.locator("svg.strip .tick").nth(1).bounding_box()["y"]  # from 0 to 1
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x, y - unit / 2, steps=5)
    tab.mouse.up()
    strip.locator("input[type=range]").fill("0")
    settle(tab)
    says = strip.locator(".says").text_content()
    assert says.startswith('On average "No" gets 0.08 and "Yes" 0.03')
    assert "more often" in says
    tab.wait_for_function("location.search === '?strip=l0_v9.1-0.9'")
    status = strip.locator("[role=status]")
    tab.wait_for_function(
        "document.querySelector('section.strip [role=status]').textContent"
    )
    assert says in status.text_content()


def test_a_number_that_one_looks_at_lights_what_it_is_made_of(
    tab: Any, strip: Any
) -> None:
    strip.locator("g.advantage").nth(1).focus()
    settle(tab)
    assert strip.locator(".equation").text_content() == (
        "Â₁ = δ₁ + λ Â₂ = −0.20 + 0.95 × 0.80 = 0.56"
    )
    lit = strip.locator("g.delta").evaluate_all(
        "all => all.map((node) => node.classList.contains('lit'))"
    )
    assert lit == [False, *[True] * 5]
    assert strip.locator("g.delta .weight").all_text_contents() == [
        "",
        *["×1.00", "×0.95", "×0.90", "×0.86", "×0.81"],
    ]
    strip.locator("g.delta").nth(0).focus()
    settle(tab)
    assert strip.locator("g.value.lit").count() == 2
    assert strip.locator(".equation").text_content() == (
        "δ₀ = V(s₁) − V(s₀) = 0.40 − 0.82 = −0.42"
    )


def test_a_number_in_a_sentence_is_dragged_and_the_others_follow(
    tab: Any, strip: Any
) -> None:
    texts = "#three ~ ul .figure[data-is='lucky[0]']"
    assert tab.locator(texts).first.text_content() == "0.112"
    figure = tab.locator(".figure.drag").first
    assert figure.text_content() == "0.95"
    figure.focus()
    tab.keyboard.press("Home")
    settle(tab)
    assert figure.text_content() == "0.00"
    assert tab.locator(texts).first.text_content() == "−0.420"
    assert tab.locator(texts).first.is_visible()
    assert strip.locator("g.advantage .number").first.text_content() == "−0.42"
    strip.get_by_role("button", name="Begin again").click()
    settle(tab)
    assert tab.locator(texts).first.text_content() == "0.112"
    assert tab.locator(".figure.altered").count() == 0


def test_another_answer_has_its_own_words_and_length(tab: Any, strip: Any) -> None:
    strip.get_by_role("button", name="No idea.", exact=True).click()
    settle(tab)
    words = [text for text in strip.locator(".word:not([hidden])").all_text_contents()]
    assert words == ["No", "idea", ".", "end"]
    assert strip.locator("g.value:not([hidden])").count() == 4
    assert "score 0" in strip.locator("svg.strip").text_content()


def test_it_can_be_copied_as_a_picture(tab: Any, strip: Any) -> None:
    tab.evaluate("() => { navigator.clipboard.write = () => Promise.reject() }")
    with tab.expect_download() as saved:  # no clipboard here: it is saved
        strip.get_by_role("button", name="Copy as picture").click()
    picture = saved.value.path().read_bytes()
    assert picture.startswith(b"\x89PNG")
    width = int.from_bytes(picture[16:20], "big")
    drawn = strip.locator("svg.strip").evaluate("node => node.clientWidth")
    assert width == 2 * (drawn + 32)  # twice as sharp, and its margins


def test_within_another_page_it_stands_alone(tab: Any) -> None:
    tab.goto(PAGE + "?embed=1&strip=a9")
    tab.locator("svg.strip").wait_for()
    assert tab.locator("section.strip .word:not([hidden])").count() == 4
    settle(tab)
    seen = tab.locator("h1, h2, p, header, nav, .md-footer").evaluate_all(
        """all => all.filter((node) => node.checkVisibility() && !node.closest(".lab"))
          .map((node) => node.outerHTML.slice(0, 80))"""
    )
    assert seen == []


def test_the_puzzle_of_the_critic_is_solved_by_keyboard(tab: Any) -> None:
    tab.goto("en/course/critic/")
    tab.locator("[data-lab='strip/critic']").scroll_into_view_if_needed()
    tab.locator("svg.strip").wait_for()
    strip, says = tab.locator("section.strip"), tab.locator(".strip .says")
    assert says.text_content() == 'Mean of (V − score)² after "No": 0.2803'
    assert not strip.locator(".exact").first.is_visible()  # it is what is asked for
    strip.locator("g.value").nth(1).focus()
    tab.keyboard.press("PageUp")
    settle(tab)
    assert "least" not in says.text_content()
    tab.keyboard.press("PageUp")
    settle(tab)
    assert says.text_content() == 'Mean of (V − score)² after "No": 0.2397, the least'
    strip.locator("g.delta").nth(1).focus()
    settle(tab)
    assert strip.locator(".equation").text_content() == (
        "G₁ − V(s₁) = 0 − 0.60 = −0.60"
    )
