"""The wall of the course's first step, by keyboard, by finger and by ear."""

from typing import Any

import pytest

from tests.browser.widgets import drag, in_sight, press, ran, settle

GOAL, NAME = "en/course/goal/", '"wall/goal"'
BEST = "Highest so far: 0.8652: nothing is higher"


@pytest.fixture
def tab(open_tab: Any) -> Any:
    return open_tab(permissions=["clipboard-read", "clipboard-write"])


@pytest.fixture
def wall(tab: Any) -> Any:
    tab.goto(GOAL)
    return in_sight(tab, NAME, ".border")


def border(wall: Any, left: str, right: str) -> Any:
    return wall.get_by_label(f'The border between "{left}" and "{right}"')


def test_one_solves_the_puzzle_by_keyboard(tab: Any, wall: Any) -> None:
    first = border(wall, "Yes", "No")
    assert wall.locator(".border[tabindex='0']").count() == 1
    press(tab, first, "End")
    assert wall.locator(".goal").inner_text() == "J = 0.8506"
    assert wall.locator(".hint").inner_text() == "Highest so far: 0.8506"
    press(tab, first, "PageDown")  # at the end nothing is left below "No"
    sought = border(wall, "idea", "problem")
    for _ in range(20):  # down from border to border
        if sought.evaluate("border => border === document.activeElement"):
            break
        tab.keyboard.press("ArrowDown")
    press(tab, sought, "Home")
    assert wall.locator(".goal").inner_text() == "J = 0.8652"  # the first went back
    assert wall.locator(".hint").inner_text() == BEST
    assert ran(tab, "wall/goal").startswith("J 0.8651865")


def test_what_one_drags_to_nothing_can_be_dragged_back(tab: Any, wall: Any) -> None:
    sought = border(wall, "idea", "problem")
    box = sought.locator(".hit").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    drag(tab, middle, (-300, 0))
    assert wall.locator(".goal").inner_text() == "J = 0.8652"
    assert sought.get_attribute("aria-valuenow")
    box = sought.locator(".hit").bounding_box()
    drag(tab, (box["x"] + box["width"] / 2, middle[1]), (300, 0))
    assert wall.locator(".goal").inner_text() == "J = 0.7763"  # "idea" is certain


def test_a_cell_opens_and_its_path_leads_back(tab: Any, wall: Any) -> None:
    press(tab, wall.locator(".cell[tabindex='0']"), "ArrowDown", "ArrowRight")
    settle(tab)
    assert wall.locator(".cell:focus").get_attribute("aria-label").startswith('"No"')
    tab.keyboard.press("Enter")
    path = wall.locator(".trail > button")
    path.nth(1).wait_for()
    assert path.all_inner_texts() == ["all", "No"]
    tab.wait_for_function("location.search.includes('wall=o')")
    path.first.click()
    settle(tab)
    assert path.all_inner_texts() == ["all"]


def test_what_has_vanished_is_opened_by_its_name(tab: Any, wall: Any) -> None:
    assert wall.locator(".never").count() == 0
    press(tab, border(wall, "Yes", "No"), "End")
    gone = wall.locator(".never button")
    assert gone.all_inner_texts() == ["No", "Let"]
    assert not border(wall, "idea", "problem").is_visible()
    gone.first.click()
    border(wall, "idea", "problem").locator(".grip").wait_for()
    assert "probability 0.0000" in wall.locator(".says").inner_text()
    assert wall.locator(".goal").inner_text() == "J = 0.8506"


def test_the_language_switch_keeps_what_was_moved(tab: Any, wall: Any) -> None:
    press(tab, border(wall, "Yes", "No"), "End")
    tab.wait_for_function("location.search !== ''")
    query = tab.evaluate("location.search")
    tab.click("a.language")
    tab.wait_for_url(f"**/course/goal/{query}")
    assert "/en/" not in tab.url
    assert in_sight(tab, NAME, ".goal").locator(".goal").inner_text() == "J = 0.8506"


def test_balls_fall_at_once_for_who_wants_no_motion(open_tab: Any) -> None:
    tab = open_tab(reduced_motion="reduce")
    tab.goto(GOAL)
    wall = in_sight(tab, NAME, ".border")
    wall.get_by_role("button", name="Drop a ball").click()
    settle(tab)
    assert float(wall.locator(".ball").get_attribute("cy")) > 290
    assert "1 drawn, mean 1.000" in wall.inner_text()
    wall.get_by_role("button", name="Drop 100").click()
    settle(tab)
    assert "101 drawn" in wall.inner_text()
    press(tab, border(wall, "Yes", "No"), "ArrowLeft")
    assert "drawn" not in wall.inner_text()  # they were of another actor
