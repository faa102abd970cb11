"""The wall while it is trained, by keyboard, mouse and finger, and from an address."""

import re
from typing import Any

import pytest

from tests.browser.watching import SIDEWAYS
from tests.browser.widgets import centre, in_sight, press, ran, settle

PAGES = {"ratio": "ratio", "clip": "clip", "leash": "reference"}
WIDTHS = re.compile(r"Width of the cell ([\d.]+) → ([\d.]+)\.")
DOWN = re.compile(r'Batches so far: (\d+); "Yes" pushed down by (\d+), .*by (\d+)\.')


@pytest.fixture
def tab(open_tab: Any) -> Any:
    return open_tab(permissions=["clipboard-read", "clipboard-write"])


def opened(tab: Any, scene: str, state: str = "") -> Any:
    """The widget of a scene, in English, drawn."""
    tab.goto(f"en/course/{PAGES[scene]}/?train={state}")
    return in_sight(tab, f'"train/{scene}"', "svg.wall .boxes[d]")


def goal(widget: Any) -> str:
    return str(widget.locator(".goal").inner_text())


def updates(widget: Any) -> Any:
    return widget.locator(".updates input")


def test_a_batch_that_is_used_too_long_does_harm(tab: Any) -> None:
    widget = opened(tab, "clip")
    assert goal(widget) == "J = 0.8210"
    press(tab, updates(widget), "ArrowRight", "ArrowRight", "ArrowRight")
    assert goal(widget) == "J = 0.8350"
    press(tab, updates(widget), "End")
    assert goal(widget) == "J = 0.6072"
    assert 'ratio: "Yes" 0.03' in widget.locator(".says").inner_text()
    widget.get_by_role("checkbox").check()
    settle(tab)
    assert goal(widget) == "J = 0.7852"
    assert '"!" 0.61 out, "end" 0.76 out' in widget.locator(".says").inner_text()
    assert ran(tab, "train/clip").startswith("J 0.785")
    tab.wait_for_function("location.search.includes('train=n100_c1')")
    heard = widget.locator("[role=status]")
    heard.filter(has_text="J = 0.7852").wait_for(state="attached")
    widget.get_by_role("button", name="Begin again").click()
    settle(tab)
    assert goal(widget) == "J = 0.8210"
    tab.wait_for_function("location.search === ''")


def test_a_ratio_is_the_new_width_over_the_old(tab: Any) -> None:
    widget = opened(tab, "ratio")
    for ratio in (0.875, 0.775, 0.695, 0.629, 0.574):
        assert f"ratio {ratio:.3f}." in widget.locator(".says").inner_text()
        press(tab, updates(widget), "ArrowRight")
    widths = WIDTHS.search(widget.inner_text())
    assert widths and float(widths[2]) / float(widths[1]) == pytest.approx(
        0.574, abs=1e-3
    )
    yes = widget.locator(".cell[aria-label^='\"Yes\":']")
    yes.focus()
    settle(tab)
    assert (
        widget.locator(".says")
        .inner_text()
        .startswith('"Yes": probability 0.8869 → 0.9347')
    )
    assert ran(tab, "train/ratio").startswith("J 0.8367")


def test_the_true_score_is_seen_by_who_has_stopped(tab: Any) -> None:
    widget = opened(tab, "leash")
    key = widget.locator(".key")
    press(tab, updates(widget), "End")
    assert goal(widget) == "proxy score 1.999"
    assert "true score ?" in key.inner_text()
    assert widget.locator("path.curve.score").get_attribute("d") in ("", None)
    floor = widget.locator(".floor.right").first.get_attribute("d")
    press(tab, updates(widget), "Home")
    assert widget.locator(".floor.right").first.get_attribute("d") == floor
    press(tab, updates(widget), "End")
    widget.get_by_role("button", name="Stop here").click()
    settle(tab)
    assert goal(widget) == "J = 0.0005"
    assert widget.locator(".floor.right").first.get_attribute("d") != floor
    says = widget.locator(".says").inner_text()
    assert "You stopped after 1500: proxy score 1.999, true score 0.001." in says
    assert "gets to 0.979 at most, after 181." in says
    widget.get_by_role("button", name="0.5", exact=True).click()
    settle(tab)
    assert goal(widget) == "J = 0.9233"
    assert '"Let us think step by step" is written with probability 0.0359' in (
        widget.locator(".says").inner_text()
    )
    assert ran(tab, "train/leash").startswith("proxy 0.9951")
    tab.wait_for_function("location.search.includes('n1500_b0.5_s1500')")


def test_it_plays_and_stands_still_where_it_is_told_to(tab: Any) -> None:
    widget = opened(tab, "clip")
    button = widget.locator(".run button").first
    button.click()
    tab.wait_for_function(
        "document.querySelector('.train .updates output').textContent > 3"
    )
    assert button.inner_text() == "Pause"
    button.click()
    assert button.inner_text() == "Play"
    settle(tab)
    stands = updates(widget).input_value()
    tab.wait_for_timeout(200)
    assert updates(widget).input_value() == stands


def test_one_goes_to_a_place_of_the_curves(tab: Any) -> None:
    widget = opened(tab, "clip")
    x, y = centre(widget.locator("svg.curves"))
    tab.mouse.click(x, y)
    settle(tab)
    assert updates(widget).input_value() == "50"


def test_an_address_shows_what_was_sent(tab: Any) -> None:
    widget = opened(tab, "clip", "n20_c1_o24")
    assert goal(widget) == "J = 0.7852"
    path = widget.locator(".trail button")
    assert path.all_inner_texts() == ["all", "No"]
    path.first.click()
    settle(tab)
    assert path.all_inner_texts() == ["all"]


def test_batches_of_eight_go_the_wrong_way(tab: Any) -> None:
    tab.goto("en/course/policy_gradient/")
    tab.locator("[data-lab='train/push']").scroll_into_view_if_needed()
    widget = tab.locator(".lab.train")
    widget.locator(".arrows.batch[d]").wait_for(state="attached")
    settle(tab)
    assert goal(widget) == '"Yes" −0.0402'
    assert "truth +0.0262" in widget.inner_text()
    for _ in range(9):
        widget.get_by_role("button", name="Draw 100 batches").click()
    settle(tab)
    found = DOWN.search(widget.inner_text())
    assert found and found[1] == "901"
    assert 0.40 < int(found[2]) / 901 < 0.46  # 43 % of 20,000, by the page
    widget.get_by_role("button", name="mean of the batch").click()
    settle(tab)
    better = DOWN.search(widget.inner_text())
    assert better and int(better[2]) < int(found[2]) * 0.6
    assert ran(tab, "train/push").startswith("push [")


@pytest.mark.parametrize("scene", PAGES)
def test_a_finger_drags_the_slider(open_tab: Any, scene: str) -> None:
    tab = open_tab(viewport={"width": 390, "height": 844}, has_touch=True)
    widget = opened(tab, scene)
    slider = updates(widget)
    box = slider.bounding_box()
    tab.touchscreen.tap(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    settle(tab)
    share = float(slider.input_value()) / float(slider.get_attribute("max"))
    assert share == pytest.approx(0.8, abs=0.11)
    assert tab.evaluate(SIDEWAYS) == []


def test_within_another_page_it_is_alone(tab: Any) -> None:
    tab.goto("en/course/clip/?embed=1")
    widget = in_sight(tab, '"train/clip"', "svg.wall .boxes[d]")
    tab.wait_for_function("!document.querySelector('h1')?.checkVisibility()")
    assert widget.bounding_box()["y"] < 40
