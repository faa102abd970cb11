"""The frameworks side by side: filtered, two at a time, opened; and without scripts."""

from typing import Any

import pytest

from tests.browser.watching import PHONE

PAGE = "en/debug/frameworks/"
SHOWN = "table.releases tbody tr[id]:not([hidden])"


def columns(tab: Any) -> list[str]:
    heads = tab.locator("table.releases thead th:visible").all_inner_texts()
    return [" ".join(head.split()) for head in heads]


def rows(tab: Any) -> list[str]:
    visible = tab.locator("table.releases tbody tr[id]:visible")
    return [row.get_attribute("id")[9:] for row in visible.all()]


@pytest.fixture
def matrix(tab: Any) -> Any:
    tab.goto(PAGE)
    tab.wait_for_selector(".tools output")
    return tab


def test_a_text_and_a_topic_leave_their_rows_and_the_address_keeps_both(matrix):
    every = rows(matrix)
    matrix.fill("[name=q]", "missing_eos")
    assert rows(matrix) == ["truncation_penalty"]
    matrix.fill("[name=q]", "")
    matrix.select_option("[name=topic]", "critic")
    critic = rows(matrix)
    assert "value_loss" in critic and "gae_mask" not in critic
    matrix.reload()
    matrix.wait_for_selector(".tools output")
    assert rows(matrix) == critic and "topic=critic" in matrix.url
    # What is hidden is shown to whoever a link sends there.
    matrix.evaluate("location.hash = 'compared-gae_mask'")
    matrix.wait_for_function(
        "!document.querySelector('#compared-gae_mask').closest('[hidden]')"
    )
    assert rows(matrix) == every


def test_two_releases_of_verl_stand_side_by_side_and_their_changes_are_told(matrix):
    assert len(columns(matrix)) == 6
    matrix.select_option("[name=with]", "verl-0-3-0-post1")
    assert columns(matrix) == ["What", "verl 0.9.1", "verl 0.3.0.post1"]
    since = matrix.locator("ol.timeline > li:visible h3").all_inner_texts()
    # The release after 0.3.0.post1 is the first that has changes to tell.
    assert since[0] == "verl 0.4.0" and since[-1] == "verl 0.9.1"
    matrix.check("[name=differ]")
    left = rows(matrix)
    assert "kl_in_reward" in left and "old_recomputed" not in left
    assert matrix.locator("td.same:visible").count() == 0
    matrix.select_option("[name=from]", "verl-0-4-0")
    matrix.select_option("[name=to]", "verl-0-5-0")
    since = matrix.locator("ol.timeline > li:visible h3").all_inner_texts()
    assert since == ["verl 0.4.1", "verl 0.5.0"]
    matrix.select_option("[name=from]", "verl-0-3-0-post1")
    matrix.select_option("[name=to]", "verl-0-9-1")
    assert (
        matrix.locator("output a")
        .inner_text()
        .endswith(matrix.locator("output").last.inner_text().split()[0])
    )


def test_a_cell_opens_and_closes_by_keyboard_and_shows_its_lines(matrix):
    cell = matrix.locator("#compared-gae_mask td").nth(2)
    cell.locator("summary").focus()
    matrix.keyboard.press("Enter")
    link = cell.locator(".panel a").first
    assert link.is_visible()
    assert "/OpenRLHF/blob/v0.11.2/openrlhf/" in link.get_attribute("href")
    matrix.keyboard.press("Tab")
    matrix.keyboard.press("Escape")
    assert not link.is_visible()
    focused = "document.activeElement.closest('td')?.cellIndex"
    assert matrix.evaluate(focused) == 3


def test_the_head_stays_while_the_rows_pass(matrix):
    matrix.locator("#compared-log_entropy").scroll_into_view_if_needed()
    head = matrix.locator("table.releases thead th").nth(1)
    assert 0 <= head.bounding_box()["y"] < 120
    assert matrix.evaluate("document.documentElement.scrollHeight") < 7500


def test_a_phone_has_one_release_beside_the_first(open_tab):
    tab = open_tab(viewport={"width": PHONE, "height": 844}, has_touch=True)
    tab.goto(PAGE)
    tab.wait_for_selector(".tools output")
    assert columns(tab) == ["verl 0.9.1", "verl 0.3.0.post1"]
    tab.select_option("[name=with]", "trl-1-16-0")
    assert columns(tab) == ["verl 0.9.1", "TRL 1.16.0 GRPO"]
    wide = "document.documentElement.scrollWidth - innerWidth"
    assert tab.evaluate(wide) <= 0
    cell = tab.locator("#compared-loss_agg_mode td:visible").nth(1)
    cell.locator("summary").tap()
    panel = cell.locator(".panel").bounding_box()
    assert panel["x"] >= 0 and panel["x"] + panel["width"] <= 390


def test_all_of_it_is_there_without_scripts(without_scripts):
    without_scripts.goto(PAGE)
    assert without_scripts.locator(SHOWN).count() > 45
    cell = without_scripts.locator("#compared-gae_mask td").nth(2)
    cell.locator("summary").click()
    assert cell.locator(".panel a").first.is_visible()
    assert without_scripts.locator("ol.timeline > li:visible").count() > 6
